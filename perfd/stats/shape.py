"""What a change looks like: where it begins, how large it is, and whether a slow drift explains it better than a step.

All of it is least squares on residuals that are clipped at three standard deviations of their own model, so that single nights
decide nothing. Cost: O(segment) for a place, O(segment * breaks) for a drift. Sources: Huber 1964; Bai 1997 for the place.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfd.stats.density import histogram, log_density, to_bins, widened
from perfd.stats.humps import humps_of

Floats = NDArray[np.float64]

_CLIP = 3.0
NEAR = 6
"""How far a place may move from where the evidence of few nights put it."""
_ROUNDS = 3
_RAMP = 32
"""Shorter than this, a rise is a step that took its time, not a drift."""
_WIDER = (1.75, 2.5, 3.5)
"""How many times as wide a spread is tried."""
_LEAST_GAIN, _MOST_GAIN = -2.5, 3.5
"""What a single night may say of a wider spread."""


def robust_level(values: Floats, scale: float) -> float:
    """The median, and one Huber step from it: nearly as efficient as the mean on Gaussian noise, and deaf to outliers."""
    middle = float(np.median(values))
    return middle + float(np.mean(np.clip(values - middle, -1.5 * scale, 1.5 * scale)))


@dataclass(frozen=True)
class Noise:
    """The noise of one Series: robust standard deviation, lag-1 autocorrelation, and the log-density of what is left."""

    scale: float
    phi: float
    table: NDArray[np.float32]
    """(BINS,), see density.py."""

    @classmethod
    def of(cls, residual: Floats, scale: float, phi: float) -> "Noise":
        """The noise that these residuals, oldest first, show."""
        bins = to_bins(_whitened(residual[None, :] / scale, phi).astype(np.float32))
        return cls(scale, phi, log_density(bins, np.ones_like(bins, dtype=np.bool_))[0])

    def log_likelihood(self, residual: Floats) -> Floats:
        """The log-density of each row of residuals, (rows, nights) to (rows,)."""
        bins = to_bins(_whitened(residual / self.scale, self.phi).astype(np.float32))
        likelihood: Floats = self.table[bins].sum(axis=1, dtype=np.float64)
        return likelihood

    def gaussian(self, residual: Floats) -> Floats:
        """The same for a Gaussian that is cut at three standard deviations, less its constant.

        What lies beyond says little more, but more: a night that is far from two levels still belongs to the nearer one.
        """
        off = np.abs(_whitened(residual / self.scale, self.phi))
        likelihood: Floats = -(0.5 * np.minimum(off, _CLIP) ** 2 + np.log(np.maximum(off / _CLIP, 1))).sum(axis=1)
        return likelihood

    def evidence(self, values: Floats, guess: int, before: float, after: float) -> float:
        """The log-likelihood ratio of a step at `guess` against none."""
        levels = np.where(np.arange(len(values)) >= guess, after, before)
        likelihoods = self.log_likelihood(np.stack([values - levels, values - before]))
        return float(likelihoods[0] - likelihoods[1])

    def over_wider(self, values: Floats, guess: int, before: float, after: float) -> float:
        """How much likelier a step at `guess` makes what follows than a wider spread around the level before."""
        levels = np.where(np.arange(len(values)) >= guess, after, before)
        placed = np.stack([values - levels, values - before]) / self.scale
        step, plain = to_bins(_whitened(placed, self.phi).astype(np.float32))[:, guess:]
        spread = max(float(widened(self.table[None, :], factor)[0, plain].sum()) for factor in _WIDER)
        return float(self.table[step].sum()) - spread

    def gain_of_wider(self, residual: Floats) -> Floats:
        """What each residual says of a wider spread, whitened, for the best factor: log-likelihood ratios, clipped."""
        bins = to_bins(_whitened(residual[None, :] / self.scale, self.phi).astype(np.float32))[0]
        gains = [
            np.clip(widened(self.table[None, :], factor)[0, bins] - self.table[bins], _LEAST_GAIN, _MOST_GAIN)
            for factor in _WIDER
        ]
        best: Floats = max(gains, key=lambda gain: float(gain.sum()))
        return best


def _whitened(standard: Floats, phi: float) -> Floats:
    white = standard.copy()
    white[:, 1:] -= phi * standard[:, :-1]
    white /= math.sqrt(1 - phi**2)
    return white


def place_of_step(values: Floats, guess: int, noise: Noise, lasting: int, reach: int = NEAR) -> int:
    """The index of the first value at the new level, within `reach` of `guess`; at least `lasting` values stay on either side."""
    places = np.arange(max(guess - reach, lasting), min(guess + reach, len(values) - lasting) + 1)
    place = guess
    for _ in range(_ROUNDS if len(places) else 0):  # a new place gives new levels, and they may give another place
        before, after = (robust_level(values[:place], noise.scale), robust_level(values[place:], noise.scale))
        left = values - np.where(np.arange(len(values)) >= np.append(places, place)[:, None], after, before)
        likelihood = noise.log_likelihood if _of_two_states(left[-1] / noise.scale) else noise.gaussian
        place = int(places[np.argmax(likelihood(left[:-1]))])
    return place


def step_over_drift(values: Floats, scale: float, phi: float, lasting: int) -> tuple[float, Floats]:
    """How much likelier a step makes `values` than a level that begins to slope, and what the best slope leaves of them.

    The first is the logarithm of a Bayes factor: negative where the slope, which must last for at least 32 values, is the better
    story. A step may be anywhere and a slope may begin anywhere: each is worth what its places are worth on average (Kass and
    Raftery 1995), not what its best one is, as a step that fits at one place only and a slope that fits from many are not alike.
    Both are held to one Gaussian that is cut at three standard deviations, or, where the step leaves noise of two states, to the
    density of what both leave together.
    """
    n = len(values)
    if n < _RAMP + 2 * lasting:
        return math.inf, values - robust_level(values, scale)
    stepped = _step_residuals(_without_spikes(values, scale), values, lasting)
    sloped = slope_residuals(values, scale, _RAMP)
    best = [rows[np.argmin(np.minimum(np.abs(rows), _CLIP * scale).sum(axis=1))] for rows in (stepped, sloped)]
    both = Noise.of(np.concatenate(best), scale, phi)
    likelihood = both.log_likelihood if _of_two_states(best[0] / scale) else both.gaussian
    return _mean(likelihood(stepped)) - _mean(likelihood(sloped)), best[1]


def _of_two_states(standard: Floats) -> bool:
    bins = to_bins(standard[None, :].astype(np.float32))
    return bool(humps_of(histogram(bins, np.ones_like(bins, dtype=np.bool_))).clear[0])


def _mean(likelihood: Floats) -> float:
    """The logarithm of the mean of what these are the logarithms of."""
    best = float(likelihood.max())
    return best + math.log(float(np.exp(likelihood - best).mean()))


def _step_residuals(calm: Floats, values: Floats, lasting: int) -> Floats:
    """What is left of `values` by one step, a row for each of its places; both levels are means of `calm`."""
    n = len(values)
    places = np.arange(lasting, n - lasting + 1)
    total = np.cumsum(calm)
    before, after = total[places - 1] / places, (total[-1] - total[places - 1]) / (n - places)
    residuals: Floats = values - np.where(np.arange(n)[None, :] >= places[:, None], after[:, None], before[:, None])
    return residuals


def slope_residuals(values: Floats, scale: float, shortest: int) -> Floats:
    """What is left of `values` by a level that begins to slope, one row for each of its beginnings; it slopes to the end."""
    n = len(values)
    slopes = np.maximum(np.arange(n)[None, :] - np.arange(0, n - shortest + 1, 3)[:, None], 0).astype(np.float64)
    left = _without_slope(_without_spikes(values, scale), values, slopes)
    middle = np.median(left, axis=1, keepdims=True)
    residuals: Floats = left - middle - np.clip(left - middle, -1.5 * scale, 1.5 * scale).mean(axis=1, keepdims=True)
    return residuals


def evidence_since(values: Floats, index: int, before: float, scale: float, phi: float) -> float:
    """The log-likelihood ratio of the level that holds from `index` on against the one before, less 1 for having chosen it.

    Residuals are clipped at three standard deviations, so no single night decides.
    """
    after = robust_level(values[index:], scale)
    unit = 1 / math.sqrt(1 - phi**2)
    held = [
        np.clip(_whitened((values[None, index:] - level) / scale, phi)[0, 1:], -_CLIP - unit, _CLIP + unit)
        for level in (before, after)
    ]
    return float((held[0] ** 2 - held[1] ** 2).sum() / 2) - 1


def _without_slope(calm: Floats, values: Floats, slopes: Floats) -> Floats:
    """`values` less each slope, fitted to `calm` by least squares, (slopes, values)."""
    basis = slopes - slopes.mean(axis=1, keepdims=True)
    height = (basis @ (calm - calm.mean())) / np.maximum((basis**2).sum(axis=1), 1e-12)
    left: Floats = values[None, :] - height[:, None] * slopes
    return left


def relative_interval(before: float, after: float, spread: float) -> tuple[float, float]:
    """The 95 % interval of the effect, whose difference has standard deviation `spread`; a ratio where `before` is not zero."""
    effect, half = effect_of(before, after), 1.96 * spread
    if before:
        half /= abs(before)
    return effect - half, effect + half


def effect_of(before: float, after: float) -> float:
    """The ratio after / before less 1, or the difference where `before` is zero; the sign says whether the value rose."""
    return (after - before) / abs(before) if before else after - before


def spread_of_difference(scale: float, phi: float, n_before: int, n_after: int) -> float:
    """The standard deviation of the difference of two levels under AR(1) noise; t-like for few values."""
    inflation = (1 + phi) / (1 - phi)
    few = math.sqrt(1 + 2 / max(n_before + n_after - 2, 1))
    return scale * few * math.sqrt(inflation * (1 / max(n_before, 1) + 1 / max(n_after, 1)))


def _without_spikes(values: Floats, scale: float) -> Floats:
    """Each value clipped to within three standard deviations of the median of the seven around it."""
    padded = np.concatenate([values[3:0:-1], values, values[-2:-5:-1]])
    around = np.median(np.lib.stride_tricks.sliding_window_view(padded, 7), axis=1)
    return np.clip(values, around - _CLIP * scale, around + _CLIP * scale)
