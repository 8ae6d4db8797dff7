"""Whether a Series was at a level before: then a machine's mode brought it back there, not a commit."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perfd.stats.nights import LASTING

Floats = NDArray[np.float64]

_NEAR = 0.3
"""Of the size of a step: levels that are nearer than this are one."""
_AROUND = 0.5
"""Of the size of a step: nights that are nearer to a level than this may be at it."""
_CUT = 2.8
_REMEMBERS, _CLEAR = 0.4, 3.4
_PASSING = 2
"""Nights in a row that make a visit of one of two levels, where the other was held."""
_FAR = 2 / 3
"""Of the way to a new level: nights beyond are there, as many nights before are between."""


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
    if left_here and been_there:
        return True
    (start, split), size = change, abs(after - before) / scale
    segments = _segments(values, [*levels, (start, before)], split)
    around = _AROUND * abs(after - before)
    passed = _visited(segments[:-1], before, around, _PASSING, near) or _visited(segments[-1:], after, around, _PASSING, near)
    if been_there and passed:
        return True
    jumps = phi >= _REMEMBERS and _two_humps(segments[-1], before, after)
    if jumps and _visited(segments[-1:], after, around, LASTING - 1, near):
        return True
    return size >= _CUT and _visited(segments, after, near, _held(size, phi), near)


def _held(size: float, phi: float) -> int:
    """How many nights in a row at a level make it one that was held; `size` in standard deviations."""
    return LASTING if phi >= _REMEMBERS and size < _CLEAR else LASTING - 1


def _segments(values: Floats, levels: Sequence[tuple[int, float]], split: int) -> list[Floats]:
    """The nights of each of these segments, the last of which ends before `split`."""
    ends = [begin for begin, _ in levels[1:]] + [split]
    return [values[max(begin, 0) : max(end, 0)] for (begin, _), end in zip(levels, ends, strict=True)]


def _visited(segments: Sequence[Floats], there: float, reach: float, nights: int, near: float) -> bool:
    """Whether so many nights in a row of a segment at another level were within `reach` of a level, and `near` it on average."""
    for segment in segments:
        if not len(segment) or abs(float(np.median(segment)) - there) <= near:
            continue
        within = np.abs(segment - there) <= reach
        bounds = np.flatnonzero(np.diff(np.concatenate([[False], within, [False]])))
        for begin, end in zip(bounds[::2], bounds[1::2], strict=True):
            if end - begin >= nights and abs(float(segment[begin:end].mean()) - there) <= near:
                return True
    return False


def _two_humps(segment: Floats, before: float, after: float) -> bool:
    """Whether more nights of a segment lie at the new level than between it and the old one: its noise switches between both."""
    way = (segment - before) / (after - before)
    return int(np.count_nonzero(way > _FAR)) >= max(int(np.count_nonzero((way > 1 - _FAR) & (way <= _FAR))), LASTING - 1)
