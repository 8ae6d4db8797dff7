"""report: a judged occasion is closed with its report, and messages leave the outbox."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from perfd.domain.codec import to_json
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import OccasionKind, RunState
from perfd.domain.verdict import RegressionState
from perfd.stages.comparison import Comparison, Line, look
from perfd.stages.context import Context
from perfd.store.records import OccasionSummary, RegressionRow, RunRow

AGAIN_AFTER = timedelta(minutes=5)
ALARMING = frozenset({RegressionState.DETECTED, RegressionState.CONFIRMED})


def report(context: Context) -> bool:
    """One message is delivered, or one judged occasion is closed; False when there is neither."""
    return _deliver(context) or _close(context)


def _deliver(context: Context) -> bool:
    message = context.store.outbox.claim(context.now(), AGAIN_AFTER)
    if message is None:
        return False
    context.tell.say("report", f"{message.kind}: {message.payload.get('title', '')}")
    return context.store.outbox.sent(message, context.now())


def _close(context: Context) -> bool:
    occasion = context.store.occasions.in_state(OccasionState.JUDGED)
    if occasion is None:
        return False
    compares = occasion.kind is OccasionKind.COMPARE
    told = comparison_report(look(context, occasion)) if compares else night_report(context, occasion)
    return context.store.occasions.close(occasion, told, context.now())


def night_report(context: Context, occasion: Occasion) -> dict[str, Any]:
    """What the night built, measured and judged, what is missing, and which Regressions it raised."""
    summary = context.store.pages.occasion_named(occasion.name)
    if summary is None:
        return {}
    raised = [row for row in context.store.regressions.every() if _raised_since(row, summary)]
    return {
        "occasion": occasion.name,
        "runs": dict(summary.row.runs),
        "missing": [_missing(run) for run in summary.runs if run.state in {RunState.FAILED, RunState.VOID}],
        "builds": {state: sum(build.state == state for build in summary.builds) for state in {b.state for b in summary.builds}},
        "verdicts": {outcome.value: count for outcome, count in summary.verdict_counts.items()},
        "findings": to_json(summary.findings),
        "regressions": [{"regression": row.id, "title": row.title, "state": row.state.value} for row in raised],
    }


def _raised_since(row: RegressionRow, summary: OccasionSummary) -> bool:
    return any(event.to_state in ALARMING and event.at >= summary.row.opened_at for event in row.events)


def _missing(run: RunRow) -> Mapping[str, str]:
    return {
        "what": f"{run.workload_class} {run.workload} on {run.subject} {run.revision[:12]}",
        "kind": run.failure.value if run.failure else run.state.value,
        "reason": run.reason,
    }


def comparison_report(found: Comparison) -> dict[str, Any]:
    """The comparison's rows and its Verdict."""
    return {
        "verdict": to_json(found.verdict),
        "rows": [_row(line) for line in found.lines],
        "failures": list(found.failures),
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
    }
