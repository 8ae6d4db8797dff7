"""Budgets: a Series against the level it had at a pinned release, however small every single step since then was."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perfd.domain.budget import Budget
from perfd.domain.metric import Better, Metric, MetricKind
from perfd.domain.run import Point
from perfd.domain.suite import WorkloadClass

NEWEST = 4
"""Points that tell where a Series stands now."""
ONE_SIDED = 2.33
"""Standard deviations: an alarm is false in at most 1 % of nights on which the budget is just used up."""
JUDGED = frozenset({MetricKind.SPEED, MetricKind.QUALITY})


@dataclass(frozen=True)
class Spent:
    """How much of a budget is gone."""

    effect: float
    """The newest level over the pinned one, minus one."""
    lost: float
    """The same in the direction that is worse."""
    surely: float
    """What is lost at the least, by the noise of the Series."""
    over: bool
    back: bool
    """Whether the loss is within the budget again, by its best estimate."""


def applies(budget: Budget, subject: str, metric: Metric, workload_class: WorkloadClass) -> bool:
    """Whether the budget is for this Series."""
    wanted = metric.name == budget.metric if budget.metric else metric.kind in JUDGED
    return wanted and subject == budget.engine and budget.workload_class in {"", workload_class.value}


def spent(points: Sequence[Point], metric: Metric, budget: Budget) -> Spent | None:
    """What the Series has lost since the pinned Revision; absent where that has no Point comparable with the newest."""
    alike = [point for point in points if point.hardware_hash == points[-1].hardware_hash]
    pinned = [place for place, point in enumerate(alike) if point.revision.startswith(budget.revision)]
    newer = [point.value for point in alike[pinned[-1] + 1 :]] if pinned else []
    old = [alike[place].value for place in pinned]
    if len(newer) < NEWEST or float(np.median(old)) == 0.0:
        return None
    before, now = float(np.median(old)), float(np.median(newer[-NEWEST:]))
    effect = now / before - 1.0
    lost = effect if metric.better is Better.LOWER else -effect
    spread = _noise([point.value for point in alike]) / abs(before) * math.sqrt(1.0 / len(old) + 1.0 / NEWEST)
    surely = lost - ONE_SIDED * spread
    return Spent(effect, lost, surely, over=surely > budget.share, back=lost <= budget.share)


def _noise(values: Sequence[float]) -> float:
    """Standard deviation from night to night; differences of neighbours, so that a drift is no noise."""
    differences = np.abs(np.diff(np.asarray(values)))
    return float(1.4826 * np.median(differences) / math.sqrt(2.0)) if len(differences) else 0.0


def cause(budget: Budget, fingerprint: str) -> str:
    """The natural key of what the budget says of one Series."""
    return f"budget:{budget.revision}:{budget.share:g}:{fingerprint}"


def title(budget: Budget, subject: str, label: str, found: Spent) -> str:
    """One sentence: what is lost, against which release, and how much was allowed."""
    return f"{subject}: {label} {found.effect:+.1%} since the pinned {budget.revision[:12]}, budget {budget.share:.1%}"
