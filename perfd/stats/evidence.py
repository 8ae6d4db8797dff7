"""Evidence for a change in the last nights of many Series at once: log-likelihood ratios against the Series' own noise.

For a step of size d that began m nights ago, S = sum over the last m nights of log f(u - d) / f(u), where u are the whitened
residuals and f their density (density.py). Under f, exp(S) has mean 1 whatever was seen before, so the chance that the largest
exp(S) over all sizes and beginnings passes a bar on a night is at most (sizes) * exp(-bar) for each beginning, and the mean
number of nights to a false alarm is at least exp(bar) / (sizes): re-testing every night and searching for the best split are
paid for (Shiryaev-Roberts; Shin, Ramdas and Rinaldo 2022, "E-detectors"). The level was estimated from n nights itself, so S
is tempered by n / (n + m), which is exact for Gaussian noise. AR(1) noise is whitened, and the step shows fully on its first
night and by (1 - phi) later. What is left of S without its three best nights in a row must still speak for the step: a spike
of three nights never does.
Cost: O(window + nights * sizes) a row; see docs/detection.md for microseconds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfd.stats.density import BINS, log_density, to_bins

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

NIGHTS = 30
"""The longest post-change stretch that is tried."""
REFERENCE = 5
"""Points that a level needs before anything is judged against it."""
LASTING = 4
"""Nights before a step may be told from a spike."""
_SIZES = (5, 7, 9, 11, 14, 18, 23, 30, 38, 48)
"""Step sizes that are tried, in bins of a quarter of a standard deviation, up and down."""
_SPREAD_NIGHTS = (8, 10, 12, 14, 17, 20, 25, 30)
_NOISE_UNKNOWN = 2
_SPREAD_CLIP, _BEYOND_SPIKES = 3.2, 1.5
_NEIGHBOURS = 1.45
"""Variance of a sum of distances between neighbours, over that of independent ones."""
_WITHOUT_SPIKE = 2.5
_SUSPECT_SUMS = (2.6, 2.95, 2.95)
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
    """Share of the reference nights that lie beyond three standard deviations."""
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
    step, step_nights = _best_step(table, recent, phi, temper, held)
    spread, spread_nights = _best_spread(white, reference, held)
    unrest = _unrest(white, reference, held)
    tail = (reference & (np.abs(white) > 3)).sum(axis=1) / np.maximum(noise_n, 1)
    suspect = _suspect(white, known & (age[None, :] >= len(_SUSPECT_SUMS))) & (held > 0) & (level_n >= REFERENCE)
    return Evidence(
        level, scale, phi.astype(np.float64), level_n, noise_n, step, step_nights, spread, spread_nights, unrest, tail, suspect,
        white[:, -1].astype(np.float64),
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


def _temper(level_n: Ints, noise_n: Ints, nights: int) -> Singles:
    """What the uncertainty of level and noise leaves of a log-likelihood ratio, (rows, nights)."""
    m = np.arange(1, nights + 1)
    level = np.maximum(level_n, 1)[:, None]
    noise = np.maximum(noise_n, 1)[:, None]
    temper: Singles = (level / (level + m) * noise / (noise + _NOISE_UNKNOWN)).astype(np.float32)
    return temper


def _look_up(table: Singles, bins: Ints) -> Singles:
    offsets = (BINS * np.arange(len(table), dtype=np.intp))[:, None]
    found: Singles = table.ravel()[np.clip(bins, 0, BINS - 1) + offsets]
    return found


def _without_best_three(gain: Singles, total: Singles) -> Singles:
    """`total` less the best three nights in a row among the nights that it sums."""
    three = gain.copy()
    three[:, 1:] += gain[:, :-1]
    three[:, 2:] += gain[:, :-2]
    rest: Singles = total - np.maximum.accumulate(three, axis=1)
    return rest


def _best_step(table: Singles, recent: Ints, phi: Singles, temper: Singles, held: Ints) -> tuple[Floats, Ints]:
    rows, nights = recent.shape
    here = _look_up(table, recent)
    m = np.arange(1, nights + 1)
    allowed = (m >= LASTING)[None, :] & (m[None, :] <= held[:, None])
    whitened = bool(np.any(phi > 0))
    best = np.full(rows, -np.inf, dtype=np.float32)
    best_nights = np.zeros(rows, dtype=np.intp)
    unit = 1 / np.sqrt(1 - phi**2)
    for size in (*_SIZES, *(-size for size in _SIZES)):
        first = np.rint(size * unit).astype(np.intp)[:, None]
        later = np.rint(size * unit * (1 - phi)).astype(np.intp)[:, None]
        gain = _look_up(table, recent - later) - here
        total = np.cumsum(gain, axis=1)
        fine = allowed & (_without_best_three(gain, total) >= _WITHOUT_SPIKE)
        if whitened:
            total += _look_up(table, recent - first) - here - gain
        score = np.where(fine, total * temper, -np.inf)
        nights_now = np.argmax(score, axis=1)
        now = score[np.arange(rows), nights_now]
        better = now > best
        best = np.where(better, now, best)
        best_nights = np.where(better, nights_now + 1, best_nights)
    return best.astype(np.float64), best_nights


def _unrest(white: Singles, reference: Bools, held: Ints) -> Floats:
    """Half the square of the best z of the mean distance between neighbouring nights; a step moves only one of them."""
    apart = np.zeros_like(white)
    apart[:, 1:] = np.minimum(np.abs(white[:, 1:] - white[:, :-1]), 5)
    inside = reference.copy()
    inside[:, 0] = False
    mean, deviation, n = _moments(apart, inside)
    gain = (apart - mean)[:, : -min(NIGHTS, white.shape[1]) - 1 : -1] / deviation
    m = np.arange(1, gain.shape[1] + 1)
    allowed = (m > LASTING)[None, :] & (m[None, :] <= held[:, None])
    total = np.cumsum(gain, axis=1)
    z = np.where(allowed, total / np.sqrt(_NEIGHBOURS * m * (1 + m / n)), 0)
    best: Floats = np.max(z, axis=1, initial=0).astype(np.float64) ** 2 / 2
    return best


def _best_spread(white: Singles, reference: Bools, held: Ints) -> tuple[Floats, Ints]:
    """Half the square of the best z of the mean distance from the newest nights' own median, signed, and its nights."""
    mean, deviation, n = _moments(np.minimum(np.abs(white), _SPREAD_CLIP), reference)
    best = np.zeros(len(white))
    best_nights = np.full(len(white), _SPREAD_NIGHTS[0], dtype=np.intp)
    for m in _SPREAD_NIGHTS:
        if m > white.shape[1]:
            break
        newest = white[:, -m:]
        from_own = np.minimum(np.abs(newest - np.median(newest, axis=1, keepdims=True)), _SPREAD_CLIP)
        from_old = np.minimum(np.abs(newest), _SPREAD_CLIP)
        nearer = from_own.sum(axis=1, keepdims=True) < from_old.sum(axis=1, keepdims=True)
        gain = (np.where(nearer, from_own, from_old) - mean) / deviation
        total = gain.sum(axis=1)
        most = np.partition(gain, m - 3, axis=1)[:, m - 3 :].sum(axis=1)
        lasting = (total < 0) | (total - most > _BEYOND_SPIKES * np.sqrt(m))
        z = np.where(lasting & (m <= held), total / np.sqrt(m * (1 + m / n[:, 0])), 0)
        better = np.abs(z) > np.abs(best)
        best = np.where(better, z, best)
        best_nights = np.where(better, m, best_nights)
    return np.sign(best) * best**2 / 2, best_nights


