"""Whether a Regression is worth a re-measurement, what one has shown, and when a person is told.

A Regression is re-measured before anybody is woken: the first bad Build against the last good one, interleaved on one device.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from perfd.domain.metric import MetricKind
from perfd.domain.verdict import ChangeKind, Outcome, RegressionState, Reproduced, Verdict
from perfd.rules.regressions import OPENING

OPEN = frozenset({RegressionState.SUSPECT, RegressionState.DETECTED})
TOWARDS = {Reproduced.YES: RegressionState.CONFIRMED, Reproduced.NO: RegressionState.NOISE}
"""Where a re-measurement takes a Regression; anything else leaves it where it is."""


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
    return wanted and len(case.tried) < policy.tries


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
    if len(case.tried) >= policy.tries:
        return f"{shown}; {len(case.tried)} re-measurements stayed unsure"
    return None


def conclude(verdicts: Sequence[Verdict], pairs: int) -> Reproduced:
    """What the Verdicts on the members' Metrics say together, `pairs` pairs of Runs having been measured."""
    if pairs == 0 or not verdicts:
        return Reproduced.IMPOSSIBLE
    outcomes = {verdict.outcome for verdict in verdicts}
    if Outcome.WORSE in outcomes:
        return Reproduced.YES
    return Reproduced.NO if outcomes <= {Outcome.SAME, Outcome.BETTER} else Reproduced.UNSURE
