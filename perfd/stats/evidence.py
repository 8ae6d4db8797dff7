"""Evidence for a change in the last nights of many Series at once: log-likelihood ratios against the Series' own noise.

For a step of size d that began m nights ago, S = sum over the last m nights of log f(u - d) / f(u), where u are the whitened
residuals and f their density (density.py). Under f, exp(S) has mean 1 whatever was seen before, so the chance that the largest
exp(S) over all sizes and beginnings passes a bar on a night is at most (sizes) * exp(-bar) for each beginning, and the mean
number of nights to a false alarm is at least exp(bar) / (sizes): re-testing every night and searching for the best split are
paid for (Shiryaev-Roberts; Shin, Ramdas and Rinaldo 2022, "E-detectors"). The level was estimated from n nights itself, so S
is tempered by n / (n + m), which is exact for Gaussian noise; its scale was too, so what is left is worth less the
fewer nights there are (residuals.py). AR(1) noise is whitened, and the step shows fully on its first night and by
(1 - phi) later. A step must also be likelier than a spike of three nights, each of any size, anywhere among these nights
(best_step.py).
Cost: O(window + nights * sizes) a row; see docs/detection.md for microseconds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfd.stats.best_step import Ruler, best_step
from perfd.stats.density import histogram, log_density, to_bins
from perfd.stats.humps import humps_of
from perfd.stats.nights import LASTING, NIGHTS, REFERENCE
from perfd.stats.residuals import autocorrelation, marginal, residuals_of
from perfd.stats.spread import best_spread, first_of_step, spread_in_question, tails_are_light, unrest_of
from perfd.stats.suspect import BEYOND, SUMS, suspects

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

_FAR = 4.0


@dataclass(frozen=True)
class Evidence:
    """What the last night of each row says; every field is (rows,)."""

    level: Floats
    """Robust location of the current segment's reference nights."""
    scale: Floats
    """Robust standard deviation of the noise, in the Series' unit."""
    phi: Floats
    """Lag-1 autocorrelation that was whitened away."""
    level_n: Ints
    noise_n: Ints
    step: Floats
    """Best tempered log-likelihood ratio of a step; -inf when none can be tried."""
    step_nights: Ints
    """Nights since the best step began."""
    spread: Floats
    """Log-likelihood ratio of a change of spread; negative where it fell, 0 where none is in question."""
    spread_nights: Ints
    unrest: Floats
    """How much the newest nights look like more noise, from five nights on; a step must be shown beyond it."""
    tail: Floats
    """Share of the reference nights that lie beyond four standard deviations."""
    heavy: Floats
    """Share beyond three."""
    two_states: Bools
    """Whether the reference nights have two clear humps."""
    suspect: Bools
    """Whether the last one, two or three nights are outside what the reference has ever shown."""


def held_out(segment: Ints) -> Ints:
    """How many of a segment's newest nights may be new and are kept out of its reference."""
    widest = np.maximum(np.minimum(segment // 2, 2 * LASTING), np.minimum(segment // 3, NIGHTS))
    return np.clip(segment - REFERENCE, 0, np.maximum(widest, LASTING))


def examine(window: Floats, count: Ints, segment: Ints, memory: Floats | None = None) -> Evidence:
    """Evidence for each row of `window` (rows, nights), newest last.

    Columns of the current segment (the newest `segment` ones) hold values, the older ones residuals of closed segments; only
    the newest `count` columns are filled. `memory` is the autocorrelation that earlier segments showed, NaN where there were
    none: short closed segments, each less its own level, no longer show it.
    """
    width = window.shape[1]
    age = np.arange(width)[::-1]
    held = held_out(segment)
    known = age[None, :] < count[:, None]
    current = age[None, :] < segment[:, None]
    reference = known & (age[None, :] >= held[:, None])
    residual, level, scale = residuals_of(window, current, reference)
    residual = np.where(known, residual / scale[:, None], 0).astype(np.float32)
    phi = autocorrelation(residual, reference, memory)
    white = residual.copy()
    white[:, 1:] -= phi[:, None] * residual[:, :-1]
    white /= np.sqrt(1 - phi**2)[:, None]
    bins = to_bins(white)
    table, humps = log_density(bins, reference), humps_of(histogram(bins, reference))
    level_n, noise_n = segment - held, count - held
    ruler = Ruler.of(white, reference, humps, (bins, table))
    step, step_nights = best_step(ruler, residual, reference, phi, (level_n, held))
    step = marginal(step, noise_n)
    unrest = unrest_of(white, reference, held)
    spread, spread_nights = np.zeros(len(window)), np.ones(len(window), dtype=np.intp)
    heavy = (reference & (np.abs(white) > BEYOND)).sum(axis=1) / np.maximum(noise_n, 1)
    light = tails_are_light(heavy, noise_n)
    tail = (reference & (np.abs(white) > _FAR)).sum(axis=1) / np.maximum(noise_n, 1)
    suspect = suspects(white, known & (age[None, :] >= len(SUMS)), phi) & (held > 0) & (level_n >= REFERENCE)
    asked = spread_in_question(white, unrest)
    stepping = first_of_step(white, suspect, unrest, light)
    for newest in range(LASTING):  # the first nights of a step are no wider spread
        rows = asked & (stepping == newest)
        older = white[rows, : white.shape[1] - newest]
        told = best_spread(older, table[rows], held[rows] - newest, noise_n[rows])
        spread[rows], spread_nights[rows] = told[0], told[1] + newest
    return Evidence(
        level, scale, phi.astype(np.float64), level_n, noise_n, step, step_nights, spread, spread_nights, unrest, tail, heavy,
        humps.clear, suspect,
    )  # fmt: skip
