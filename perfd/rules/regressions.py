"""The life of a Regression: opened over Changes for the worse, detected when the Series shows it, closed by a fix or as noise.

Pure: what stands and what is known go in, actions come out. Every action carries its reason; the stage writes them as events.
Changes of one subject in the same direction at the same Build, or at one so near that its place is uncertain, are one Regression.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from perfd.domain.numbers import moved
from perfd.domain.subject import brief
from perfd.domain.verdict import ChangeKind, ChangeStatus, RegressionState

OPENING = frozenset({ChangeKind.STEP, ChangeKind.DRIFT})
"""Kinds that someone must answer. A mode is the machine's, a transient is over, a variance change is told on its Series."""
NEAR = 2
"""Builds by which the place of one Change may be off: Changes so near belong together, but never two of one Series."""
TWICE = 2
"""Nights that must count the same before a counted Metric is confirmed."""
HELD = frozenset({RegressionState.CONFIRMED, RegressionState.OWNED})
"""A re-measurement, or a person, has spoken."""


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
    rank: int = 0
    """Its Build's place among all Builds of the subject that were measured."""
    noise: float | None = None
    """Night-to-night relative standard deviation of the Series."""
    nights: int = 1
    """Points from the Change on."""
    counted: bool = False
    """Whether a compiler counted it: then it has no noise, and counting again confirms it."""
    cause: str = ""
    """What changed beside the commit: driver, libraries, dependencies."""
    regression: int | None = None

    @property
    def strength(self) -> float:
        """The effect over the noise; a counted Change is stronger than any measured one."""
        return math.inf if self.counted or not self.noise else abs(self.effect) / self.noise


@dataclass(frozen=True)
class Known:
    """An open Regression and the Changes that it was opened over."""

    regression: int
    state: RegressionState
    subject: str
    build: str
    changes: tuple[int, ...]
    """Ids of all its members, also of those that no longer stand."""
    rank: int = 0
    """Its Build's place among all Builds of the subject that were measured."""


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
_BySeries: TypeAlias = Mapping[int, Sequence[Standing]]


def act(standing: Sequence[Standing], known: Sequence[Known]) -> tuple[Action, ...]:
    """What follows from tonight's Changes; doing it and asking again gives nothing. There may be thousands of either."""
    series: dict[int, list[Standing]] = {}
    for one in standing:
        series.setdefault(one.series, []).append(one)
    stood = {one.change: one for one in standing}
    over = [one for one in standing if one.kind is ChangeKind.TRANSIENT and one.worse]
    seen = {one.change for one in standing if one.kind in OPENING}
    # A suspect that went away tonight is noise, and would take what joins it with it.
    homes = [one for one in known if one.state is not RegressionState.SUSPECT or not seen.isdisjoint(one.changes)]
    opened = tuple(_opened(standing, series, homes))
    joined = {one.regression: one.changes for one in opened if isinstance(one, Join)}
    grown = (replace(one, changes=(*one.changes, *joined.get(one.regression, ()))) for one in known)
    moved = (_moved(one, stood, series, over) for one in grown)
    return (*opened, *(move for move in moved if move is not None))


def _opened(standing: Sequence[Standing], series: _BySeries, known: Sequence[Known]) -> Iterator[Open | Join]:
    new = [one for one in standing if one.worse and one.kind in OPENING and one.regression is None]
    homes = {one.change: _home(one, series[one.series], known) for one in new}
    for regression in dict.fromkeys(home for home in homes.values() if home is not None):
        yield Join(regression, tuple(one.change for one in new if homes[one.change] == regression))
    homeless = [one for one in new if homes[one.change] is None]
    yield from (_open(members) for members in grouped(homeless))


def grouped(changes: Sequence[Standing]) -> Iterator[list[Standing]]:
    """Changes that belong together, the strongest group first and the strongest member first in each."""
    left = sorted(changes, key=_loudest)
    while left:
        first = left[0]
        near = sorted((one for one in left if _near(one, first)), key=lambda one: abs(one.rank - first.rank))
        members = list({one.series: one for one in reversed(near)}.values())  # of one Series, the nearest
        yield sorted(members, key=_loudest)
        taken = {one.change for one in members}
        left = [one for one in left if one.change not in taken]


