"""The judge: the Points of one Series become a Verdict on its newest ones and every Change in the window.

The detector is perfd/stats/replay.py: each night is seen with only the past. This file puts its words to the numbers: what is
comparable, what a Build can be blamed for, and when "same" may be said. docs/detection.md has the method and its measured rates.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from perfd.domain.metric import Better, Metric, MetricKind, Reduction
from perfd.domain.numbers import percent, share
from perfd.domain.past import Past
from perfd.domain.run import Point
from perfd.domain.subject import brief
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Judgement, Outcome, Verdict
from perfd.rules.changes import changes_of, standing_step
from perfd.rules.level import Level, levels_of
from perfd.rules.policy import Policy
from perfd.stats.power import bar_of, smallest_effects
from perfd.stats.reduce import Reduced, reduce_to_mean, reduce_to_median
from perfd.stats.replay import replay
from perfd.stats.shape import effect_of
from perfd.stats.track import Replay

Floats = NDArray[np.float64]

DETECTOR = "evidence/3"
_WEIGHT = (ChangeKind.STEP, ChangeKind.DRIFT, ChangeKind.VARIANCE, ChangeKind.MODE, ChangeKind.TRANSIENT)
_FINEST = 1e-5
"""A Metric whose every change is relevant is called the same within this."""


@dataclass(frozen=True)
class Comparable:
    """The Points that are like the newest one, and where they stand among all."""

    points: Past
    places: Sequence[int]
    values: Floats

    @classmethod
    def of(cls, points: Sequence[Point] | Past) -> "Comparable":
        """Points on other hardware or another clock policy than the last one are left out."""
        past = Past.of(points)
        newest = past.hardware[-1]
        places: Sequence[int] = range(len(past))
        if past.hardware.count(newest) < len(past):
            places = [place for place, hardware in enumerate(past.hardware) if hardware == newest]
        kept = past.take(places)
        return cls(kept, places, kept.values)


@dataclass(frozen=True)
class Seen:
    """All that is known of the comparable Points; they are row `row` of the Replay."""

    alike: Comparable
    found: Replay
    row: int
    changes: Sequence[Change]
    level: Level | None
    """How the newest Points lie; None where too few stand at the current level."""


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
    few = too_few(len(points), len(alike.points), policy)
    if few is not None:
        return Judgement(few)
    found = replay(
        alike.values[None, :], np.array([len(alike.values)]), settle=False
    )  # a Change is known by its Build, so its place may not wander
    changes = blamed(changes_of(found, alike.values), alike.points, policy)
    return conclude(Seen(alike, found, 0, changes, levels_of(found, [alike.values], [policy])[0]), metric, policy)


def conclude(seen: Seen, metric: Metric, policy: Policy, times: float = 1.0) -> Judgement:
    """The Verdict, its q so many times what it is for one Series, and the Changes, their places counted among all Points."""
    verdict = _verdict(seen, metric, policy)
    if times > 1 and verdict.q is not None:
        verdict = replace(verdict, q=min(1.0, verdict.q * times))
    if isinstance(seen.alike.places, range):  # all Points are alike
        return Judgement(verdict, tuple(seen.changes))
    return Judgement(verdict, tuple(_moved(change, seen.alike.places) for change in seen.changes))


def blamed(changes: Sequence[Change], points: Past, policy: Policy) -> list[Change]:
    """What a person is told of: no dismissed Build, the machine's own doing as a mode, and at most one Change a Build."""
    kept = [_blamed(change, points) for change in changes if points.builds[change.index] not in policy.dismissed]
    return _one_a_build(kept, points)


def too_few(all_points: int, alike: int, policy: Policy) -> Verdict | None:
    """The Verdict where there are too few Points to judge; None where there are enough."""
    needed = policy.reference + 1
    if alike >= needed:
        return None
    if all_points >= needed:
        reason = (
            f"{all_points - alike} earlier Points were measured on other hardware or another clock policy; "
            f"{alike} of {needed} comparable ones are there"
        )
        return Verdict(Outcome.NOT_COMPARABLE, reason, DETECTOR, alike)
    return Verdict(Outcome.UNSURE, f"{alike} {_points(alike)}, {needed} are needed", DETECTOR, alike)


def _points(n: int) -> str:
    return "Point" if n == 1 else "Points"


def _moved(change: Change, alike: Sequence[int]) -> Change:
    """The Change with its places counted among all Points."""
    flagged = None if change.flagged_at is None else alike[change.flagged_at]
    return replace(change, index=alike[change.index], flagged_at=flagged)


def _blamed(change: Change, points: Past) -> Change:
    """A step between two nights of one Build, in one epoch, is the machine's: nothing that it was made of had changed."""
    if change.kind is not ChangeKind.STEP or change.index == 0:
        return change
    old, new = change.index - 1, change.index
    same = points.builds[old] == points.builds[new] and points.epochs[old] == points.epochs[new]
    return replace(change, kind=ChangeKind.MODE) if same else change


