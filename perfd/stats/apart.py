"""Steps in a segment so young that its level is hardly known: two levels that lie far apart from each other.

Evidence (evidence.py) is worth little where level and noise are known from few nights, rightly: a density of six nights cannot
say that something is unheard of. But where the nearest nights of two levels lie two and a half times as far from
each other as any nights of one level ever lay among themselves, no law of noise is needed to see it.
"""

import math

import numpy as np
from numpy.typing import NDArray

from perfd.stats.history import Histories
from perfd.stats.nights import LASTING, REFERENCE
from perfd.stats.shape import relative_interval, spread_of_difference
from perfd.stats.student import t_two_sided
from perfd.stats.track import Event

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

OLDER = 26
"""Nights of a segment from which on its level is known well enough."""
_NEWEST = 10
"""The longest new level that is tried."""
_GAP = 2.5
"""How many times its own range the levels lie apart: less is seen in noise of two states (tests/stats/test_apart.py)."""
_SURELY = 1e-26


def hardly_known(past: Histories, who: Ints, when: Ints) -> NDArray[np.bool_]:
    """Where a segment is young, but old enough for two levels."""
    age = when + 1 - past.start[who]
    asked: NDArray[np.bool_] = (age >= 2 * LASTING) & (age < OLDER)
    return asked


def apart_told(past: Histories, one: int, now: int) -> bool:
    """Whether Series `one` shows two levels far apart tonight; then a step is told, and a new segment goes on."""
    begin = int(past.start[one])
    segment, closed = past.values[one, begin : now + 1], past.left(one, begin, now + 1)
    split = _split(segment, closed)
    if split is None:
        return False
    old, new = segment[:split], segment[split:]
    before, after = float(np.median(old)), float(np.median(new))
    error = spread_of_difference(_spread(old, new), 0.0, len(old), len(new))
    interval = relative_interval(before, after, error)
    evidence = _evidence((after - before) / error if error else math.inf, len(segment) - 2)
    past.tracks[one].events.append(Event("step", begin + split, now, before, after, interval, evidence))
    past.close(one, begin + split, before, 0.0)
    return True


def _split(segment: Floats, closed: Floats) -> int | None:
    """Where the new level begins, if there are two that lie far apart; `closed` is what earlier segments left of noise."""
    known = float(np.ptp(closed)) if len(closed) else 0.0
    oldest = LASTING if len(closed) else REFERENCE  # a level that a step was told of has lasted
    for split in range(len(segment) - LASTING, max(oldest, len(segment) - _NEWEST) - 1, -1):
        old, new = segment[:split], segment[split:]
        gap = max(new.min() - old.max(), old.min() - new.max())
        if gap > 0.0 and gap >= _GAP * max(known, np.ptp(old), np.ptp(new)):
            return split
    return None


def _spread(old: Floats, new: Floats) -> float:
    """The standard deviation that both levels have in common."""
    squares = sum(float(((part - part.mean()) ** 2).sum()) for part in (old, new))
    return math.sqrt(squares / (len(old) + len(new) - 2))


def _evidence(t: float, df: int) -> float:
    """How unlikely Gaussian noise makes it, for all the beginnings that were tried."""
    chance = t_two_sided(t, df) if math.isfinite(t) else 0.0
    return -math.log(max(chance, _SURELY) * (_NEWEST - LASTING + 1))
