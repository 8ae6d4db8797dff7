"""The report of a Checkpoint: every Metric on that day, against the first day, and what of it is the machine's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from perfd.domain.codec import to_json
from perfd.domain.launch import Checkpoint
from perfd.domain.metric import METRICS, Metric, MetricKind
from perfd.domain.occasion import Occasion
from perfd.domain.run import RunState
from perfd.domain.verdict import Verdict
from perfd.rules.checkpoint import Against, Basis, by_runs, floor_of
from perfd.rules.compare import combine
from perfd.rules.compare_samples import by_samples, decide_samples
from perfd.rules.launches import late_by
from perfd.stages.checkpoint_machine import Beside, Load, machine_verdicts, machine_words, read_beside, what_changed_on_it
from perfd.stages.comparison import is_told
from perfd.stages.context import Context
from perfd.store.launch_rows import LaunchRow
from perfd.store.records import OccasionSummary, RunPage, RunRow


def checkpoint_report(context: Context, occasion: Occasion) -> dict[str, Any]:
    """What the Checkpoint built and measured, every Metric against the first day, the floor of quality, and the machine."""
    summary = context.store.pages.occasion(occasion)
    found = context.store.launches.of(occasion)
    told: dict[str, Any] = {
        "occasion": occasion.name,
        "runs": dict(summary.row.runs),
        "missing": [_missing(run) for run in summary.runs if run.state in {RunState.FAILED, RunState.VOID}],
        "findings": to_json(summary.findings),
        "verdicts": {outcome.value: count for outcome, count in summary.verdict_counts.items()},
    }
    return told if found is None else told | _of_launch(context, summary, *found)


def _of_launch(context: Context, summary: OccasionSummary, row: LaunchRow, one: Checkpoint) -> dict[str, Any]:
    now = _pages(context, summary.runs)
    first = _first_day(context, row, one)
    beside = read_beside(context, one)
    noise = context.store.judgements.noise(summary.row.occasion)
    against = {
        (load, name): _against(now[load], first.get(load), beside, name, noise) for load in now for name in _names(now[load])
    }
    machine = machine_verdicts(first, beside)
    rows = [
        _row(now[load], name, against[load, name], machine.get((load[1], name))) for load in now for name in _names(now[load])
    ]
    quality = {f"{load[1]} {name}": held for (load, name), held in against.items() if METRICS[name].kind is MetricKind.QUALITY}
    floor, why = floor_of((what, held.verdict) for what, held in quality.items() if held is not None)
    late = late_by(one)
    return {
        "launch": row.launch.name,
        "day": one.day,
        "first_day": row.launch.first_day,
        "due_at": to_json(one.due_at),
        "opened_at": to_json(one.opened_at),
        "late_s": None if late is None else late.total_seconds(),
        "launched_with": to_json(one.launched_with),
        **_build(context, summary),
        "rows": rows,
        "classes": _classes(now, against),
        "quality": {"floor": floor.value, "reason": why},
        "comparison": None if one.comparison is None else one.comparison.name,
        "why_no_comparison": one.why_no_comparison,
        "machine": machine_words(machine, what_changed_on_it(context, first, beside)),
        "roofline": [_roofline(page) for page in now.values()],
    }


def _pages(context: Context, runs: Sequence[RunRow]) -> dict[Load, RunPage]:
    """Every done Run with its Samples and Points."""
    done = [run for run in runs if run.state is RunState.DONE]
    found = {(run.suite, run.workload, run.device_class): context.store.pages.run_page(run.key) for run in done}
    return {load: page for load, page in found.items() if page is not None}


def _first_day(context: Context, row: LaunchRow, one: Checkpoint) -> dict[Load, RunPage]:
    """What the first day measured; empty for that day itself, for rehearsals, and where it was never measured."""
    first = row.day(row.launch.first_day)
    if first is None or first.occasion is None or one.day <= first.day:
        return {}
    return _pages(context, context.store.pages.occasion(first.occasion).runs)


def _names(page: RunPage) -> list[str]:
    return [one.name for one in page.samples if one.name in METRICS and one.name in page.points]


def _against(now: RunPage, first: RunPage | None, beside: Beside, name: str, noise: Mapping[int, float]) -> Against | None:
    """The Metric against the first day: interleaved where both Builds were, else by the same items, else by both days' Runs."""
    interleaved = beside.verdicts.get((now.run.workload, name))
    if interleaved is not None:
        return Against(Basis.INTERLEAVED, interleaved)
    if first is None or name not in first.points:
        return None
    metric, series, point = METRICS[name], *now.points[name]
    if by_samples(metric):
        before, after = ([one.values for one in page.samples if one.name == name] for page in (first, now))
        return Against(Basis.ITEMS, decide_samples(before, after, metric).verdict)
    return Against(Basis.RUNS, by_runs(first.points[name][1], point, metric, noise.get(series)))