def _one_a_build(changes: Sequence[Change], points: Past) -> list[Change]:
    """At most one Change for each Build, the one that says most; a person is told of a Build once."""
    kept: dict[str, Change] = {}
    for change in sorted(changes, key=lambda change: (_WEIGHT.index(change.kind), change.status is ChangeStatus.SUSPECT)):
        kept.setdefault(points.builds[change.index], change)
    return sorted(kept.values(), key=lambda change: change.index)


def _verdict(seen: Seen, metric: Metric, policy: Policy) -> Verdict:
    last = len(seen.alike.values) - 1
    base = _measured(seen.found, seen.row, last)
    tonight = [change for change in seen.changes if change.flagged_at == last]
    if tonight:
        return _of_change(base, tonight[-1], seen.alike.points, metric)
    suspects = (change for change in seen.changes if change.status is ChangeStatus.SUSPECT)
    suspect = next((change for change in suspects if change.kind is ChangeKind.STEP), None)
    if suspect is not None:
        q = base.q if suspect.q is None else suspect.q
        reason = _waiting(suspect, last, policy)
        return replace(base, reason=reason, effect=suspect.effect, interval=suspect.interval, q=q)
    return _of_level(base, seen, metric, policy)


def _waiting(suspect: Change, last: int, policy: Policy) -> str:
    """Why a suspect is not told yet."""
    nights = last + 1 - suspect.index
    if nights >= policy.lasting:
        return f"{percent(suspect.effect)} for {nights} nights, not yet beyond what chance shows among this many Series"
    return f"{percent(suspect.effect)}, seen for {nights} of the {policy.lasting} nights that tell a step from a spike"


def _measured(found: Replay, row: int, last: int) -> Verdict:
    """What every Verdict carries: noise, q, the bar, and the smallest effects that would have been found.

    q is the p of the likeliest step that is not told, as long as no other Series is counted.
    """
    track = found.tracks[row]
    scale, phi, level = (float(array[row, last]) for array in (found.scale, found.phi, found.level))
    unit = abs(level) if level else 1.0
    old = last + 1 - track.start
    noise = scale / unit
    q = math.exp(-max(float(found.step[row, last]), 0.0))
    known = math.isfinite(noise) and old >= 1
    bar, mde = (bar_of(noise, phi, old), smallest_effects(noise, phi, old)) if known else (None, {})
    return Verdict(Outcome.UNSURE, "", DETECTOR, last + 1, bar=bar, q=q, noise=noise, mde=mde)


def _of_change(base: Verdict, change: Change, points: Past, metric: Metric) -> Verdict:
    where = brief(points.revisions[change.index])
    told = replace(base, effect=change.effect, interval=change.interval, q=change.q)
    if change.kind is ChangeKind.VARIANCE:
        return replace(told, effect=None, interval=None, reason=f"the noise changed by {percent(change.effect)} from {where} on")
    if change.kind is ChangeKind.MODE:
        return replace(told, reason=f"{percent(change.effect)}: the machine switched to a state that no Build explains")
    worse = (change.effect > 0) == (metric.better is Better.LOWER)
    word = "has drifted by" if change.kind is ChangeKind.DRIFT else "changed by"
    reason = f"{metric.name} {word} {percent(change.effect)} since {where}{_epoch(change, points)}"
    return replace(told, outcome=Outcome.WORSE if worse else Outcome.BETTER, reason=reason)


def _epoch(change: Change, points: Past) -> str:
    """Names a changed driver, library or dependency as a suspect beside the commit."""
    new = change.index > 0 and points.epochs[change.index - 1] != points.epochs[change.index]
    return "; driver, libraries or dependencies changed on the same night" if new else ""


def _of_level(base: Verdict, seen: Seen, metric: Metric, policy: Policy) -> Verdict:
    level = seen.level
    if level is None:
        n = len(seen.alike.values) - standing_step(seen.found, seen.row)
        reason = f"{n} {_points(n)} at the new level, {policy.reference + 1} are needed"
        return replace(base, reason=reason)
    effect = effect_of(level.before, level.after)
    low, high = level.interval if metric.kind is not MetricKind.STATIC or effect else (0.0, 0.0)
    relevant = max(metric.relevant, _FINEST)
    pair = _pair(level, effect, (low, high))
    if -relevant <= low and high <= relevant:
        return replace(base, outcome=Outcome.SAME, reason=pair, effect=effect, interval=level.interval)
    open_yet = "a change" if relevant <= _FINEST else f"an effect of {share(relevant)}"
    reason = f"{pair}: {open_yet} cannot be excluded yet"
    return replace(base, reason=reason, effect=effect, interval=level.interval)


def _pair(level: Level, effect: float, interval: tuple[float, float]) -> str:
    """How the newest Points lie from those before, as a sentence begins."""
    newest = "the last Point" if level.new == 1 else f"the last {level.new} Points"
    if (effect, *interval) == (0.0, 0.0, 0.0):
        return f"{newest} {'equals' if level.new == 1 else 'equal'} the {level.old} before"
    between = f"{percent(interval[0])} to {percent(interval[1])}"
    return f"{newest} {'lies' if level.new == 1 else 'lie'} {percent(effect)} from the {level.old} before, 95 % within {between}"
