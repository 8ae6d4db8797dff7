"""Evidence for a change in the last nights of many Series at once: log-likelihood ratios against the Series' own noise.

For a step of size d that began m nights ago, S = sum over the last m nights of log f(u - d) / f(u), where u are the whitened
residuals and f their density (density.py). Under f, exp(S) has mean 1 whatever was seen before, so the chance that the largest
exp(S) over all sizes and beginnings passes a bar on a night is at most (sizes) * exp(-bar) for each beginning, and the mean
number of nights to a false alarm is at least exp(bar) / (sizes): re-testing every night and searching for the best split are
paid for (Shiryaev-Roberts; Shin, Ramdas and Rinaldo 2022, "E-detectors"). The level was estimated from n nights itself, so S
is tempered by n / (n + m), which is exact for Gaussian noise; its scale was too, so what is left is worth less the
fewer nights there are (residuals.py). AR(1) noise is whitened, and the step shows fully on its first night and by
(1 - phi) later. A step must also be likelier than a spike of three nights, each of any size, anywhere among these nights.
Cost: O(window + nights * sizes) a row; see docs/detection.md for microseconds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfd.stats.density import histogram, log_density, look_up, to_bins
from perfd.stats.humps import humps_of
from perfd.stats.nights import LASTING, NIGHTS, REFERENCE
from perfd.stats.residuals import autocorrelation, marginal, residuals_of
from perfd.stats.spread import best_spread, restlessness, spread_in_question, unrest_of
from perfd.stats.suspect import BEYOND, SUMS, suspects

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

_SIZES = (5, 7, 9, 11, 14, 18, 23, 30, 38, 48)
"""Step sizes that are tried, in bins of a quarter of a standard deviation, up and down."""
_BEYOND_PULSE = 1.0
"""How much likelier a step must be than a spike of three nights."""
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
    surprise: Floats
    """The last night's whitened residual, in standard deviations."""


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
    table = log_density(bins, reference)
    recent = np.ascontiguousarray(bins[:, : -min(NIGHTS, width) - 1 : -1])
    level_n, noise_n = segment - held, count - held
    temper = _temper(level_n, recent.shape[1])
    plain = np.ascontiguousarray(to_bins(residual[:, -recent.shape[1] :])[:, ::-1])
    step, step_nights = _best_step(table, (recent, plain), _usual(table, bins, reference), phi, (temper, held))
    step = marginal(step, noise_n)
    unrest = unrest_of(white, reference, held)
    spread, spread_nights = np.zeros(len(window)), np.ones(len(window), dtype=np.intp)
    heavy = (reference & (np.abs(white) > BEYOND)).sum(axis=1) / np.maximum(noise_n, 1)
    asked, restless = spread_in_question(white, unrest), restlessness(unrest, heavy, noise_n)
    spread[asked], spread_nights[asked] = best_spread(white[asked], table[asked], held[asked], noise_n[asked], restless[asked])
    tail = (reference & (np.abs(white) > _FAR)).sum(axis=1) / np.maximum(noise_n, 1)
    suspect = suspects(white, known & (age[None, :] >= len(SUMS)), phi) & (held > 0) & (level_n >= REFERENCE)
    return Evidence(
        level, scale, phi.astype(np.float64), level_n, noise_n, step, step_nights, spread, spread_nights, unrest, tail, heavy,
        humps_of(histogram(bins, reference)).clear, suspect, white[:, -1].astype(np.float64),
    )  # fmt: skip


def _temper(level_n: Ints, nights: int) -> Singles:
    """What the uncertainty of the level leaves of a log-likelihood ratio, (rows, nights)."""
    m = np.arange(1, nights + 1)
    level = np.maximum(level_n, 1)[:, None]
    temper: Singles = (level / (level + m)).astype(np.float32)
    return temper


def _usual(table: Singles, bins: Ints, reference: Bools) -> Singles:
    """How far below its densest place a reference night's log-density is, on average."""
    gain = np.where(reference, table.max(axis=1, keepdims=True) - look_up(table, bins), 0)
    mean: Singles = gain.sum(axis=1) / np.maximum(reference.sum(axis=1), 1)
    return mean


def _best_pulse(table: Singles, recent: Ints, plain: Ints, usual: Singles) -> Singles:
    """How much likelier a spike of three nights, each of any size, makes the last m nights than noise, (rows, nights).

    `usual` is what three nights of noise gain by being free. Where noise remembers, the night after a spike is likely again as
    itself and not as the spike's echo: `plain` are the bins of the residuals that are not whitened.
    """
    here = look_up(table, recent)
    free = table.max(axis=1, keepdims=True) - here
    back = look_up(table, plain) - here
    pulse = free.copy()
    pulse[:, 1:] += free[:, :-1]
    pulse[:, 2:] += free[:, :-2]
    pulse[:, 3:] += back[:, :-3]
    best: Singles = np.maximum.accumulate(pulse, axis=1) - 3 * usual[:, None]
    return best


def _best_step(
    table: Singles, places: tuple[Ints, Ints], usual: Singles, phi: Singles, limits: tuple[Singles, Ints]
) -> tuple[Floats, Ints]:
    """The best tempered log-likelihood ratio of a step and its nights; `places` are the newest bins, whitened and plain."""
    (recent, plain), (temper, held) = places, limits
    pulse = _best_pulse(table, recent, plain, usual)
    rows, nights = recent.shape
    here = look_up(table, recent)
    m = np.arange(1, nights + 1)
    allowed = (m >= LASTING)[None, :] & (m[None, :] <= held[:, None])
    whitened = bool(np.any(phi > 0))
    best = np.full(rows, -np.inf, dtype=np.float32)
    best_nights = np.zeros(rows, dtype=np.intp)
    unit = 1 / np.sqrt(1 - phi**2)
    for size in (*_SIZES, *(-size for size in _SIZES)):
        first = np.rint(size * unit).astype(np.intp)[:, None]
        later = np.rint(size * unit * (1 - phi)).astype(np.intp)[:, None]
        gain = look_up(table, recent - later) - here
        total = np.cumsum(gain, axis=1)
        if whitened:
            total += look_up(table, recent - first) - here - gain
        fine = allowed & (total - pulse >= _BEYOND_PULSE)
        score = np.where(fine, total * temper, -np.inf)
        nights_now = np.argmax(score, axis=1)
        now = score[np.arange(rows), nights_now]
        better = now > best
        best = np.where(better, now, best)
        best_nights = np.where(better, nights_now + 1, best_nights)
    return best.astype(np.float64), best_nights
