"""How a check ends, when a new comment is owed, and when a check must end because nothing more will come. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from perfd.domain.forge import Conclusion
from perfd.domain.verdict import Outcome


@dataclass(frozen=True)
class Said:
    """One Metric of a Workload: what was said of it, and whether it may hold the pull request up."""

    outcome: Outcome
    gates: bool


def conclude(whole: Outcome, lines: Sequence[Said], unmeasured: int) -> Conclusion:
    """The check's conclusion for what was measured; `unmeasured` counts what should have been and was not.

    Failure is for gated Series only. Anything unsure, not comparable, missing, or worse without a gate is neutral: never green.
    """
    if not lines:
        return Conclusion.ACTION_REQUIRED
    if any(line.outcome is Outcome.WORSE and line.gates for line in lines):
        return Conclusion.FAILURE
    green = whole in {Outcome.BETTER, Outcome.SAME} and not unmeasured
    return Conclusion.SUCCESS if green else Conclusion.NEUTRAL


@dataclass(frozen=True)
class Bad:
    """One Metric of a Workload that became worse."""

    loss: float
    """How much, as a positive share of the base."""
    relevant: float
    """The smallest loss that matters."""


def is_news(told: Mapping[str, float], now: Mapping[str, Bad]) -> bool:
    """Whether a new comment is owed: something is worse that was not when it was last told, or it got worse by what matters.

    An edited comment wakes nobody; a comment for every push teaches everybody to look away.
    """
    return any(name not in told or bad.loss >= told[name] + bad.relevant for name, bad in now.items())


def deadline(began_at: datetime, hours: float) -> datetime:
    """When the check of a job that began then must be over: it never stays “in progress” for ever."""
    return began_at + timedelta(hours=hours)