def _moments(values: Singles, inside: Bools) -> tuple[Singles, Singles, Ints]:
    """Mean, standard deviation (at least 0.5) and count of each row's values that are `inside`, each (rows, 1)."""
    n = np.maximum(inside.sum(axis=1, keepdims=True), 2)
    mean = np.where(inside, values, 0).sum(axis=1, keepdims=True) / n
    deviation = np.sqrt(np.where(inside, (values - mean) ** 2, 0).sum(axis=1, keepdims=True) / (n - 1))
    return mean, np.maximum(deviation, 0.5), n


def _suspect(white: Singles, reference: Bools) -> Bools:
    """Whether a sum of the last one, two or three nights is larger than noise allows and than the reference ever was."""
    found = np.zeros(len(white), dtype=np.bool_)
    n = np.maximum(reference.sum(axis=1), 1)
    heavy = (reference & (np.abs(white) > 3)).sum(axis=1) >= 0.02 * n
    for nights, bar in enumerate(_SUSPECT_SUMS, start=1):
        if nights > white.shape[1]:
            break
        cut = white if nights == 1 else np.clip(white, -3, 3)
        sums = cut.copy()
        inside = reference.copy()
        for back in range(1, nights):
            sums[:, back:] += cut[:, :-back]
            inside[:, back:] &= reference[:, :-back]
        sums = np.abs(sums) / np.float32(np.sqrt(nights))
        ever = np.max(np.where(inside, sums, 0), axis=1)
        few = 10 / n * np.minimum(1, 40 / n) if nights == 1 else 8 / n
        limit = np.maximum(bar * (1 + few), np.where(heavy, 2.4 * ever - 3, 1.05 * ever))
        found |= sums[:, -1] > limit
    return found
