"""Which Series a budget of the configuration is for, and what is said when one is overspent; perfd/rules/budget.py decides."""

from collections.abc import Sequence

from perfd.domain.budget import Budget
from perfd.domain.metric import Metric, MetricKind
from perfd.domain.numbers import percent, share
from perfd.domain.run import Point
from perfd.domain.subject import brief
from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import Verdict

JUDGED = frozenset({MetricKind.SPEED, MetricKind.QUALITY})


def applies(budget: Budget, subject: str, metric: Metric, workload_class: WorkloadClass) -> bool:
    """Whether the budget is for this Series."""
    wanted = metric.name == budget.metric if budget.metric else metric.kind in JUDGED
    return wanted and subject == budget.engine and budget.workload_class in {"", workload_class.value}


def pinned_build(budget: Budget, points: Sequence[Point]) -> str | None:
    """The Build of the pinned Revision that has been measured last; absent where none was."""
    return next((point.build for point in reversed(points) if point.revision.startswith(budget.revision)), None)


def comparable(points: Sequence[Point]) -> Sequence[Point]:
    """Those of the Points that were measured as the newest was: same hardware, same clock policy."""
    return [point for point in points if point.hardware_hash == points[-1].hardware_hash]


def cause(budget: Budget, fingerprint: str) -> str:
    """The natural key of what the budget says of one Series."""
    return f"budget:{budget.revision}:{budget.share:g}:{fingerprint}"


def title(budget: Budget, subject: str, label: str, verdict: Verdict) -> str:
    """One sentence: what is lost, against which release, and how much was allowed."""
    lost = f"{percent(verdict.effect or 0.0)} since the pinned {brief(budget.revision)}"
    return f"{subject}: {label} {lost}, budget {share(budget.share)}"
