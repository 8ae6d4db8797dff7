"""The levels of a Series between its steps, as pictures draw them."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perfd.domain.verdict import Change, ChangeKind, ChangeStatus

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Segment:
    """A stretch of a Series at one level."""

    start: int
    stop: int
    """One past its last Point."""
    level: float
    low: float
    high: float
    """Interval of the level."""


def segments_of(values: Sequence[float | None], changes: Sequence[Change]) -> tuple[Segment, ...]:
    """The stretches between detected steps, each at its median, with the interval that its own scatter leaves (95 %)."""
    known = floats(values)
    lasting = {change.index for change in changes if change.kind is ChangeKind.STEP and change.status is ChangeStatus.DETECTED}
    edges = [0, *sorted(index for index in lasting if 0 < index < len(known)), len(known)]
    made = []
    for start, stop in itertools.pairwise(edges):
        part = known[start:stop][np.isfinite(known[start:stop])]
        if len(part):
            level = float(np.median(part))
            reach = 1.96 * 1.2533 * scatter(part) / math.sqrt(len(part))
            made.append(Segment(start, stop, level, level - reach, level + reach))
    return tuple(made)


def floats(values: Sequence[float | None]) -> Floats:
    """The values with NaN for those that are missing."""
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def scatter(values: Floats) -> float:
    """The standard deviation that the median absolute deviation stands for."""
    return float(1.4826 * np.median(np.abs(values - np.median(values)))) if len(values) else 0.0
