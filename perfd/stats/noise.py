"""The noise of one Series, and how likely it makes what is left of its nights. Cost: O(nights) a row."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfd.stats.density import WIDTH, histogram, log_density, to_bins, widened
from perfd.stats.humps import humps_of, zoom_of
from perfd.stats.shape import robust_level

Floats = NDArray[np.float64]

_CLIP = 3.0
WINSOR, WINSORISED, _ROUNDS = 2.0, 0.9205, 2
"""Where residuals are cut for a standard deviation, and the variance that this leaves of Gaussian noise."""
_TRIED = np.linspace(-2, 2, 41)
"""Levels that are tried around the robust one, in standard deviations of all nights."""
_WIDER = (1.75, 2.5, 3.5)
"""How many times as wide a spread is tried."""
_LEAST_GAIN, _MOST_GAIN = -2.5, 3.5
"""What a single night may say of a wider spread."""


@dataclass(frozen=True)
class Noise:
    """The noise of one Series: robust standard deviation, lag-1 autocorrelation, and the log-density of what is left."""

    scale: float
    phi: float
    table: NDArray[np.float32]
    """(BINS,), see density.py."""
    zoom: float = 1.0
    """How many times finer than in `scale` the table is: where noise has two states it is in that of one of them."""

    @classmethod
    def of(cls, residual: Floats, scale: float, phi: float) -> "Noise":
        """The noise that these residuals, oldest first, show."""
        white = whitened(residual[None, :] / scale, phi).astype(np.float32)
        bins = to_bins(white)
        every = np.ones_like(bins, dtype=np.bool_)
        zoom = float(zoom_of(humps_of(histogram(bins, every)), WIDTH)[0])
        if zoom > 1:
            bins = to_bins(white * np.float32(zoom))
        return cls(scale, phi, log_density(bins, every)[0], zoom)

    def _bins(self, standard: Floats) -> NDArray[np.intp]:
        return to_bins((self.zoom * whitened(standard, self.phi)).astype(np.float32))

    def log_likelihood(self, residual: Floats) -> Floats:
        """The log-density of each row of residuals, (rows, nights) to (rows,)."""
        bins = self._bins(residual / self.scale)
        likelihood: Floats = self.table[bins].sum(axis=1, dtype=np.float64)
        return likelihood

    def level_of(self, values: Floats) -> float:
        """The level of these values: the likeliest one where noise has two states, of which few nights may show one only."""
        level = robust_level(values, self.scale)
        if self.zoom <= 1:
            return level
        tried = level + _TRIED * self.scale
        return float(tried[np.argmax(self.log_likelihood(values[None, :] - tried[:, None]))])

    def evidence(self, values: Floats, guess: int, before: float, after: float) -> float:
        """The log-likelihood ratio of a step at `guess` against none."""
        levels = np.where(np.arange(len(values)) >= guess, after, before)
        likelihoods = self.log_likelihood(np.stack([values - levels, values - before]))
        return float(likelihoods[0] - likelihoods[1])

    def over_wider(self, values: Floats, guess: int, before: float, after: float) -> float:
        """How much likelier a step at `guess` makes what follows than a wider spread around the level before."""
        levels = np.where(np.arange(len(values)) >= guess, after, before)
        placed = np.stack([values - levels, values - before]) / self.scale
        step, plain = self._bins(placed)[:, guess:]
        return float(self.table[step].sum()) - self._of_wider(plain)

    def log_likelihood_of_wider(self, residual: Floats) -> float:
        """The log-density of one row of residuals under the likeliest wider spread, (nights,)."""
        return self._of_wider(self._bins(residual[None, :] / self.scale)[0])

    def _of_wider(self, bins: NDArray[np.intp]) -> float:
        return max(float(widened(self.table[None, :], factor)[0, bins].sum()) for factor in _WIDER)

    def gain_of_wider(self, residual: Floats) -> Floats:
        """What each residual says of a wider spread, whitened, for the best factor: log-likelihood ratios, clipped."""
        bins = self._bins(residual[None, :] / self.scale)[0]
        gains = [
            np.clip(widened(self.table[None, :], factor)[0, bins] - self.table[bins], _LEAST_GAIN, _MOST_GAIN)
            for factor in _WIDER
        ]
        best: Floats = max(gains, key=lambda gain: float(gain.sum()))
        return best


def whitened(standard: Floats, phi: float) -> Floats:
    """Rows of standardised residuals, oldest first, less what AR(1) noise carries over, with a variance of 1."""
    white = standard.copy()
    white[:, 1:] -= phi * standard[:, :-1]
    white /= math.sqrt(1 - phi**2)
    return white


def gaussian(residual: Floats, scale: float, phi: float) -> Floats:
    """The log-likelihood of each row of residuals under a Gaussian that is cut at three standard deviations, less its constant.

    What lies beyond says little more, but more: a night that is far from two levels still belongs to the nearer one.
    """
    likelihood: Floats = -unlikely(whitened(residual / scale, phi)).sum(axis=1)
    return likelihood


def unlikely(standard: Floats) -> Floats:
    """The negative log-density of each standardised residual under that Gaussian."""
    off = np.abs(standard)
    negative: Floats = 0.5 * np.minimum(off, _CLIP) ** 2 + np.log(np.maximum(off / _CLIP, 1))
    return negative


def winsorised(residual: Floats, scale: float) -> float:
    """The standard deviation that all residuals tell of, cut at two: half the variance of one from their median distance."""
    width = scale
    for _ in range(_ROUNDS):
        width *= math.sqrt(float(np.minimum((residual / width) ** 2, WINSOR**2).mean()) / WINSORISED)
        width = max(width, 1e-6 * scale)
    return width


def least_off(rows: Floats, scale: float) -> Floats:
    """The row of residuals that is least off, nights cut at three standard deviations."""
    best: Floats = rows[np.argmin(np.minimum(np.abs(rows), _CLIP * scale).sum(axis=1))]
    return best


def evidence_since(values: Floats, index: int, before: float, scale: float, phi: float) -> float:
    """The log-likelihood ratio of the level that holds from `index` on against the one before, less 1 for having chosen it.

    Residuals are clipped at three standard deviations, so no single night decides.
    """
    after = robust_level(values[index:], scale)
    unit = 1 / math.sqrt(1 - phi**2)
    held = [
        np.clip(whitened((values[None, index:] - level) / scale, phi)[0, 1:], -_CLIP - unit, _CLIP + unit)
        for level in (before, after)
    ]
    return float((held[0] ** 2 - held[1] ** 2).sum() / 2) - 1
