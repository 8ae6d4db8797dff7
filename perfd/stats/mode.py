"""Whether a Series was at a level before: then a machine's mode brought it back there, not a commit."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perfd.stats.nights import LASTING

Floats = NDArray[np.float64]

_NEAR = 0.3
"""Of the size of a step: levels that are nearer than this are one."""
_CUT = 2.8
_REMEMBERS, _CLEAR = 0.4, 3.4


def seen_before(
    values: Floats,
    levels: Sequence[tuple[int, float]],
    change: tuple[int, int],
    step: tuple[float, float],
    noise: tuple[float, float],
) -> bool:
    """Whether both levels of a step were held before, or nights at the new one were hidden in a segment at another level.

    Nights in a row at the level that is left count as held too, where they were hidden in an older segment at another level.

    `levels` are the closed segments, (begin, level); `change` is where the current segment begins and where it is left, `step`
    the levels before and after, `noise` scale and autocorrelation.
    """
    (before, after), (scale, phi) = step, noise
    near = _NEAR * abs(after - before)
    left_here = any(abs(level - before) <= near for _, level in levels)
    been_there = any(abs(level - after) <= near for _, level in levels)
    size = abs(after - before) / scale
    if (left_here and been_there) or size < _CUT:
        return left_here and been_there
    (start, split), nights = change, _held(size, phi)
    if been_there and _strayed(values, levels, start, (before, near), nights):
        return True
    return _strayed(values, [*levels, (start, before)], split, (after, near), nights)


def _held(size: float, phi: float) -> int:
    """How many nights in a row at a level make it one that was held; `size` in standard deviations."""
    return LASTING if phi >= _REMEMBERS and size < _CLEAR else LASTING - 1


def _strayed(values: Floats, levels: Sequence[tuple[int, float]], split: int, new: tuple[float, float], nights: int) -> bool:
    """Whether so many nights in a row of segments at other levels were near the new one."""
    after, near = new
    bounds = [begin for begin, _ in levels[1:]] + [split]
    for (begin, level), end in zip(levels, bounds, strict=True):
        there = np.abs(values[max(begin, 0) : max(end, 0)] - after) <= near
        held = len(there) >= nights and bool(np.any(np.convolve(there, np.ones(nights), "valid") >= nights))
        if abs(level - after) > near and held:
            return True
    return False
