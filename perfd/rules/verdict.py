"""What is said of the newest Points of a Series: the Verdict, with the sentence that a person reads."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from perfd.domain.metric import Better, Metric
from perfd.domain.numbers import LEAST, percent, share, signed
from perfd.domain.past import Past
from perfd.domain.subject import brief
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Judgement, Outcome, Verdict
from perfd.rules.changes import standing_step
from perfd.rules.comparable import Comparable, among_all, points
from perfd.rules.level import Level
from perfd.rules.policy import DETECTOR, Policy
from perfd.stats.power import bar_of, smallest_effects
from perfd.stats.shape import effect_of
from perfd.stats.track import Replay

_FINEST = 1e-5
"""A Metric whose every change is relevant is called the same within this."""


@dataclass(frozen=True)
class Seen:
    """All that is known of the comparable Points; they are row `row` of the Replay."""

    alike: Comparable
    found: Replay
    row: int
    changes: Sequence[Change]
    level: Level | None
    """How the newest Points lie; None where too few stand at the current level."""


def conclude(seen: Seen, metric: Metric, policy: Policy, times: float = 1.0) -> Judgement:
    """The Verdict, its q so many times what it is for one Series, and the Changes, their places counted among all Points."""
    return Judgement(_verdict(seen, metric, policy, times), among_all(seen.changes, seen.alike.places))


def _verdict(seen: Seen, metric: Metric, policy: Policy, times: float) -> Verdict:
    last = len(seen.alike.values) - 1
    base = _measured(seen.found, seen.row, last, times)
    tonight = [change for change in seen.changes if change.flagged_at == last]
    if tonight:
        return _of_change(base, tonight[-1], seen.alike.points, metric)
    suspects = (change for change in seen.changes if change.status is ChangeStatus.SUSPECT)
    suspect = next((change for change in suspects if change.kind is ChangeKind.STEP), None)
    if suspect is not None:
        q = base.q if suspect.q is None else min(1.0, suspect.q * times)
        reason = _waiting(suspect, last, metric, policy)
        return replace(base, reason=reason, effect=suspect.effect, interval=suspect.interval, q=q)
    return _of_level(base, seen, metric, policy)


def moved(effect: float, before: float, metric: Metric) -> str:
    """By how much: a share, or from a level of zero, which has no shares, a difference with the Metric's unit."""
    return percent(effect) if before else f"{signed(effect, '+.3g')} {metric.unit}".rstrip()


def _waiting(suspect: Change, last: int, metric: Metric, policy: Policy) -> str:
    """Why a suspect is not told yet."""
    nights = last + 1 - suspect.index
    by = moved(suspect.effect, suspect.before, metric)
    if nights >= policy.lasting:
        return f"{by} for {nights} nights, not yet beyond what chance shows among this many Series"
    return f"{by}, seen for {nights} of the {policy.lasting} nights that tell a step from a spike"


def _measured(found: Replay, row: int, last: int, times: float) -> Verdict:
    """What every Verdict carries: noise, q, the bar, and the smallest effects that would have been found.

    q is so many times the p of the likeliest step that is not told.
    """
    track = found.tracks[row]
    scale, phi, level = (float(array[row, last]) for array in (found.scale, found.phi, found.level))
    unit = abs(level) if level else 1.0
    old = last + 1 - track.start
    noise = scale / unit
    q = min(1.0, math.exp(-max(float(found.step[row, last]), 0.0)) * times)
    known = math.isfinite(noise) and old >= 1
    bar, mde = (bar_of(noise, phi, old), smallest_effects(noise, phi, old)) if known else (None, {})
    return Verdict(Outcome.UNSURE, "", DETECTOR, last + 1, bar=bar, q=q, noise=noise, mde=mde)


def _of_change(base: Verdict, change: Change, points: Past, metric: Metric) -> Verdict:
    where, by = brief(points.revisions[change.index]), moved(change.effect, change.before, metric)
    told = replace(base, effect=change.effect, interval=change.interval, q=change.q)
    if change.kind is ChangeKind.VARIANCE:
        return replace(told, effect=None, interval=None, reason=f"the noise changed by {percent(change.effect)} from {where} on")
    if change.kind is ChangeKind.MODE:
        return replace(told, reason=f"{by}: the machine switched to a state that no Build explains")
    worse = (change.effect > 0) == (metric.better is Better.LOWER)
    word = "has drifted by" if change.kind is ChangeKind.DRIFT else "changed by"
    reason = f"{metric.name} {word} {by} since {where}{_epoch(change, points)}"
    return replace(told, outcome=Outcome.WORSE if worse else Outcome.BETTER, reason=reason)


def _epoch(change: Change, points: Past) -> str:
    """Names a changed driver, library or dependency as a suspect beside the commit."""
    new = change.index > 0 and points.epochs[change.index - 1] != points.epochs[change.index]
    return "; driver, libraries or dependencies changed on the same night" if new else ""


def _of_level(base: Verdict, seen: Seen, metric: Metric, policy: Policy) -> Verdict:
    level = seen.level
    if level is None:
        n = len(seen.alike.values) - standing_step(seen.found, seen.row)
        reason = f"{n} {points(n)} at the new level, {policy.reference + 1} are needed"
        return replace(base, reason=reason)
    effect = effect_of(level.before, level.after)
    low, high = level.interval
    relevant = max(metric.relevant, _FINEST)
    pair = _pair(level, effect, (low, high), metric)
    if -relevant <= low and high <= relevant:
        return replace(base, outcome=Outcome.SAME, reason=pair, effect=effect, interval=level.interval)
    apart = low > relevant or high < -relevant
    reason = f"{pair}: {'beyond what matters, but no lasting step yet' if apart else _still_possible(relevant)}"
    return replace(base, reason=reason, effect=effect, interval=level.interval)


def _still_possible(relevant: float) -> str:
    return f"{'a change' if relevant <= _FINEST else f'an effect of {share(relevant)}'} cannot be excluded yet"


def _pair(level: Level, effect: float, interval: tuple[float, float], metric: Metric) -> str:
    """How the newest Points lie from those before, as a sentence begins."""
    newest = "the last Point" if level.new == 1 else f"the last {level.new} Points"
    if max(map(abs, (effect, *interval))) < LEAST:
        return f"{newest} {'equals' if level.new == 1 else 'equal'} the {level.old} before"
    by, low, high = (moved(one, level.before, metric) for one in (effect, *interval))
    lies = "lies" if level.new == 1 else "lie"
    return f"{newest} {lies} {by} from the {level.old} before, 95 % within {low} to {high}"
