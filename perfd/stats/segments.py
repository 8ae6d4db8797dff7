"""Where a whole history is best cut into levels, with both sides of every cut known: for `perfd detect` without `--online`.

For each number of levels the cuts with the least squared error are found by dynamic programming; the number is the one with the
least log of what an AR(1) model cannot foresee in the residuals, plus 4 ln(n) / n a level. A trend or a random walk is thereby
told as noise that remembers, not as a chain of steps. The penalty is that of asv's step detection (airspeed-velocity,
`step_detect.py`), whose idea this is; there the levels are medians. Cost: O(levels n^2), half a second for 4,000 values.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

MOST_VALUES = 4000
"""Longer histories are not cut: their nights are judged one by one only."""
MOST_LEVELS = 12
_PENALTY = 4.0
_LEAST = 1e-3
"""Of the variance: what is finer is the floating point's."""


@dataclass(frozen=True)
class Cuts:
    """The first value of every level but the first, and the lag-1 autocorrelation around the levels."""

    places: tuple[int, ...]
    phi: float


def best_cuts(values: Floats, shortest: int) -> Cuts:
    """The cuts that hindsight sees; every level lasts for at least `shortest` values."""
    n = len(values)
    levels = min(MOST_LEVELS, n // shortest)
    centred = values - np.median(values)
    scale = 1.4826 * float(np.median(np.abs(centred))) or float(centred.std())
    if levels < 2 or scale == 0:
        return Cuts((), 0.0)
    standard = centred / scale
    fits = [_fit(standard, places) for places in _all_cuts(standard, levels, shortest)]
    return min(fits, key=lambda fit: fit[0])[1]


def _fit(standard: Floats, places: tuple[int, ...]) -> tuple[float, Cuts]:
    """What these cuts cost, and the autocorrelation that is left."""
    n = len(standard)
    residual = standard.copy()
    bounds = [0, *places, n]
    for begin, end in pairwise(bounds):
        residual[begin:end] -= standard[begin:end].mean()
    phi = float(np.clip((residual[1:] * residual[:-1]).sum() / max(float((residual**2).sum()), 1e-12), 0, 0.95))
    unforeseen = float(((residual[1:] - phi * residual[:-1]) ** 2).mean()) + _LEAST
    return float(np.log(unforeseen)) + _PENALTY * np.log(n) / n * (len(places) + 1), Cuts(places, phi)


def _all_cuts(standard: Floats, levels: int, shortest: int) -> list[tuple[int, ...]]:
    """The best cuts into 1, 2, … levels."""
    n = len(standard)
    sums = np.concatenate([[0.0], np.cumsum(standard)])
    squares = np.concatenate([[0.0], np.cumsum(standard**2)])
    best = np.full((levels + 1, n + 1), np.inf)
    came = np.zeros((levels + 1, n + 1), dtype=np.intp)
    best[0, 0] = 0
    for end in range(shortest, n + 1):
        begin = np.arange(end - shortest + 1)
        error = squares[end] - squares[begin] - (sums[end] - sums[begin]) ** 2 / (end - begin)
        total = best[:-1, : len(begin)] + error[None, :]
        came[1:, end] = total.argmin(axis=1)
        best[1:, end] = total.min(axis=1)
    return [_walk_back(came, k, n) for k in range(1, levels + 1) if np.isfinite(best[k, n])]


def _walk_back(came: Ints, levels: int, n: int) -> tuple[int, ...]:
    places, end = [], n
    for k in range(levels, 0, -1):
        end = int(came[k, end])
        places.append(end)
    return tuple(sorted(places)[1:])
