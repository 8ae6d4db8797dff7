"""The life of a Regression: opened over Changes for the worse, detected when the Series shows it, closed by a fix or as noise.

Pure: what stands and what is known go in, actions come out. Every action carries its reason; the stage writes them as events.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from perfd.domain.verdict import ChangeKind, ChangeStatus, RegressionState

OPENING = frozenset({ChangeKind.STEP, ChangeKind.DRIFT})
"""Kinds that someone must answer. A mode is the machine's, a transient is over, a variance change is told on its Series."""


@dataclass(frozen=True)
class Standing:
    """A Change that the judge sees in a Series today."""

    change: int
    series: int
    place: int
    """Its position among the Series' Changes, oldest first."""
    subject: str
    build: str
    revision: str
    title: str
    label: str
    """Class, Workload and Metric, as people say it: "chat latency ttft_s"."""
    kind: ChangeKind
    status: ChangeStatus
    worse: bool
    effect: float
    before: float
    after: float
    relevant: float
    """The smallest effect of its Metric that matters."""
    regression: int | None = None


@dataclass(frozen=True)
class Known:
    """An open Regression and the Changes that it was opened over."""

    regression: int
    state: RegressionState
    subject: str
    build: str
    changes: tuple[int, ...]
    """Ids of all its members, also of those that no longer stand."""


@dataclass(frozen=True)
class Open:
    """A new Regression."""

    changes: tuple[int, ...]
    title: str
    state: RegressionState
    reason: str


@dataclass(frozen=True)
class Join:
    """Changes that belong to a Regression that is open already."""

    regression: int
    changes: tuple[int, ...]


@dataclass(frozen=True)
class Move:
    """A Regression goes on."""

    regression: int
    old: RegressionState
    new: RegressionState
    reason: str


Action: TypeAlias = Open | Join | Move


def act(standing: Sequence[Standing], known: Sequence[Known]) -> tuple[Action, ...]:
    """What follows from tonight's Changes; doing it and asking again gives nothing."""
    return (*_opened(standing, known), *(move for one in known if (move := _moved(one, standing)) is not None))


def _opened(standing: Sequence[Standing], known: Sequence[Known]) -> Iterator[Action]:
    new = [one for one in standing if one.worse and one.kind in OPENING and one.regression is None]
    at_build = {(one.subject, one.build): one.regression for one in known}
    for key, group in groupby(sorted(new, key=_build), key=_build):
        members = sorted(group, key=lambda one: -abs(one.effect))
        if key in at_build:
            yield Join(at_build[key], tuple(one.change for one in members))
        else:
            yield _open(members)


def _build(one: Standing) -> tuple[str, str]:
    return one.subject, one.build


def _open(members: Sequence[Standing]) -> Open:
    worst = members[0]
    detected = any(one.status is ChangeStatus.DETECTED for one in members)
    more = f" and {len(members) - 1} more Series" if len(members) > 1 else ""
    since = f"{worst.revision[:12]} {worst.title}".strip()
    title = f"{worst.subject}: {worst.label} {worst.effect:+.1%}{more} since {since}"
    state = RegressionState.DETECTED if detected else RegressionState.SUSPECT
    reason = "the Series shows a lasting change" if detected else "seen for the first time; it may be a spike"
    return Open(tuple(one.change for one in members), title, state, reason)


def _moved(known: Known, standing: Sequence[Standing]) -> Move | None:
    members = [one for one in standing if one.change in known.changes]
    if not members:
        return _vanished(known)
    repaired = [_repair(one, standing) for one in members]
    if known.state is not RegressionState.SUSPECT and all(repaired):
        fix = next(one for one in repaired if one is not None)
        back = f"back at the level from before since {fix.revision[:12]} {fix.title}".strip()
        return Move(known.regression, known.state, RegressionState.FIXED, back)
    if known.state is RegressionState.SUSPECT and any(one.status is ChangeStatus.DETECTED for one in members):
        return Move(known.regression, known.state, RegressionState.DETECTED, "the Series shows a lasting change")
    return None


def _vanished(known: Known) -> Move | None:
    if known.state not in {RegressionState.SUSPECT, RegressionState.DETECTED}:
        return None  # a person or a re-measurement has spoken; only they take it back
    return Move(known.regression, known.state, RegressionState.NOISE, "the nights since do not show it")


def _repair(member: Standing, standing: Sequence[Standing]) -> Standing | None:
    """The later Change of the same Series that undid this one; absent while the Series stays worse."""
    later = [one for one in standing if one.series == member.series and one.place > member.place and not one.worse]
    return next((one for one in later if one.status is ChangeStatus.DETECTED and _undoes(one, member)), None)


def _undoes(fix: Standing, member: Standing) -> bool:
    """Whether at least half of the damage is gone, or what is left does not matter."""
    left = abs(fix.after - member.before)
    return left <= max(abs(member.after - member.before) / 2, member.relevant * abs(member.before))

