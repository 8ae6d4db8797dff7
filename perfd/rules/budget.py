"""Budgets: what has added up against a pinned release, although every single step was below the bar."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perfd.domain.metric import Better, Metric
from perfd.domain.numbers import percent, share
from perfd.domain.run import Point
from perfd.domain.verdict import Outcome, Verdict
from perfd.stats.shape import effect_of, relative_interval, robust_level, spread_of_difference

DETECTOR = "budget/1"
NEEDED = 4


@dataclass(frozen=True)
class Budget:
    """How much worse than a pinned release a Series may become, all steps together."""

    build: str
    """The pinned release's Build."""
    allowed: float
    """Relative: 0.03 is three per cent."""


def judge_budget(points: Sequence[Point], metric: Metric, budget: Budget) -> Verdict:
    """Worse when the newest Points exceed the budget for certain, same when they surely keep it, unsure between."""
    pinned = [point.value for point in points if point.build == budget.build]
    newest = [point.value for point in points[-2 * NEEDED :] if point.build != budget.build]
    if not pinned or len(newest) < NEEDED:
        reason = f"{len(pinned)} Points of the pinned release and {len(newest)} new ones, 1 and {NEEDED} are needed"
        return Verdict(Outcome.UNSURE, reason, DETECTOR, len(newest))
    old, new = np.array(pinned), np.array(newest)
    scale = _scale(np.array([point.value for point in points]))
    before, after = robust_level(old, scale), robust_level(new, scale)
    interval = relative_interval(before, after, spread_of_difference(scale, 0.2, len(old), len(new)))
    effect = effect_of(before, after)
    low, high = interval if metric.better is Better.LOWER else (-interval[1], -interval[0])
    outcome = Outcome.WORSE if low > budget.allowed else Outcome.SAME if high <= budget.allowed else Outcome.UNSURE
    between = f"{percent(interval[0])} to {percent(interval[1])}"
    reason = f"{percent(effect)} against the pinned release ({between}); {share(budget.allowed)} is allowed"
    return Verdict(outcome, reason, DETECTOR, len(new), effect, interval, budget.allowed)


def _scale(values: np.ndarray) -> float:
    """Night-to-night noise from neighbouring differences, which slow drifts and old steps hardly touch."""
    gaps = np.abs(np.diff(values))
    return max(1.4826 * float(np.median(gaps)) / float(np.sqrt(2)), 1e-12)