def _row(page: RunPage, name: str, held: Against | None, machine: Verdict | None) -> dict[str, Any]:
    metric, (series, point) = METRICS[name], page.points[name]
    return {
        "suite": page.run.suite,
        "workload": page.run.workload,
        "class": page.run.workload_class.value,
        "device_class": page.run.device_class,
        "metric": name,
        "unit": metric.unit,
        "better": metric.better.value,
        "kind": metric.kind.value,
        "value": point.value,
        "interval": point.interval,
        "n": point.n,
        "series": series,
        "run": page.run.key,
        "against": None if held is None else {"basis": held.basis.value, **to_json(held.verdict)},
        "machine": None if machine is None else to_json(machine),
    }


def _classes(now: Mapping[Load, RunPage], against: Mapping[tuple[Load, str], Against | None]) -> dict[str, Any]:
    """For each class by itself, speed and quality together; what is only told decides nothing."""
    by_class: dict[str, list[tuple[Metric, Verdict]]] = {}
    for (load, name), held in against.items():
        counts = METRICS[name].kind in {MetricKind.SPEED, MetricKind.QUALITY}
        if held is not None and counts and is_told(METRICS[name], held.verdict):
            named = replace(METRICS[name], name=f"{load[1]} {name}")
            by_class.setdefault(now[load].run.workload_class.value, []).append((named, held.verdict))
    told = {one: combine(members) for one, members in by_class.items()}
    return {one: {"outcome": verdict.outcome.value, "reason": verdict.reason[:1000]} for one, verdict in told.items()}


def _build(context: Context, summary: OccasionSummary) -> dict[str, Any]:
    """The Build that the Checkpoint is about, with its ingredients; nulls where none was planned."""
    row = next(iter(summary.builds), None)
    planned = None if row is None else context.store.builds.planned(row.digest)
    if row is None or planned is None:
        return {"build": None, "spec": None}
    where = {"branch": planned.branch, "revision": row.revision, "title": row.title, "ordinal": row.ordinal}
    return {"build": row.digest, "build_state": row.state.value, **where, "spec": to_json(planned.spec)}


def _roofline(page: RunPage) -> dict[str, Any]:
    """How far a Workload's Run was from what the device allows, or why that is not known."""
    shares = {name: page.points[name][1].value for name in ("mfu", "mbu") if name in page.points}
    use = page.extra.get("utilisation")
    why = str(use.get("why_no_share") or "") if isinstance(use, Mapping) else "its Run told nothing of what the model needed"
    told = {"workload": page.run.workload, "class": page.run.workload_class.value, "device_class": page.run.device_class}
    return {**told, "mfu": shares.get("mfu"), "mbu": shares.get("mbu"), "why": "" if shares else why or "nothing was told"}


def _missing(run: RunRow) -> dict[str, str]:
    kind = run.failure.value if run.failure else run.state.value
    return {"what": f"{run.workload_class} {run.workload}", "kind": kind, "reason": run.reason}
