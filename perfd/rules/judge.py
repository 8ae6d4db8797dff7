"""The judge: the Points of one Series become a Verdict on its newest ones and every Change in the window.

The detector is perfd/stats/replay.py: each night is seen with only the past. comparable.py decides which Points count, blame.py
what a Build can be blamed for, verdict.py when "same" may be said; counted.py is for what has no noise. docs/detection.md has the
method and its measured rates; night.py judges many Series in one pass.
"""

from collections.abc import Sequence

import numpy as np

from perfd.domain.metric import Metric, MetricKind, Reduction
from perfd.domain.run import Point
from perfd.domain.verdict import Judgement
from perfd.rules.blame import blamed
from perfd.rules.changes import changes_of
from perfd.rules.comparable import Comparable, too_few
from perfd.rules.counted import judge_counted
from perfd.rules.level import levels_of
from perfd.rules.policy import Policy
from perfd.rules.verdict import Seen, conclude
from perfd.stats.reduce import Reduced, reduce_to_mean, reduce_to_median
from perfd.stats.replay import replay


def reduce_samples(values: Sequence[float], metric: Metric) -> Reduced:
    """The Samples of one Run as its Point's value, 95 % interval and n; raises nothing on one Sample."""
    numbers = np.asarray(values, dtype=np.float64)
    return reduce_to_mean(numbers) if metric.reduction is Reduction.MEAN else reduce_to_median(numbers)


def judge_series(points: Sequence[Point], metric: Metric, policy: Policy | None = None) -> Judgement:
    """The Verdict on the newest Points and every Change in the window; Points in order, oldest first.

    Points on other hardware or another clock policy than the last one are left out; when that leaves too few to judge, the
    Verdict is `not comparable` and says why.
    """
    policy = policy or Policy()
    alike = Comparable.of(points)
    if metric.kind is MetricKind.STATIC:
        return judge_counted(alike, len(points), metric, policy)
    few = too_few(len(points), len(alike.points), policy.reference + 1)
    if few is not None:
        return Judgement(few)
    found = replay(
        alike.values[None, :], np.array([len(alike.values)]), settle=False
    )  # a Change is known by its Build, so its place may not wander
    changes = blamed(changes_of(found, alike.values), alike.points, policy)
    return conclude(Seen(alike, found, 0, changes, levels_of(found, [alike.values], [policy])[0]), metric, policy)
