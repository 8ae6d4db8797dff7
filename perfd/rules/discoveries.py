"""Many Series are judged a night: which of their Changes are told, so that few of what is told is false."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TypeVar

from perfd.domain.verdict import Change, ChangeStatus

Key = TypeVar("Key", bound=Hashable)

LEVEL = 0.1
"""The share of told Changes that may be false, on the average night."""


def control(tonight: Mapping[Key, Change], series: int, level: float = LEVEL) -> dict[Key, Change]:
    """Tonight's detected Changes with their q among all `series` that were judged; above `level` they are suspects again.

    Benjamini and Yekutieli 2001, which allows any dependence.
    """
    ordered = sorted(tonight, key=lambda key: _p(tonight[key]))
    times = harmonic(series)
    least, out = 1.0, {}
    for rank in range(len(ordered), 0, -1):
        key = ordered[rank - 1]
        least = min(least, _p(tonight[key]) * series * times / rank)
        told = replace(tonight[key], q=least)
        out[key] = told if least <= level else replace(told, status=ChangeStatus.SUSPECT, flagged_at=None)
    return out


def harmonic(series: int) -> float:
    """1 + 1/2 + … + 1/series: what any dependence among so many costs."""
    return sum(1 / rank for rank in range(1, series + 1))


def _p(change: Change) -> float:
    return 1.0 if change.q is None else change.q
