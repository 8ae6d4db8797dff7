"""A judgement of one Series among what else is known: of refuted nights, and of all Series of its night."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from perfd.domain.metric import Metric
from perfd.domain.run import Point
from perfd.domain.verdict import Change, ChangeStatus, Judgement, Outcome
from perfd.rules.judge import Policy, judge_series


def judge_without(points: Sequence[Point], metric: Metric, policy: Policy, refuted: AbstractSet[tuple[str, str]]) -> Judgement:
    """The judgement that the Points give without those of refuted (Build, occasion) pairs; places count among all of them.

    Re-measuring has shown that such a Point was the machine's: it must not teach the judge that a Series jumps like that, or a
    real slowdown two nights later would hide behind it. The newest Point is always judged.
    """
    last = len(points) - 1
    kept = [place for place, point in enumerate(points) if place == last or (point.build, point.occasion) not in refuted]
    judgement = judge_series([points[place] for place in kept], metric, policy)
    return Judgement(judgement.verdict, tuple(_placed(change, kept) for change in judgement.changes))


def _placed(change: Change, kept: Sequence[int]) -> Change:
    flagged = None if change.flagged_at is None else kept[change.flagged_at]
    return replace(change, index=kept[change.index], flagged_at=flagged)


def held_to_all(judgement: Judgement, controlled: Change) -> Judgement:
    """The judgement with tonight's Change as it stands among all Series; one that waits leaves the Verdict unsure."""
    changes = tuple(controlled if change.index == controlled.index else change for change in judgement.changes)
    verdict = replace(judgement.verdict, q=controlled.q)
    if controlled.status is ChangeStatus.SUSPECT and verdict.outcome in {Outcome.WORSE, Outcome.BETTER}:
        waits = f"{verdict.reason}; among all Series of the night q is {controlled.q:.2g}, and another night must show it"
        verdict = replace(verdict, outcome=Outcome.UNSURE, reason=waits)
    return Judgement(verdict, changes)
