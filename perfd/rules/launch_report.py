"""The report of a Launch as one document: text, JSON and pages show this and compute nothing.

Classes of Workloads stand apart and are never averaged together; a mean inside a class names the Workloads that it is over.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from perfd.domain.codec import from_json, to_json
from perfd.domain.launch import Checkpoint, LaunchFacts, Todo
from perfd.domain.metric import CATALOGUE
from perfd.domain.occasion import OccasionState
from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import Verdict
from perfd.rules.checkpoint import geometric_mean
from perfd.rules.launch_changes import brought, changed
from perfd.rules.launches import late_by, missed

_METRIC_PLACE = {metric.name: place for place, metric in enumerate(CATALOGUE)}


def launch_report(facts: LaunchFacts, now: datetime) -> dict[str, Any]:
    """Everything that is to be said of one Launch."""
    launch, first = facts.launch, facts.launch.first_day
    real = [day for day in launch.days if day >= 0]
    told = {
        "number": facts.number,
        "launch": launch.name,
        "model": launch.model,
        "engine": launch.engine,
        "at": to_json(launch.at),
        "suites": list(launch.suites),
        "first_day": first,
        "days": [_day(facts, one, now) for one in facts.checkpoints],
        "alarms": [one.sentence for one in missed(facts.checkpoints, now)],
        "classes": [_class(facts, one) for one in WorkloadClass if any(_rows(facts, one))],
        "changed": changed(facts, real),
        "brought": brought(facts, real),
        "roofline": _roofline(facts),
        "todo": [_todo(facts, one) for one in facts.todos],
    }
    return told | {"sentence": sentence(told)}


def sentence(report: Mapping[str, Any]) -> str:
    """Where the Launch stands: the newest reported day against the first, class by class, and the floor of quality."""
    reported = [one for one in report["days"] if one["state"] == "reported"]
    held = [one for one in reported if one["classes"]]
    if held:
        last = held[-1]
        classes = ", ".join(f"{name} {told['outcome']}" for name, told in last["classes"].items())
        return (
            f"Day {last['day']} against day {report['first_day']}: {classes}; the floor of quality is {last['quality']['floor']}."
        )
    if reported:
        return f"Day {reported[-1]['day']} is measured; nothing can be held against it yet."
    nxt = next((one for one in report["days"] if one["state"] in {"to come", "under way", "missed"}), None)
    if nxt is None:
        return "No day of it was ever owed."
    return f"Nothing is reported yet; day {nxt['day']} is {nxt['state']}."


def _day(facts: LaunchFacts, one: Checkpoint, now: datetime) -> dict[str, Any]:
    told = facts.reports.get(one.day, {})
    late = late_by(one)
    return {
        "day": one.day,
        "due_at": to_json(one.due_at),
        "state": state_of(one, now),
        "rehearsal": one.day < 0,
        "late_s": None if late is None else late.total_seconds(),
        "opened_at": to_json(one.opened_at),
        "closed_at": to_json(one.closed_at),
        "occasion": None if one.occasion is None else one.occasion.name,
        "runs": facts.runs.get(one.day, {}),
        "missing": told.get("missing", []),
        "findings": told.get("findings", []),
        "build": told.get("build"),
        "revision": told.get("revision"),
        "title": told.get("title", ""),
        "quality": told.get("quality"),
        "classes": told.get("classes", {}),
        "machine": told.get("machine"),
        "comparison": None if one.comparison is None else one.comparison.name,
        "why_no_comparison": one.why_no_comparison,
    }


def state_of(one: Checkpoint, now: datetime) -> str:
    """How far a Checkpoint is, in two words."""
    if not one.owed:
        return "not owed"
    if one.occasion is None:
        return "missed" if missed([one], now) else "to come"
    return "reported" if one.state is OccasionState.REPORTED else "under way"


def _rows(facts: LaunchFacts, one: WorkloadClass) -> Iterator[tuple[int, dict[str, Any]]]:
    for day in sorted(facts.reports):
        yield from ((day, row) for row in facts.reports[day].get("rows", ()) if row["class"] == one.value)


def _class(facts: LaunchFacts, one: WorkloadClass) -> dict[str, Any]:
    """The class by itself: a line for each Workload and Metric, a cell for each day, and the means inside the class."""
    lines: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    for day, row in _rows(facts, one):
        key = (row["suite"], row["workload"], row["device_class"], row["metric"])
        words = ("suite", "workload", "device_class", "metric", "unit", "better", "kind")
        line = lines.setdefault(key, {name: row[name] for name in words} | {"days": {}})
        line["days"][str(day)] = {name: row[name] for name in ("value", "interval", "n", "series", "run", "against", "machine")}
    ordered = [lines[key] for key in sorted(lines, key=lambda key: (*key[:3], _METRIC_PLACE.get(key[3], len(CATALOGUE))))]
    return {
        "class": one.value,
        "workloads": sorted({line["workload"] for line in ordered}),
        "rows": ordered,
        "means": list(_means(ordered)),
    }


def _means(lines: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Of each Metric that two or more Workloads of the class have: the geometric mean of its ratios to the first day."""
    by_metric: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        by_metric.setdefault(line["metric"], []).append(line)
    for metric, members in by_metric.items():
        days: dict[str, Any] = {}
        for day in dict.fromkeys(day for line in members for day in line["days"]):
            told = [line["days"].get(day, {}).get("against") for line in members]
            mean = None if len(members) < 2 or None in told else geometric_mean([_verdict(one) for one in told])
            if mean is not None:
                days[day] = {"effect": mean[0], "interval": list(mean[1])}
        if days:
            yield {"metric": metric, "over": [line["workload"] for line in members], "days": days}


