"""A Series as a file gives it: its name, its values, and what was done to them before anybody judged them."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfd.errors import BadInputError

Floats = NDArray[np.float64]

LARGEST = 1e100
"""Beyond it, squares overflow."""
LONGEST_NAME = 1000
"""Characters of a name that people are to read in a table."""


@dataclass(frozen=True)
class SeriesIn:
    """One Series of a file: its values, oldest first, NaN where a night is missing, and what was done to them."""

    name: str
    values: Floats
    notes: tuple[str, ...] = ()


def named(name: str, where: str) -> str:
    """The name, where a table, a picture and a JSON document can hold it; raises BadInputError otherwise."""
    if not name:
        raise BadInputError(f"{where}: a series has an empty name; every series needs a name of its own")
    if len(name) > LONGEST_NAME:
        raise BadInputError(f"{where}: a name of {len(name):,} characters, and at most {LONGEST_NAME:,} are read: {name[:40]!r}…")
    if any("\ud800" <= mark <= "\udfff" for mark in name):
        raise BadInputError(f"{where}: the name {name!r:.60} holds half a character (a lone surrogate); write it as UTF-8")
    return name


def bounded(number: float, where: str) -> float:
    """The number, or NaN; raises BadInputError where no arithmetic can be done with it."""
    if math.isinf(number):
        raise BadInputError(f"{where}: infinite; write null (JSON) or nothing (CSV) for a night without a value")
    if abs(number) > LARGEST:
        raise BadInputError(f"{where}: {number:g} is beyond {LARGEST:g}; give the values in a larger unit")
    return number
