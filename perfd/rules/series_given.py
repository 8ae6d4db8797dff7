"""A Series of a file as `perfd detect` judges it, and what a person should know before believing the answer."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfd.errors import BadInputError
from perfd.rules.series_in import SeriesIn

Floats = NDArray[np.float64]

NEEDED = 6
"""Values that a Series needs before anything is said of it."""
_UNIT_JUMP = (24.0, 60.0, 1000.0, 1024.0, 3600.0, 1e6, 1048576.0, 1e9)
"""Ratios of units that people confuse: hours, minutes, kilo, Ki, mega, Mi, giga."""
_FARTHEST = 1e15
"""Times the usual size of a Series; one float holds no more digits beside it."""


@dataclass(frozen=True)
class Given:
    """A Series as it is judged: the values that are there, in its own unit, which makes its usual size about 1."""

    file: SeriesIn
    there: NDArray[np.intp]
    """Their places in the file."""
    unit: float
    """A power of two, so that nothing is rounded."""
    values: Floats


def given(one: SeriesIn) -> Given:
    """The Series without its missing nights; raises BadInputError where a value is out of all proportion to the others."""
    there = np.flatnonzero(~np.isnan(one.values))
    values = one.values[there]
    unit = _unit(values)
    far = np.flatnonzero(np.abs(values) > _FARTHEST * unit)
    if len(far):
        where = f"series {one.name!r:.60}, value {there[far[0]]}"
        raise BadInputError(
            f"{where}: {values[far[0]]:g} is more than {_FARTHEST:g} times the usual size of the series; write null for a broken "
            "value, or give all values in one unit"
        )
    return Given(one, there, unit, values / unit)


def _unit(values: Floats) -> float:
    """The power of two next to the middle size. The detector's floors for noise are absolute: 1e-12 would hide picoseconds."""
    sizes = np.sort(np.abs(values[values != 0]))
    return 2.0 ** round(math.log2(sizes[(len(sizes) - 1) // 2])) if len(sizes) else 1.0


def notes_of(one: Given) -> tuple[str, ...]:
    """What was done to the values, and what is doubtful about them."""
    n, nights = len(one.values), len(one.file.values)
    missing = (f"{nights - n} of {nights} nights are missing and were left out",) if n < nights else ()
    return (*one.file.notes, *missing, *_doubts(one.values))


def _doubts(values: Floats) -> list[str]:
    """What a person should know before believing the answer."""
    notes = []
    if np.any(values < 0) and np.any(values > 0):
        notes.append("values change sign: effects are relative to the size of the level before, and mean little near zero")
    elif np.any(values == 0) and np.any(values != 0):
        notes.append(f"{int(np.count_nonzero(values == 0))} values are zero; from a zero level, effects are differences")
    jump = _unit_jump(values)
    if jump is not None:
        notes.append(jump)
    return notes


def _unit_jump(values: Floats) -> str | None:
    """Says so when the level jumps by the ratio of two units, as when seconds become milliseconds."""
    if len(values) < NEEDED or np.any(values <= 0):
        return None
    steps = np.log(values[1:] / values[:-1])
    place = int(np.argmax(np.abs(steps)))
    beside = slice(max(0, place - 4), place + 1)  # a step of its own, later or before, is no part of the ratio
    ratio = float(np.median(values[place + 1 : place + 6]) / np.median(values[beside]))
    for unit in _UNIT_JUMP:
        if abs(math.log(max(ratio, 1 / ratio) / unit)) < 0.05:
            return f"the level changes by a factor of about {unit:g} at value {place + 1}: did the unit change there?"
    return None
