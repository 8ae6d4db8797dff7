"""The judge: the Points of one Series become a Verdict on the last one and every Change in the window.

This is the simple rule of the first night: median and MAD of the current segment against the last Points. `detected` needs
four Points in a row beyond the bar, `suspect` one, so that a spike of one to three nights is never reported as a step.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perfd.domain.metric import Better, Metric, Reduction
from perfd.domain.run import Point
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Judgement, Outcome, Verdict
from perfd.stats.reduce import Reduced, reduce_to_mean, reduce_to_median

DETECTOR = "median-mad/1"


@dataclass(frozen=True)
class Policy:
    """How strict the judge is; the defaults are what docs/detection.md is measured with."""

    reference: int = 5
    """Points that a level needs before anything is judged against it."""
    lasting: int = 4
    """Points that a new level must have held before it is `detected`; fewer may be a spike."""


def reduce_samples(values: Sequence[float], metric: Metric) -> Reduced:
    """The Samples of one Run as its Point's value, 95 % interval and n; raises nothing on one Sample."""
    numbers = np.asarray(values, dtype=np.float64)
    return reduce_to_mean(numbers) if metric.reduction is Reduction.MEAN else reduce_to_median(numbers)


def judge_series(points: Sequence[Point], metric: Metric, policy: Policy | None = None) -> Judgement:
    """The Verdict on the last Point and every Change in the window; Points in order, oldest first.

    Points on other hardware or another clock policy than the last one are left out; when that leaves too few to judge, the
    Verdict is `not comparable` and says why.
    """
    policy = policy or Policy()
    if not points:
        return Judgement(Verdict(Outcome.UNSURE, f"0 Points, {policy.reference + 1} are needed", DETECTOR, 0))
    alike = [place for place, point in enumerate(points) if point.hardware_hash == points[-1].hardware_hash]
    needed = policy.reference + 1
    if len(alike) < needed <= len(points):
        reason = f"{len(points) - len(alike)} earlier Points were measured on other hardware or another clock policy"
        return Judgement(Verdict(Outcome.NOT_COMPARABLE, reason, DETECTOR, len(alike)))
    if len(alike) < needed:
        return Judgement(Verdict(Outcome.UNSURE, f"{len(alike)} Points, {needed} are needed", DETECTOR, len(alike)))
    values = [points[place].value for place in alike]
    changes, start = _scan(values, metric, policy)
    verdict = _verdict(values, start, changes, metric, policy)
    placed = tuple(_moved(change, alike) for change in changes)
    return Judgement(verdict, placed)


def _moved(change: Change, alike: list[int]) -> Change:
    flagged = None if change.flagged_at is None else alike[change.flagged_at]
    return Change(alike[change.index], change.kind, change.status, change.before, change.after, change.effect,
                  change.interval, change.q, flagged)  # fmt: skip


def _scan(values: list[float], metric: Metric, policy: Policy) -> tuple[list[Change], int]:
    """Every Change, seen night by night, and where the current segment begins."""
    changes: list[Change] = []
    start, run = 0, 0
    for now in range(policy.reference, len(values)):
        reference = values[start : now - run]
        if len(reference) < policy.reference:
            continue
        sign = _side(values[now], reference, metric)
        same_side = run > 0 and sign == _side(values[now - 1], reference, metric)
        run = run + 1 if sign and (same_side or run == 0) else (1 if sign else 0)
        if run == policy.lasting:
            changes.append(_change(reference, values[now - run + 1 : now + 1], now - run + 1, now))
            start, run = now - run + 1, 0
    if run:
        first = len(values) - run
        changes.append(_change(values[start:first], values[first:], first, None))
    return changes, start


def _bar(reference: Sequence[float], metric: Metric) -> float:
    """The absolute distance from the reference's median beyond which a Point is outside the noise and relevant."""
    middle = float(np.median(reference))
    spread = 1.4826 * float(np.median(np.abs(np.asarray(reference) - middle)))
    small = math.sqrt(1 + 8 / len(reference))
    return max(3.5 * small * spread, 0.5 * metric.relevant * abs(middle))


def _side(value: float, reference: Sequence[float], metric: Metric) -> int:
    distance = value - float(np.median(reference))
    return 0 if abs(distance) <= _bar(reference, metric) else int(math.copysign(1, distance))


def _effect(before: float, after: float) -> float:
    return after / before - 1 if before else after - before


def _change(before: Sequence[float], after: Sequence[float], index: int, flagged: int | None) -> Change:
    was, now = float(np.median(before)), float(np.median(after))
    status = ChangeStatus.SUSPECT if flagged is None else ChangeStatus.DETECTED
    return Change(index, ChangeKind.STEP, status, was, now, _effect(was, now), None, None, flagged)


def _verdict(values: list[float], start: int, changes: list[Change], metric: Metric, policy: Policy) -> Verdict:
    latest = changes[-1] if changes else None
    n = len(values)
    if latest is not None and latest.flagged_at == n - 1:
        worse = (latest.effect > 0) == (metric.better is Better.LOWER)
        outcome = Outcome.WORSE if worse else Outcome.BETTER
        return Verdict(outcome, f"{latest.effect:+.2%} since Point {latest.index}", DETECTOR, n, latest.effect)
    if latest is not None and latest.flagged_at is None:
        reason = f"{latest.effect:+.2%}, and {n - latest.index} of {policy.lasting} Points seen: it may be a spike"
        return Verdict(Outcome.UNSURE, reason, DETECTOR, n, latest.effect)
    reference = values[start : n - 1]
    if len(reference) < policy.reference:
        reason = f"{len(reference)} Points at the new level, {policy.reference} are needed"
        return Verdict(Outcome.UNSURE, reason, DETECTOR, n)
    middle = float(np.median(reference))
    bar = _bar(reference, metric) / abs(middle) if middle else _bar(reference, metric)
    outcome = Outcome.SAME if bar <= max(metric.relevant, 1e-12) else Outcome.UNSURE
    reason = "within the noise" if outcome is Outcome.SAME else f"the noise hides effects below {bar:.2%}"
    return Verdict(outcome, reason, DETECTOR, n, _effect(middle, values[-1]), bar=bar)
