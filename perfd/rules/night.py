"""One night over many Series: false discoveries are held together, and Changes at one Build become one group.

A Series' own bar holds its false alarms near one in 10,000 nights whatever the others do; 10,000 Series would still raise one a
night. `control` therefore gives each Change of tonight a q, the false discovery rate at which it would be told (Benjamini and
Yekutieli 2001, which allows any dependence), and tells which are told at ten per cent; the others wait for another night's proof.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from perfd.domain.metric import Better, Metric
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus

Key = TypeVar("Key", bound=Hashable)

LEVEL = 0.1
"""The share of told Changes that may be false, on the average night."""


@dataclass(frozen=True)
class Member(Generic[Key]):
    """A Change, whose Series it is in, and what it belongs to."""

    series: Key
    metric: Metric
    build: str
    change: Change
    noise: float
    """The Series' relative standard deviation."""

    @property
    def worse(self) -> bool:
        """Whether the Change is for the worse."""
        return (self.change.effect > 0) == (self.metric.better is Better.LOWER)

    @property
    def strength(self) -> float:
        """Effect over noise."""
        return abs(self.change.effect) / self.noise if self.noise > 0 else math.inf


@dataclass(frozen=True)
class Group(Generic[Key]):
    """All Changes that one Build brought, for the worse and for the better, strongest first."""

    build: str
    worse: tuple[Member[Key], ...]
    better: tuple[Member[Key], ...]
    suspects: tuple[str, ...]
    """Dependencies that changed with the Build: "torch 2.12.0 to 2.13.0"."""


def control(tonight: Mapping[Key, Change], series: int, level: float = LEVEL) -> dict[Key, Change]:
    """Tonight's detected Changes with their q among all `series` that were judged; above `level` they are suspects again."""
    ordered = sorted(tonight, key=lambda key: _p(tonight[key]))
    harmonic = sum(1 / rank for rank in range(1, series + 1))
    least, out = 1.0, {}
    for rank in range(len(ordered), 0, -1):
        key = ordered[rank - 1]
        least = min(least, _p(tonight[key]) * series * harmonic / rank)
        told = replace(tonight[key], q=least)
        out[key] = told if least <= level else replace(told, status=ChangeStatus.SUSPECT, flagged_at=None)
    return out


def _p(change: Change) -> float:
    return 1.0 if change.q is None else change.q


def group_changes(
    members: Sequence[Member[Key]], dependencies: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]]
) -> list[Group[Key]]:
    """One group a Build; `dependencies` gives those of the Build before it and its own. Modes and spikes are nobody's."""
    blamed = [one for one in members if one.change.kind in {ChangeKind.STEP, ChangeKind.DRIFT}]
    return [
        Group(
            build,
            _strongest([one for one in blamed if one.build == build and one.worse]),
            _strongest([one for one in blamed if one.build == build and not one.worse]),
            _bumps(*dependencies.get(build, ({}, {}))),
        )
        for build in dict.fromkeys(one.build for one in blamed)
    ]


def _strongest(members: Sequence[Member[Key]]) -> tuple[Member[Key], ...]:
    return tuple(sorted(members, key=lambda one: -one.strength))


def _bumps(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, ...]:
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    return tuple(f"{name} {old.get(name, 'absent')} to {new.get(name, 'absent')}" for name in names) if old else ()
