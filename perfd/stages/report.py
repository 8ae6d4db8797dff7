"""report: a judged occasion is closed with its report, and messages leave the outbox."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from perfd.domain.codec import to_json
from perfd.domain.metric import MetricKind
from perfd.domain.numbers import moved
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import OccasionKind, RunState
from perfd.domain.subject import brief
from perfd.rules.aa import alarm_rate
from perfd.rules.compare import ComparePolicy, combine, course
from perfd.rules.confirm import OPEN
from perfd.rules.regressions import OPENING
from perfd.stages.aa import look_at_itself
from perfd.stages.about import about
from perfd.stages.answer import is_failing, surroundings
from perfd.stages.checkpoint import is_waited_for
from perfd.stages.checkpoint_report import checkpoint_report
from perfd.stages.comparison import Comparison, Line, is_told, look
from perfd.stages.context import Context
from perfd.stages.labels import label
from perfd.stages.night_budget import spending
from perfd.stages.notify import hand_on, notify
from perfd.stages.proposal import account
from perfd.stages.telling import KIND, WINDOW, tell_due
from perfd.store.records import ChangeRow, JudgedSeries, OccasionSummary, RegressionRow, RunRow, SeriesInfo

BOTH = (MetricKind.SPEED, MetricKind.QUALITY)


def report(context: Context) -> bool:
    """One message is handed on or delivered, or one judged occasion is closed; False when there is none of that."""
    return hand_on(context) or notify(context) or _close(context)


def _close(context: Context) -> bool:
    occasion = next(
        (one for one in context.store.occasions.every_in_state(OccasionState.JUDGED) if not _waits(context, one)), None
    )
    if occasion is None:
        return False
    with about(occasion=occasion.name):
        return context.store.occasions.close(occasion, _told(context, occasion), context.now())


def _waits(context: Context, occasion: Occasion) -> bool:
    """Whether a night or a Checkpoint is still measured again, or against itself: its report tells what came of that."""
    if occasion.kind is OccasionKind.CHECKPOINT:
        return is_waited_for(context, occasion)
    if occasion.kind is not OccasionKind.NIGHT:
        return False
    unsettled = {row.occasion for row in context.store.confirmations.unsettled()}
    beside = context.store.occasions.beside(occasion)
    return any(state is not OccasionState.REPORTED or one in unsettled for one, state in beside.items())


def _told(context: Context, occasion: Occasion) -> dict[str, Any]:
    if occasion.kind is OccasionKind.AA:
        lines, verdict = look_at_itself(context, occasion)
        return {"verdict": to_json(verdict), "rows": [_row(line) for line in lines], "failures": []}
    if occasion.kind is OccasionKind.COMPARE:
        return comparison_report(context, occasion, look(context, occasion))
    if occasion.kind is OccasionKind.CHECKPOINT:
        return checkpoint_report(context, occasion)
    tell_due(context)
    return night_report(context, occasion)


def night_report(context: Context, occasion: Occasion) -> dict[str, Any]:
    """What the night built, measured and judged, what is missing, which Regressions it raised, and how far to believe it."""
    summary = context.store.pages.occasion(occasion)
    states = {build.state for build in summary.builds}
    told = context.store.outbox.since(KIND, summary.row.opened_at)
    return {
        "occasion": occasion.name,
        "runs": dict(summary.row.runs),
        "missing": [_missing(run) for run in summary.runs if run.state in {RunState.FAILED, RunState.VOID}],
        "builds": {state: sum(build.state == state for build in summary.builds) for state in states},
        "subjects": subject_verdicts(summary),
        "verdicts": {outcome.value: count for outcome, count in summary.verdict_counts.items()},
        "findings": to_json(summary.findings),
        "regressions": [dict(message.payload) for message in told],
        "suspects": [_suspect(row) for row in context.store.regressions.unanswered() if row.state in OPEN],
        "improvements": improvements(context, summary),
        "false_alarms": false_alarms(context),
        "spending": spending(context, summary),
        "bisections": [account(row) for row in context.store.bisects.since(summary.row.opened_at)],
    }


def _suspect(row: RegressionRow) -> dict[str, Any]:
    return {"regression": row.id, "title": row.title, "state": row.state.value}


def subject_verdicts(summary: OccasionSummary) -> list[dict[str, Any]]:
    """For each Build that the night judged, speed and quality together: the answer, and the number that leads on either side."""
    judged = [one for one in summary.verdicts if one.latest is not None and is_told(one.info.metric, one.verdict)]
    by_build: dict[tuple[str, str, str], list[JudgedSeries]] = {}
    for one in judged:
        point = one.latest.point if one.latest else None
        if point is not None:
            by_build.setdefault((one.info.key.subject, point.revision, point.build), []).append(one)
    return [_subject(*key, members) for key, members in sorted(by_build.items())]


def _subject(subject: str, revision: str, build: str, members: Sequence[JudgedSeries]) -> dict[str, Any]:
    verdict = combine([(one.info.metric, one.verdict) for one in members])
    sides = {side.value: _leading([one for one in members if one.info.metric.kind is side]) for side in BOTH}
    whole = {"outcome": verdict.outcome.value, "reason": verdict.reason[:500]}
    return {"subject": subject, "revision": revision, "build": build, **whole, **sides}


def _leading(members: Sequence[JudgedSeries]) -> dict[str, Any] | None:
    """The Metric that speaks loudest on one side, by its effect over its bar; absent where none was measured."""
    if not members:
        return None
    verdict = combine([(one.info.metric, one.verdict) for one in members])
    loudest = max(members, key=lambda one: (one.verdict.outcome is verdict.outcome, abs(one.verdict.effect or 0.0)))
    words = {"metric": loudest.info.key.metric, "workload": loudest.info.workload_name}
    return {"outcome": verdict.outcome.value, **words, "effect": loudest.verdict.effect, "interval": loudest.verdict.interval}


def improvements(context: Context, summary: OccasionSummary) -> list[dict[str, Any]]:
    """What became better: Changes that this night was the first to call detected, many at one Build as one."""
    occasion = summary.row.occasion
    found = context.store.judgements.detected_since(occasion, summary.row.opened_at)
    by_build: dict[tuple[str, str, str], list[tuple[SeriesInfo, ChangeRow]]] = {}
    for info, change in found:
        if not change.worse and change.kind in OPENING:
            by_build.setdefault((info.key.subject, change.build, change.revision), []).append((info, change))
    return [_improvement(subject, revision, members) for (subject, _, revision), members in by_build.items()]


def _improvement(subject: str, revision: str, members: Sequence[tuple[SeriesInfo, ChangeRow]]) -> dict[str, Any]:
    info, change = max(members, key=lambda one: abs(one[1].effect))
    more = f" and {len(members) - 1} more Series" if len(members) > 1 else ""
    by = moved(change.effect, change.before, change.after)
    title = f"{subject}: {label(info)} {by}{more} since {brief(revision)} {change.title}".rstrip()
    return {"subject": subject, "revision": revision, "title": title, "series": [one.id for one, _ in members]}


def false_alarms(context: Context) -> dict[str, Any]:
    """How often perfd was wrong in the last thirty days, with its interval and counts."""
    found = context.store.trust.false_alarms(context.now() - WINDOW)
    rate = alarm_rate(found.aa_different + found.refuted, found.aa + found.remeasured)
    return {"days": WINDOW.days, **to_json(found), **to_json(rate)}


def _missing(run: RunRow) -> Mapping[str, str]:
    return {
        "what": f"{run.workload_class} {run.workload} on {run.subject} {brief(run.revision)}",
        "kind": run.failure.value if run.failure else run.state.value,
        "reason": run.reason,
    }


def comparison_report(context: Context, occasion: Occasion, found: Comparison) -> dict[str, Any]:
    """The comparison's rows and its Verdict, where it was measured, and how far its Series are to be believed."""
    around = surroundings(context, occasion, found.lines)
    return {
        "verdict": to_json(found.verdict),
        "rows": [{**_row(line), "fails_itself": is_failing(around, line)} for line in found.lines],
        "failures": list(found.failures),
        "device": around.device,
        "environment": around.environment,
        "alarms": around.alarms,
    }


def _row(line: Line) -> dict[str, Any]:
    return {
        "workload": line.workload,
        "class": line.workload_class,
        "model": line.model,
        "metric": line.metric.name,
        "unit": line.metric.unit,
        "better": line.metric.better.value,
        "base": line.base,
        "head": line.head,
        "pairs": len(line.pairs),
        "verdict": to_json(line.decision.verdict),
        "course": list(_course(line)),
    }


def _course(line: Line) -> Iterator[dict[str, Any]]:
    """Every pair with what all pairs up to it say; nothing where something else than pairs decided."""
    if not line.signs:
        return
    told = course(line.pairs, line.metric, ComparePolicy().shared(line.together), line.signs)
    for (base, head), sign, verdict in zip(line.pairs, line.signs, told, strict=True):
        yield {
            "base": base,
            "head": head,
            "base_first": sign > 0,
            "effect": verdict.effect,
            "interval": verdict.interval and list(verdict.interval),
        }