def _loudest(one: Standing) -> tuple[float, float]:
    return -one.strength, -abs(one.effect)


def _near(one: Standing, other: Standing) -> bool:
    return one.subject == other.subject and one.worse == other.worse and abs(one.rank - other.rank) <= NEAR


def _home(one: Standing, beside: Sequence[Standing], known: Sequence[Known]) -> int | None:
    """The open Regression that the Change belongs to: the nearest, but none in which its own Series already stands."""
    fitting = [
        home
        for home in known
        if home.subject == one.subject
        and (home.build == one.build or abs(home.rank - one.rank) <= NEAR)
        and not any(other.change in home.changes for other in beside)
    ]
    nearest = min(fitting, key=lambda home: (home.build != one.build, abs(home.rank - one.rank)), default=None)
    return None if nearest is None else nearest.regression


def _open(members: Sequence[Standing]) -> Open:
    worst = members[0]
    detected = any(one.status is ChangeStatus.DETECTED for one in members)
    by = moved(worst.effect, worst.before, worst.after)
    title = titled(worst.subject, worst.label, by, len(members) - 1, f"{brief(worst.revision)} {worst.title}".strip())
    state = RegressionState.DETECTED if detected else RegressionState.SUSPECT
    reason = "the Series shows a lasting change" if detected else "seen for the first time; it may be a spike"
    if worst.counted:
        reason = "counted, not measured: one night shows it"
    if worst.cause:
        reason += f". Suspects are the commit {brief(worst.revision)} and {worst.cause}"
    return Open(tuple(one.change for one in members), title, state, reason)


def titled(subject: str, label: str, by: str, more: int, since: str) -> str:
    """What became worse, by how much, in how many more Series, since when: one sentence."""
    others = f" and {more} more Series" if more else ""
    return f"{subject}: {label} {by}{others} since {since}"


def _moved(known: Known, stood: Mapping[int, Standing], series: _BySeries, over: Sequence[Standing]) -> Move | None:
    own = [one for change in known.changes if (one := stood.get(change)) is not None]
    every = own + [one for one in over if one.change not in known.changes and _is_end_of(known, one)]
    members = [one for one in every if one.kind in OPENING]
    if not members:
        return _vanished(known, every)
    repaired = [_repair(one, series[one.series]) for one in members]
    if known.state is not RegressionState.SUSPECT and all(repaired):
        fix = next(one for one in repaired if one is not None)
        back = f"back at the level from before since {brief(fix.revision)} {fix.title}".strip()
        return Move(known.regression, known.state, RegressionState.FIXED, back)
    if known.state not in HELD and any(one.counted and one.nights >= TWICE for one in members):
        return Move(known.regression, known.state, RegressionState.CONFIRMED, "counted again, with the same result")
    if known.state is RegressionState.SUSPECT and any(one.status is ChangeStatus.DETECTED for one in members):
        return Move(known.regression, known.state, RegressionState.DETECTED, "the Series shows a lasting change")
    return None


def _is_end_of(known: Known, one: Standing) -> bool:
    """Whether what was worse and is over, so soon that the judge takes it for a spike, was at that Build."""
    return (one.subject, one.build) == (known.subject, known.build)


def _vanished(known: Known, left: Sequence[Standing]) -> Move | None:
    """Nothing is left that someone must answer."""
    if known.state in HELD:  # only what was real and is over can be taken back without a person
        over = bool(left) and all(one.kind is ChangeKind.TRANSIENT for one in left)
        back = "back at the level from before after a few nights"
        return Move(known.regression, known.state, RegressionState.FIXED, back) if over else None
    return Move(known.regression, known.state, RegressionState.NOISE, "the nights since do not show it")


def _repair(member: Standing, beside: Sequence[Standing]) -> Standing | None:
    """The later Change of the same Series that undid this one; absent while the Series stays worse."""
    later = [one for one in beside if one.place > member.place and not one.worse]
    return next((one for one in later if one.status is ChangeStatus.DETECTED and _undoes(one, member)), None)


def _undoes(fix: Standing, member: Standing) -> bool:
    """Whether at least half of the damage is gone, or what is left does not matter."""
    left = abs(fix.after - member.before)
    return left <= max(abs(member.after - member.before) / 2, member.relevant * abs(member.before))
