"""Whether a Regression is worth a re-measurement, what one has shown, and when a person is told.

A Regression is re-measured before anybody is woken: the first bad Build against the last good one, interleaved on one device.
Which two Builds these are is what its members' places say, and those may be off (place.py): so "the same" strikes out a pair of
Builds, and the Regression is noise when none is left. What is confirmed is confirmed of the pair that was compared, and blamed on
its head.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from perfd.domain.metric import MetricKind
from perfd.domain.verdict import ChangeKind, Outcome, RegressionState, Reproduced, Verdict
from perfd.rules.regressions import OPENING

OPEN = frozenset({RegressionState.SUSPECT, RegressionState.DETECTED})
Pair: TypeAlias = tuple[str, str]
"""The last good Build and the first bad one, by digest."""


@dataclass(frozen=True)
class Tried:
    """What a re-measurement of these two Builds has shown."""

    pair: Pair
    outcome: Reproduced


@dataclass(frozen=True)
class ConfirmPolicy:
    """What a re-measurement may cost."""

    tries: int = 3
    """Nights on which an unsure one is repeated; then the Series alone decides whether a person is told."""
    workloads: int = 3
    """Workloads that one re-measurement measures at most, those of the strongest members."""


@dataclass(frozen=True)
class Member:
    """A Change of a Regression that still stands."""

    change_kind: ChangeKind
    metric_kind: MetricKind
    effect: float
    relevant: float
    worse: bool
    steady: bool = True
    """False for what a Run measures once, such as the engine's start: noisy, and re-measured only once the Series shows it."""

    @property
    def matters(self) -> bool:
        """For the worse, of a kind that someone must answer, and at least the Metric's relevant effect."""
        return self.worse and self.change_kind in OPENING and abs(self.effect) >= self.relevant

    @property
    def counted(self) -> bool:
        """Counted by a compiler: its own proof, confirmed by counting again."""
        return self.metric_kind is MetricKind.STATIC


@dataclass(frozen=True)
class Case:
    """A Regression as this policy sees it."""

    state: RegressionState
    members: tuple[Member, ...]
    tried: tuple[Reproduced, ...] = ()
    """What earlier re-measurements have shown."""
    budget: bool = False
    """Whether a budget opened it: many nights are its proof."""
    remeasures: bool = True
    """False where the configuration gives re-measuring no time."""


def worth_remeasuring(case: Case, policy: ConfirmPolicy) -> bool:
    """Whether the Regression is re-measured after this night."""
    if not case.remeasures or case.budget or case.state not in OPEN or Reproduced.IMPOSSIBLE in case.tried:
        return False
    shown = case.state is RegressionState.DETECTED
    wanted = any(one.matters and not one.counted and (one.steady or shown) for one in case.members)
    return wanted and case.tried.count(Reproduced.UNSURE) < policy.tries


def why_told(case: Case, policy: ConfirmPolicy) -> str | None:
    """Why a person is told now, as a sentence; absent while nobody is."""
    if case.state is RegressionState.CONFIRMED:
        return "it was measured again, with the same result"
    if case.state is not RegressionState.DETECTED:
        return None
    if case.budget:
        return "the Series shows it over many nights"
    if not any(one.matters for one in case.members):
        return None
    return _why_without(case, policy)


def _why_without(case: Case, policy: ConfirmPolicy) -> str | None:
    shown = "the Series shows a lasting change"
    if Reproduced.IMPOSSIBLE in case.tried:
        return f"{shown}; it could not be measured again"
    if not case.remeasures:
        return f"{shown}; the configuration re-measures nothing"
    if all(one.counted for one in case.members if one.matters):
        return "it is counted, not measured: one night shows it"
    unsure = case.tried.count(Reproduced.UNSURE)
    if unsure >= policy.tries:
        return f"{shown}; {unsure} re-measurements stayed unsure"
    return None


def conclude(verdicts: Sequence[Verdict], pairs: int) -> Reproduced:
    """What the Verdicts on the members' Metrics say together, `pairs` pairs of Runs having been measured."""
    if pairs == 0 or not verdicts:
        return Reproduced.IMPOSSIBLE
    outcomes = {verdict.outcome for verdict in verdicts}
    if Outcome.WORSE in outcomes:
        return Reproduced.YES
    return Reproduced.NO if outcomes <= {Outcome.SAME, Outcome.BETTER} else Reproduced.UNSURE


def next_pair(pairs: Sequence[Pair], tried: Sequence[Tried]) -> Pair | None:
    """Of these pairs, the likeliest first, the one that was tried least; absent where all of them were the same."""
    refuted = {one.pair for one in tried if one.outcome is Reproduced.NO}
    left = [pair for pair in pairs if pair not in refuted]
    return min(left, key=lambda pair: sum(one.pair == pair for one in tried), default=None)


def moves_to(outcome: Reproduced, left: Pair | None) -> RegressionState | None:
    """Where a re-measurement takes the Regression, `left` being the pair that is to be tried next; absent where it stays."""
    if outcome is Reproduced.YES:
        return RegressionState.CONFIRMED
    return RegressionState.NOISE if outcome is Reproduced.NO and left is None else None


def narrowed(pair: Pair, tried: Sequence[Tried]) -> Pair:
    """The pair less what was the same at either end of it: a step between 1 and 3 that is not between 1 and 2 is after 2.

    Where nothing would be left, it is spread over several Builds, and the whole pair is the answer.
    """
    same = [one.pair for one in tried if one.outcome is Reproduced.NO]
    base = next((after for before, after in same if before == pair[0]), pair[0])
    head = next((before for before, after in same if after == pair[1]), pair[1])
    return pair if base == head or (base, head) in same else (base, head)
