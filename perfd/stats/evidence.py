"""Evidence for a change in the last nights of many Series at once: log-likelihood ratios against the Series' own noise.

For a step of size d that began m nights ago, S = sum over the last m nights of log f(u - d) / f(u), where u are the whitened
residuals and f their density (density.py). Under f, exp(S) has mean 1 whatever was seen before, so the chance that the largest
exp(S) over all sizes and beginnings passes a bar on a night is at most (sizes) * exp(-bar) for each beginning, and the mean
number of nights to a false alarm is at least exp(bar) / (sizes): re-testing every night and searching for the best split are
paid for (Shiryaev-Roberts; Shin, Ramdas and Rinaldo 2022, "E-detectors"). The level was estimated from n nights itself, so S
is tempered by n / (n + m), which is exact for Gaussian noise. AR(1) noise is whitened, and the step shows fully on its first
night and by (1 - phi) later. A step must also be likelier than a spike
of three nights, each of any size, that ends anywhere among these nights.
Cost: O(window + nights * sizes) a row; see docs/detection.md for microseconds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfd.stats.density import log_density, look_up, to_bins
from perfd.stats.nights import LASTING, NIGHTS, NOISE_UNKNOWN, REFERENCE
from perfd.stats.spread import best_spread, unrest_of
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
_PHI_PRIOR, _PHI_WEIGHT, _PHI_REMEMBERED, _PHI_BACK, _PHI_ERRORS = 0.25, 25.0, 60.0, 0.5, 1.2


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
    """Half the square of the z of a change of spread; negative where it fell."""
    spread_nights: Ints
    unrest: Floats
    """How much the newest nights look like more noise, from five nights on; a step must be shown beyond it."""
    tail: Floats
    """Share of the reference nights that lie beyond four standard deviations."""
    heavy: Floats
    """Share beyond three."""
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
    residual, level, scale = _residuals(window, current, reference)
    residual = np.where(known, residual / scale[:, None], 0).astype(np.float32)
    phi = _autocorrelation(residual, reference, memory)
    white = residual.copy()
    white[:, 1:] -= phi[:, None] * residual[:, :-1]
    white /= np.sqrt(1 - phi**2)[:, None]
    bins = to_bins(white)
    table = log_density(bins, reference)
    recent = np.ascontiguousarray(bins[:, : -min(NIGHTS, width) - 1 : -1])
    level_n, noise_n = segment - held, count - held
    temper = _temper(level_n, noise_n, recent.shape[1])
    plain = np.ascontiguousarray(to_bins(residual[:, -recent.shape[1] :])[:, ::-1])
    step, step_nights = _best_step(table, (recent, plain), _usual(table, bins, reference), phi, (temper, held))
    spread, spread_nights = best_spread(white, table, held, noise_n)
    unrest = unrest_of(white, reference, held)
    tail = (reference & (np.abs(white) > _FAR)).sum(axis=1) / np.maximum(noise_n, 1)
    heavy = (reference & (np.abs(white) > BEYOND)).sum(axis=1) / np.maximum(noise_n, 1)
    suspect = suspects(white, known & (age[None, :] >= len(SUMS)), phi) & (held > 0) & (level_n >= REFERENCE)
    return Evidence(
        level, scale, phi.astype(np.float64), level_n, noise_n, step, step_nights, spread, spread_nights, unrest, tail, heavy,
        suspect, white[:, -1].astype(np.float64),
    )  # fmt: skip


def _middle(ordered: Floats, n: Ints) -> Floats:
    """The median of the first n entries of each sorted row."""
    rows = np.arange(len(ordered))
    top = np.maximum(n, 1)
    middle: Floats = (ordered[rows, (top - 1) // 2] + ordered[rows, top // 2]) / 2
    return middle


def _residuals(window: Floats, current: Bools, reference: Bools) -> tuple[Floats, Floats, Floats]:
    """Residuals of all columns, the level of the current segment, and the scale of the noise."""
    own = current & reference
    own_n = own.sum(axis=1)
    ordered = np.sort(np.where(own, window, np.inf), axis=1)
    level = np.where(own_n > 0, _middle(ordered, own_n), 0.0)
    residual = np.where(current, window - level[:, None], window)
    n = reference.sum(axis=1)
    distance = np.where(reference, np.abs(residual), np.inf)
    spread = 1.4826 * _middle(np.sort(distance, axis=1), n)
    mean = np.where(reference, distance, 0).sum(axis=1) / np.maximum(n, 1)
    scale = np.maximum.reduce([spread, 0.6 * mean, _tick(ordered, own_n) / 2, _least(level)])
    shift = np.where(own, np.clip(residual, -1.5 * scale[:, None], 1.5 * scale[:, None]), 0).sum(axis=1) / np.maximum(own_n, 1)
    return residual - np.where(current, shift[:, None], 0), level + shift, scale


def _least(level: Floats) -> Floats:
    """A scale below which differences are the floating point's, not the Series'."""
    return np.maximum(1e-6 * np.abs(level), 1e-12)


def _tick(ordered: Floats, n: Ints) -> Floats:
    """The smallest step of a Series whose values mostly repeat; 0 where they do not, or where they never differ."""
    with np.errstate(invalid="ignore"):
        gaps = np.diff(ordered, axis=1)
    inside = np.arange(gaps.shape[1])[None, :] < (n - 1)[:, None]
    repeats = (inside & (gaps == 0)).sum(axis=1)
    smallest = np.min(np.where(inside & (gaps > 0), gaps, np.inf), axis=1)
    return np.where((2 * repeats >= n) & np.isfinite(smallest), smallest, 0.0)


def _autocorrelation(residual: Singles, reference: Bools, memory: Floats | None) -> Singles:
    """Lag-1 autocorrelation of the clipped reference residuals, on the careful side; never negative, at most 0.9.

    The estimate is corrected for its bias and drawn towards 0.25 by the weight of 25 nights (175 real benchmark Series have a
    median of 0.2), or towards what is remembered of earlier segments by that of 60. Where it is positive, 1.2 standard errors
    are added: too much whitening costs power, too little costs false alarms.
    """
    clipped = np.where(reference, np.clip(residual, -3, 3), 0)
    pairs = np.maximum((reference[:, 1:] & reference[:, :-1]).sum(axis=1), 1).astype(np.float32)
    power = (clipped**2).sum(axis=1) / np.maximum(reference.sum(axis=1), 1)
    raw = (clipped[:, 1:] * clipped[:, :-1]).sum(axis=1) / pairs / np.maximum(power, 1e-12)
    unbiased = np.clip(raw + (1 + 3 * raw) / pairs, -0.9, 0.9)
    remembered = np.full(len(raw), np.nan) if memory is None else memory
    known = np.isfinite(remembered)
    prior = np.where(power > 1e-9, np.where(known, remembered, _PHI_PRIOR), 0)
    weight = np.where(known, _PHI_REMEMBERED, _PHI_WEIGHT)
    phi = np.clip((pairs * unbiased + weight * prior) / (pairs + weight) - _PHI_BACK / np.sqrt(pairs + weight), 0, 0.9)
    error = np.sqrt((1 - phi**2) / (pairs + weight))
    upper: Singles = np.minimum(phi + _PHI_ERRORS * error * np.clip(phi / error, 0, 1), 0.9).astype(np.float32)
    return upper


def autocorrelation_of(residual: Floats, memory: float) -> float:
    """The same estimate for one row of standardised residuals."""
    row = residual[None, :].astype(np.float32)
    return float(_autocorrelation(row, np.ones_like(row, dtype=np.bool_), np.array([memory]))[0])


def _temper(level_n: Ints, noise_n: Ints, nights: int) -> Singles:
    """What the uncertainty of level and noise leaves of a log-likelihood ratio, (rows, nights)."""
    m = np.arange(1, nights + 1)
    level = np.maximum(level_n, 1)[:, None]
    noise = np.maximum(noise_n, 1)[:, None]
    temper: Singles = (level / (level + m) * noise / (noise + NOISE_UNKNOWN)).astype(np.float32)
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
