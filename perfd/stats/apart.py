"""Steps in a Series so young that its noise is hardly known: two levels that lie far apart from each other.

Evidence (evidence.py) is worth little where noise is known from few nights, rightly: a density of six nights cannot say that
something is unheard of. But where the nearest nights of two levels lie two and a half times as far from each other as the
nights of either ever lay among themselves, no law of noise is needed to see it.
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
"""Nights of a Series from which on its noise is known well enough."""
_NEWEST = 10
"""The longest new level that is tried."""
_GAP = 2.5
"""How many times its own range the levels lie apart: less is seen in noise of two states (tests/stats/test_apart.py)."""
_SURELY = 1e-26


def unknown(past: Histories, who: Ints, when: Ints) -> NDArray[np.bool_]:
    """Where a Series is in its first segment, and young, but old enough for two levels."""
    age = when + 1 - past.start[who]
    asked: NDArray[np.bool_] = (past.start[who] == past.noise_start[who]) & (age >= REFERENCE + LASTING) & (age < OLDER)
    return asked


def apart_told(past: Histories, one: int, now: int) -> bool:
    """Whether Series `one` shows two levels far apart tonight; then a step is told, and a new segment goes on."""
    begin = int(past.start[one])
    segment = past.values[one, begin : now + 1]
    split = _split(segment)
    if split is None:
        return False
    old, new = segment[:split], segment[split:]
    before, after = float(np.median(old)), float(np.median(new))
    scale = _spread(old, new)
    error = spread_of_difference(scale, 0.0, len(old), len(new))
    interval = relative_interval(before, after, error)
    evidence = _evidence((after - before) / error if error else math.inf, len(segment) - 2)
    past.tracks[one].events.append(Event("step", begin + split, now, before, after, interval, evidence))
    past.close(one, begin + split, before, 0.0)
    return True


def _split(segment: Floats) -> int | None:
    """Where the new level begins, if there are two that lie far apart."""
    for split in range(len(segment) - LASTING, max(REFERENCE, len(segment) - _NEWEST) - 1, -1):
        old, new = segment[:split], segment[split:]
        gap = max(new.min() - old.max(), old.min() - new.max())
        if gap > 0.0 and gap >= _GAP * max(np.ptp(old), np.ptp(new)):
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
