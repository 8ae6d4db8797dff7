"""An oracle that tells a step from a drift: it knows the noise, the level, the size of the step and the slope of the drift.

It tells a step that is beyond its bar (oracle.py) once the best beginning of a step is likelier than the best beginning of the
drift by a margin. The margin is the largest that leaves it a wanted share of the steps within five nights of their place.
"""

from dataclasses import dataclass

import numpy as np
import scenarios as worlds
from numpy.typing import NDArray
from oracle import WAITS, bar_of, ratios_of_step

Floats = NDArray[np.float64]

SIZE, SLOPE, MOST = 2.0, 0.05, 5.0
"""Of the step, of the drift a night, and where the drift ends, in standard deviations."""
_BATCH = 250
_MARGINS = np.arange(-10.0, 15.0, 0.1)


@dataclass(frozen=True)
class Trade:
    """What one margin gives."""

    recall: float
    """Share of steps that are told within five nights of their place."""
    alarms: float
    """Share of drifting Series with a step alarm."""


def step_or_drift(rng: np.random.Generator, rows: int, wanted: float, warm: int) -> Trade:
    """The fewest drifting Series with a step alarm after night `warm`, where at least the `wanted` share of steps is told."""
    bar = bar_of(ratios_of_step("Gaussian", worlds.gauss(rng, 2000, 600), SIZE), WAITS)
    stepped = worlds.with_step(rng, worlds.gauss(rng, rows), SIZE)
    best, place = _best_margins(stepped.values - 100, bar, stepped.change)
    hit = np.abs(place - stepped.change[:, None]) <= 5
    begin = rng.integers(20, 51, rows)
    drift = np.clip((np.arange(worlds.NIGHTS)[None, :] - begin[:, None]) * SLOPE, 0, MOST)
    wrong, _ = _best_margins(worlds.gauss(rng, rows) + drift, bar, np.full(rows, warm))
    trades = [Trade(_told(best, hit, margin), float(np.mean((wrong >= margin).any(axis=1)))) for margin in _MARGINS]
    return min((trade for trade in trades if trade.recall >= wanted), key=lambda trade: trade.alarms, default=trades[0])


def _told(best: Floats, hit: NDArray[np.bool_], margin: float) -> float:
    """Share whose first night beyond the margin puts the step where it was."""
    above = best >= margin
    first = np.argmax(above, axis=1)
    return float(np.mean(above.any(axis=1) & hit[np.arange(len(hit)), first]))


def _best_margins(values: Floats, bar: float, begin: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
    """For each night from `begin` on by how much a step beyond its bar is likelier than the drift, and its place."""
    step = ratios_of_step("Gaussian", values, SIZE)
    shown = step.evidence(WAITS)
    drift = np.concatenate([_drift(values[first : first + _BATCH]) for first in range(0, len(values), _BATCH)])
    nights = np.arange(values.shape[1])
    margin = np.where((shown >= bar) & (nights[None, :] >= begin[:, None]), shown - drift, -np.inf)
    places = np.stack([step.places(np.full(len(values), night)) for night in nights], axis=1)
    return margin, places


def _drift(values: Floats) -> Floats:
    """Each night's log-likelihood ratio of the drift with the best beginning, against the level alone."""
    nights = np.arange(values.shape[1])
    shape = np.clip((nights[None, :] - nights[:, None]) * SLOPE, 0, MOST)  # (beginnings, nights)
    ratio = values[:, None, :] * shape[None, :, :] - shape[None, :, :] ** 2 / 2
    best: Floats = np.cumsum(ratio, axis=2).max(axis=1)
    return best
