"""Which Points of a Series may be held against its newest one, and whether they are enough."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from perfd.domain.past import Past
from perfd.domain.run import Point
from perfd.domain.verdict import Change, Outcome, Verdict
from perfd.rules.policy import DETECTOR

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Comparable:
    """The Points that are like the newest one, and where they stand among all."""

    points: Past
    places: Sequence[int]
    values: Floats

    @classmethod
    def of(cls, points: Sequence[Point] | Past) -> "Comparable":
        """Points on other hardware or another clock policy than the last one are left out."""
        past = Past.of(points)
        newest = past.hardware[-1]
        places: Sequence[int] = range(len(past))
        if past.hardware.count(newest) < len(past):
            places = [place for place, hardware in enumerate(past.hardware) if hardware == newest]
        kept = past.take(places)
        return cls(kept, places, np.array(kept.values, dtype=np.float64))


def too_few(all_points: int, alike: int, needed: int) -> Verdict | None:
    """The Verdict where there are too few Points to judge; None where there are enough."""
    if alike >= needed:
        return None
    if all_points >= needed:
        reason = (
            f"{all_points - alike} earlier Points were measured on other hardware or another clock policy; "
            f"{alike} of {needed} comparable ones are there"
        )
        return Verdict(Outcome.NOT_COMPARABLE, reason, DETECTOR, alike)
    return Verdict(Outcome.UNSURE, f"{alike} {points(alike)}, {needed} are needed", DETECTOR, alike)


def points(n: int) -> str:
    """The word for so many of them."""
    return "Point" if n == 1 else "Points"


def among_all(changes: Sequence[Change], places: Sequence[int]) -> tuple[Change, ...]:
    """The Changes of the Points at these places, their own places counted among all Points."""
    if isinstance(places, range):  # all Points are there
        return tuple(changes)
    return tuple(_placed(change, places) for change in changes)


def _placed(change: Change, places: Sequence[int]) -> Change:
    flagged = None if change.flagged_at is None else places[change.flagged_at]
    return replace(change, index=places[change.index], flagged_at=flagged)
