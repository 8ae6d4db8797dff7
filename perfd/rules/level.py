"""The newest Points of Series against the level before them: what "same" may be said of."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfd.rules.policy import Policy
from perfd.stats.levels import robust_levels
from perfd.stats.shape import relative_interval, spread_of_difference
from perfd.stats.track import Replay

Floats = NDArray[np.float64]

_LEAST = 2e-6
"""Of the largest value: the detector takes no noise for less than half of this."""
_RESIDUE = 1e-9
"""Of the largest value: smaller levels are a zero that was rounded."""


@dataclass(frozen=True)
class Level:
    """The newest Points against the current level before them."""

    before: float
    after: float
    interval: tuple[float, float]
    """95 % interval of the effect."""
    old: int
    """Points that `before` rests on."""
    new: int
    """Points that `after` rests on."""


def levels_of(found: Replay, values: Sequence[Floats], policies: Sequence[Policy]) -> list[Level | None]:
    """By row of the Replay, how its newest Points lie; None where too few stand at the current level. One pass for all."""
    lengths = np.array([len(one) for one in values])
    starts = np.array([track.start for track in found.tracks])
    lasting, reference = (np.array([getattr(one, name) for one in policies]) for name in ("lasting", "reference"))
    new = np.minimum(lasting, lengths - starts - reference)
    rows = np.flatnonzero(new >= 1)
    ends, begins = lengths[rows], (lengths - new)[rows]
    scales, phis = found.scale[rows, ends - 1].astype(np.float64), found.phi[rows, ends - 1].astype(np.float64)
    some = [values[row] for row in rows.tolist()]
    before, after = robust_levels(some, starts[rows], begins, scales), robust_levels(some, begins, ends, scales)
    levels: list[Level | None] = [None] * len(values)
    told = (column.tolist() for column in (rows, before, after, scales, phis, begins - starts[rows], new[rows]))
    for row, old_level, new_level, least, phi, n_old, n_new in zip(*told, strict=True):
        own = values[row][-(n_old + n_new) :]
        low, high = (_or_zero(level, least, own) for level in (old_level, new_level))
        scale = _seen(least, own)
        spread = spread_of_difference(scale, phi, n_old, n_new)
        levels[row] = Level(low, high, relative_interval(low, high, spread), n_old, n_new)
    return levels


def _or_zero(level: float, scale: float, values: Floats) -> float:
    """Zero where the level is only what clipping far values at the least noise has left of a zero, and no ratio's denominator."""
    return 0.0 if abs(level) <= 1.5 * scale and abs(level) < _RESIDUE * float(np.abs(values).max()) else level


def _seen(scale: float, values: Floats) -> float:
    """The noise; where it is the least that the detector knows, since most nights agree to the last digit, what the others show.

    Requests that failed on two nights of twenty have a median deviation of zero, and are not the same as none within it.
    """
    least = scale <= _LEAST * float(np.abs(values).max())
    return max(scale, float(values.std())) if least else scale
