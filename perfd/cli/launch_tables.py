"""Launches as people read them on a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from perfd.cli.tables import MARKS, number
from perfd.domain.subject import brief
from perfd.domain.verdict import Outcome

DASH = "-"


def listed(launches: Sequence[Mapping[str, Any]]) -> Table:
    """A line for every Checkpoint."""
    table = _table("", ("launch", "day", "due (UTC)", "state", "runs done", "quality", "beside the first day"))
    for one in launches:
        for place, day in enumerate(one["days"]):
            name = f"{one['model']} on {one['engine']}" if place == 0 else ""
            table.add_row(name, str(day["day"]), _moment(day["due_at"]), _state(day), _runs(day), _floor(day), _beside(day))
        table.add_section()
    return table


def show(console: Console, reports: Sequence[Mapping[str, Any]], beside: Sequence[Mapping[str, Any]]) -> None:
    """Every Launch by itself; several also side by side."""
    if not reports:
        console.print("There are no launches yet; `perfd launch add MODEL --engine E --at TIME` declares one.", markup=False)
    for report in reports:
        _one(console, report)
    if beside:
        console.print(_laid(reports, beside))


def _one(console: Console, report: Mapping[str, Any]) -> None:
    console.print(f"{report['launch']}, launched {_moment(report['at'])} UTC", markup=False, style="bold")
    console.print(report["sentence"], markup=False)
    for alarm in report["alarms"]:
        console.print(f"ALARM: {alarm}", markup=False)
    console.print(listed([report]))
    for one in report["classes"]:
        console.print(_class(report, one))
        for line in _means(report, one):
            console.print(line, markup=False)
    for line in (*_words(report), *_changed(report), *_brought(report), *_roofline(report)):
        console.print(line, markup=False)
    if report["todo"]:
        console.print(todo(report["todo"]))
    else:
        console.print("Nothing is on the list of what is still to be done.", markup=False)


def _class(report: Mapping[str, Any], one: Mapping[str, Any]) -> Table:
    days = [str(day["day"]) for day in report["days"] if any(str(day["day"]) in row["days"] for row in one["rows"])]
    later = [day for day in days if any(row["days"].get(day, {}).get("against") for row in one["rows"])]
    table = _table(
        one["class"], ("workload", "metric", *(f"day {day}" for day in days), *(f"{_first(report)} → {day}" for day in later))
    )
    for row in one["rows"]:
        values = [number(row["days"][day]["value"], row["unit"]) if day in row["days"] else DASH for day in days]
        table.add_row(row["workload"], row["metric"], *values, *(_ratio(row["days"].get(day)) for day in later))
    return table


def _first(report: Mapping[str, Any]) -> str:
    return str(report["first_day"])


def _ratio(cell: Mapping[str, Any] | None) -> str:
    against = None if cell is None else cell["against"]
    if against is None:
        return DASH
    effect = "" if against["effect"] is None else f"{against['effect']:+.1%} "
    interval = "[{:+.1%}, {:+.1%}] ".format(*against["interval"]) if against["interval"] else ""
    return f"{effect}{interval}{MARKS[Outcome(against['outcome'])]} ({against['basis']})"


def _means(report: Mapping[str, Any], one: Mapping[str, Any]) -> Iterator[str]:
    for mean in one["means"]:
        for day, told in mean["days"].items():
            interval = "[{:+.1%}, {:+.1%}]".format(*told["interval"])
            yield (
                f"  {mean['metric']} {_first(report)} → {day}: {told['effect']:+.1%} {interval}, "
                f"geometric mean over {', '.join(mean['over'])}"
            )


def _words(report: Mapping[str, Any]) -> Iterator[str]:
    for day in report["days"]:
        if day["state"] != "reported":
            continue
        if day["classes"]:
            yield f"Day {day['day']}, quality: the floor is {day['quality']['floor']} ({day['quality']['reason']})"
            machine = day["machine"]
            moved = f"; changed on it: {machine['changed']}" if machine["changed"] else ""
            yield f"Day {day['day']}, machine: {machine['outcome']} ({machine['reason']}){moved}"
        if day["why_no_comparison"]:
            yield f"Day {day['day']}, nothing beside it: {day['why_no_comparison']}"
        yield from (f"Day {day['day']}, not measured: {one['what']}: {one['reason']}" for one in day["missing"])
        yield from (f"Day {day['day']}, {one['stage']}: {one['sentence']}" for one in day["findings"])


def _changed(report: Mapping[str, Any]) -> Iterator[str]:
    for span in report["changed"]:
        between = f"Day {span['from']} → {span['to']}"
        if not span["items"]:
            yield f"{between}: nothing changed"
        yield from (f"{between}, {one['what']}: {one['before']} → {one['after']}" for one in span["items"])
        yield from (f"{between}, commit {brief(one['revision'])} {one['title']}".rstrip() for one in span["commits"])
        if span["commits_total"] > len(span["commits"]):
            yield f"{between}: and {span['commits_total'] - len(span['commits'])} commits before these"


def _brought(report: Mapping[str, Any]) -> Iterator[str]:
    for one in report["brought"]:
        interval = "" if one["interval"] is None else " [{:+.1%}, {:+.1%}]".format(*one["interval"])
        word = "worse" if one["worse"] else "better"
        between = "day {} → {}".format(*one["between"])
        yield (
            f"Change {one['change']} ({one['status']}), {between}: {one['workload']} {one['metric']} "
            f"{one['effect']:+.1%}{interval} {word}, since {brief(one['revision'])} {one['title']}".rstrip()
        )


def _roofline(report: Mapping[str, Any]) -> Iterator[str]:
    for line in report["roofline"]:
        said: dict[str, list[str]] = {}
        for day, told in line["days"].items():
            shares = ", ".join(f"{name} {told[name]:.1%}" for name in ("mfu", "mbu") if told[name] is not None)
            said.setdefault(shares or f"not measured, {told['why']}", []).append(day)
        yield from (f"Roofline, {line['workload']}, day {', '.join(days)}: {sentence}" for sentence, days in said.items())


def todo(found: Sequence[Mapping[str, Any]]) -> Table:
    """The list of what is still to be done."""
    table = _table("still on the list", ("number", "area", "what", "owner", "state", "measured effect"))
    for one in found:
        table.add_row(str(one["number"]), one["area"], one["title"], one["owner"] or DASH, one["state"], _measured(one))
    return table


def _measured(one: Mapping[str, Any]) -> str:
    told = one["measured"]
    if told is None:
        return DASH
    effect = "" if told["effect"] is None else f" {told['effect']:+.1%}"
    return f"{told['what']}:{effect} {told['outcome']}"[:120]


def _laid(reports: Sequence[Mapping[str, Any]], beside: Sequence[Mapping[str, Any]]) -> Table:
    names = tuple(name for report in reports for name in (report["launch"], "against its first day"))
    table = _table("side by side: each against its own first day", ("class", "workload", "metric", *names))
    for line in beside:
        cells = [cell for one in line["launches"] for cell in _ends(one, line["unit"])]
        table.add_row(line["class"], line["workload"], line["metric"], *cells)
    return table


def _ends(one: Mapping[str, Any] | None, unit: str) -> tuple[str, str]:
    return (DASH, DASH) if one is None else (f"{number(one['value'], unit)} (day {one['day']})", _ratio(one))


def checkpoint_line(told: Mapping[str, Any]) -> str:
    """A Checkpoint that was just reported, in one line."""
    runs = told.get("runs", {})
    lost = runs.get("failed", 0) + runs.get("void", 0)
    floor = f"; the floor of quality is {told['quality']['floor']}" if told.get("classes") else ""
    return f"{told['occasion']}: {runs.get('done', 0)} runs measured, {lost} not{floor}"


def _table(title: str, names: Sequence[str]) -> Table:
    table = Table(title=title or None, title_justify="left", pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def _moment(text: str) -> str:
    return text[:16].replace("T", " ")


def _state(day: Mapping[str, Any]) -> str:
    late = "" if day["late_s"] is None else f", {day['late_s'] / 3600:.1f} h late"
    return str(day["state"]) + (" (rehearsal)" if day["rehearsal"] else "") + late


def _runs(day: Mapping[str, Any]) -> str:
    planned = sum(day["runs"].values())
    return f"{day['runs'].get('done', 0)} of {planned}" if day["occasion"] else DASH


def _floor(day: Mapping[str, Any]) -> str:
    return str(day["quality"]["floor"]) if day["classes"] else DASH


def _beside(day: Mapping[str, Any]) -> str:
    return "interleaved" if day["comparison"] else day["why_no_comparison"] or DASH