def _verdict(against: Mapping[str, Any]) -> Verdict:
    return from_json(Verdict, {name: value for name, value in against.items() if name != "basis"})


def _roofline(facts: LaunchFacts) -> list[dict[str, Any]]:
    lines: dict[tuple[str, str, str], dict[str, Any]] = {}
    for day in sorted(facts.reports):
        for row in facts.reports[day].get("roofline", ()):
            key = (row["class"], row["workload"], row["device_class"])
            line = lines.setdefault(key, dict(zip(("class", "workload", "device_class"), key, strict=True)) | {"days": {}})
            line["days"][str(day)] = {name: row[name] for name in ("mfu", "mbu", "why")}
    return [lines[key] for key in sorted(lines)]


def _todo(facts: LaunchFacts, one: Todo) -> dict[str, Any]:
    return {
        "number": one.number,
        "title": one.title,
        "area": one.area,
        "owner": one.owner,
        "state": one.state.value,
        "note": one.note,
        "opened_at": to_json(one.opened_at),
        "moved_at": to_json(one.moved_at),
        "change": one.change,
        "comparison": one.comparison or None,
        "measured": _measured(facts, one),
    }


def _measured(facts: LaunchFacts, one: Todo) -> dict[str, Any] | None:
    """What it was measured to bring; absent while nothing shows it."""
    effect = next((effect for effect in facts.effects if effect.change == one.change), None)
    if effect is not None:
        word = "worse" if effect.worse else "better"
        told = {"outcome": word, "effect": effect.effect, "interval": effect.interval}
        return {**told, "what": f"{effect.workload} {effect.metric}", "series": effect.series}
    report = facts.comparisons.get(one.comparison)
    if report is None:
        return None
    verdict = report["verdict"]
    told = {"outcome": verdict["outcome"], "effect": verdict["effect"], "interval": verdict["interval"]}
    return {**told, "what": verdict["reason"].partition(";")[0], "series": None}


def side_by_side(reports: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A line for each class, Workload and Metric that some Launch has: its first day, its newest day, and the ratio of the two.

    Launches are laid beside each other and not compared: their Models, machines and days differ.
    """
    lines: dict[tuple[str, str, str], dict[str, Any]] = {}
    for place, report in enumerate(reports):
        for one in report["classes"]:
            for row in one["rows"]:
                key = (one["class"], row["workload"], row["metric"])
                words = dict(zip(("class", "workload", "metric"), key, strict=True))
                line = lines.setdefault(
                    key, {**words, "unit": row["unit"], "better": row["better"], "launches": [None] * len(reports)}
                )
                line["launches"][place] = _ends(report, row)
    return list(lines.values())


def _ends(report: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any] | None:
    real = [day for day in map(int, row["days"]) if day >= 0]
    if not real:
        return None
    last = row["days"][str(max(real))]
    first = row["days"].get(str(report["first_day"]))
    told = {"first": None if first is None else first["value"], "day": max(real), "value": last["value"]}
    return told | {"against": last["against"], "run": last["run"]}
