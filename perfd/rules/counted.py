"""What a compiler counts (registers, spills) has no noise: a count that is not what it was is a Change on its first night.

No level has to be learned, no spike has to end, and no q is to be paid: two compilations of one source agree in every count.
Where they do not, one Build was counted twice, and that is the machine's doing and no commit's.
"""

import numpy as np

from perfd.domain.metric import Better, Metric
from perfd.domain.numbers import percent
from perfd.domain.subject import brief
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Judgement, Outcome, Verdict
from perfd.rules.blame import blamed
from perfd.rules.comparable import Comparable, among_all, too_few
from perfd.rules.policy import Policy
from perfd.stats.shape import effect_of

DETECTOR = "counted/1"
NEEDED = 2
"""Points that must be there: one that was, and one that is."""
_EXACT = {4: 0.0, 7: 0.0, 14: 0.0}


def judge_counted(alike: Comparable, all_points: int, metric: Metric, policy: Policy) -> Judgement:
    """The Verdict on the newest count, and a detected Change wherever a count is not the one before."""
    few = too_few(all_points, len(alike.points), NEEDED)
    if few is not None:
        return Judgement(few)
    changes = blamed([_change(alike, int(place)) for place in np.flatnonzero(np.diff(alike.values)) + 1], alike.points, policy)
    return Judgement(_verdict(alike, changes, metric), among_all(changes, alike.places))


def _change(alike: Comparable, place: int) -> Change:
    before, after = (float(alike.values[one]) for one in (place - 1, place))
    effect = effect_of(before, after)
    return Change(
        place,
        ChangeKind.STEP,
        ChangeStatus.DETECTED,
        before,
        after,
        effect,
        interval=(effect, effect),
        q=0.0,
        flagged_at=place,
    )


def _verdict(alike: Comparable, changes: list[Change], metric: Metric) -> Verdict:
    last = len(alike.values) - 1
    before, after = (float(alike.values[one]) for one in (last - 1, last))
    effect = effect_of(before, after)
    outcome, reason = _said(alike, next((one for one in changes if one.index == last), None), metric)
    q = 1.0 if before == after else 0.0
    return Verdict(outcome, reason, DETECTOR, last + 1, effect, (effect, effect), bar=0.0, q=q, noise=0.0, mde=_EXACT)


def _said(alike: Comparable, change: Change | None, metric: Metric) -> tuple[Outcome, str]:
    before, after = alike.values[-2], alike.values[-1]
    if before == after:
        held = len(alike.values) - int(np.flatnonzero(np.append(True, alike.values[:-1] != after))[-1])
        return Outcome.SAME, f"{after:.10g} {metric.unit} on each of the last {held} nights: counted, so this is exact"
    counted = f"{before:.10g} to {after:.10g} {metric.unit}"
    if change is None:
        return Outcome.UNSURE, f"{counted}; a person has called this Build's Change noise"
    if change.kind is ChangeKind.MODE:
        return Outcome.UNSURE, f"{counted}, and the Build is the one of the night before: nothing that it was made of explains it"
    worse = (after > before) == (metric.better is Better.LOWER)
    since = brief(alike.points.revisions[-1])
    told = f"{metric.name} changed from {counted}{_ratio(change)} since {since}: counted, so this is exact"
    return Outcome.WORSE if worse else Outcome.BETTER, told


def _ratio(change: Change) -> str:
    return f" ({percent(change.effect)})" if change.before else ""
