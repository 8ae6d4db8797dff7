"""Launches: days, numbers by class, what changed, what Changes brought, roofline, and what is left; read from their reports."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from perfd.rules.launch_report import side_by_side

Report = Mapping[str, Any]


@dataclass(frozen=True)
class LaunchLine:
    """A Launch and where it stands."""

    launch: int
    model: str
    engine: str
    at: datetime
    first_day: int | None
    stands: str
    days: str
    quality: str
    """The floor of quality on the newest day that was held against the first."""


@dataclass(frozen=True)
class DayLine:
    """A Checkpoint."""

    launch: int
    day: int
    due_at: datetime
    state: str
    late_s: float | None
    build: str | None
    revision: str | None
    title: str
    runs_done: int
    runs_planned: int
    quality: str | None
    quality_reason: str | None
    machine: str | None
    machine_reason: str | None
    comparison: str | None
    why_no_comparison: str


@dataclass(frozen=True)
class NumberLine:
    """A Metric of a Workload on one day, with its ratio to the first day."""

    launch: int
    workload_class: str
    suite: str
    workload: str
    device_class: str
    metric: str
    unit: str
    better: str
    day: int
    value: float
    low: float | None
    high: float | None
    n: int
    series: int
    run: str
    outcome: str | None
    effect: float | None
    effect_low: float | None
    effect_high: float | None
    basis: str | None
    """interleaved, items or runs of both days."""


@dataclass(frozen=True)
class ChangedLine:
    """What differs between two days."""

    launch: int
    from_day: int
    to_day: int
    what: str
    before: str
    after: str


@dataclass(frozen=True)
class BroughtLine:
    """A Change between two days."""

    launch: int
    change: int
    series: int
    workload_class: str
    workload: str
    metric: str
    word: str
    effect: float
    low: float | None
    high: float | None
    status: str
    from_day: int
    to_day: int
    build: str
    revision: str
    title: str
    regression: int | None


@dataclass(frozen=True)
class RooflineLine:
    """Shares of what the device allows."""

    launch: int
    workload_class: str
    workload: str
    device_class: str
    day: int
    mfu: float | None
    mbu: float | None
    why: str


@dataclass(frozen=True)
class TodoLine:
    """An optimisation that a Launch can still use."""

    launch: int
    number: int
    title: str
    area: str
    owner: str
    state: str
    note: str
    opened_at: datetime
    moved_at: datetime
    change: int | None
    comparison: str | None
    outcome: str | None
    effect: float | None


@dataclass(frozen=True)
class BesideLine:
    """A Metric of one of the Launches that are laid side by side: its newest day against its own first."""

    workload_class: str
    workload: str
    metric: str
    unit: str
    better: str
    launch: int
    name: str
    first: float | None
    day: int
    value: float
    outcome: str | None
    effect: float | None


def line(report: Report, quality: str) -> LaunchLine:
    """The Launch in a line."""
    days = ", ".join(f"{day['day']} {day['state']}" for day in report["days"])
    named = (report["number"], report["model"], report["engine"], _at(report["at"]), report["first_day"])
    return LaunchLine(*named, report["sentence"], days, quality)


def days(report: Report) -> Iterator[DayLine]:
    """Its Checkpoints."""
    same = ("day", "state", "late_s", "build", "revision", "title", "comparison", "why_no_comparison")
    for day in report["days"]:
        quality, machine = day["quality"] or {}, day["machine"] or {}
        yield DayLine(
            launch=report["number"],
            due_at=_at(day["due_at"]),
            runs_done=day["runs"].get("done", 0),
            runs_planned=sum(day["runs"].values()),
            quality=quality.get("floor"),
            quality_reason=quality.get("reason"),
            machine=machine.get("outcome"),
            machine_reason=machine.get("reason"),
            **{name: day[name] for name in same},
        )


def numbers(report: Report) -> Iterator[NumberLine]:
    """Every number of every class and day; classes stay apart by their column."""
    for told in report["classes"]:
        for row in told["rows"]:
            what = {name: row[name] for name in ("suite", "workload", "device_class", "metric", "unit", "better")}
            for day, cell in row["days"].items():
                yield _number(report["number"], told["class"], what, int(day), cell)


def _number(launch: int, workload_class: str, what: Mapping[str, Any], day: int, cell: Mapping[str, Any]) -> NumberLine:
    against = cell["against"] or {}
    low, high = _ends(cell["interval"])
    effect_low, effect_high = _ends(against.get("interval"))
    return NumberLine(
        launch=launch,
        workload_class=workload_class,
        **what,
        day=day,
        low=low,
        high=high,
        outcome=against.get("outcome"),
        effect=against.get("effect"),
        effect_low=effect_low,
        effect_high=effect_high,
        basis=against.get("basis"),
        **{name: cell[name] for name in ("value", "n", "series", "run")},
    )


def changed(report: Report) -> Iterator[ChangedLine]:
    """What changed from day to day."""
    for span in report["changed"]:
        for item in span["items"]:
            yield ChangedLine(report["number"], span["from"], span["to"], item["what"], item["before"], item["after"])


def brought(report: Report) -> Iterator[BroughtLine]:
    """What Changes brought."""
    same = ("change", "series", "workload", "metric", "effect", "status", "build", "revision", "title", "regression")
    for one in report["brought"]:
        low, high = _ends(one["interval"])
        yield BroughtLine(
            launch=report["number"],
            workload_class=one["class"],
            word="worse" if one["worse"] else "better",
            low=low,
            high=high,
            from_day=one["between"][0],
            to_day=one["between"][1],
            **{name: one[name] for name in same},
        )


def roofline(report: Report) -> Iterator[RooflineLine]:
    """How far Workloads were from the roofline."""
    for row in report["roofline"]:
        for day, told in row["days"].items():
            where = (row["class"], row["workload"], row["device_class"], int(day))
            yield RooflineLine(report["number"], *where, told["mfu"], told["mbu"], told["why"])


def todo(report: Report) -> Iterator[TodoLine]:
    """What is still on its list."""
    same = ("number", "title", "area", "owner", "state", "note", "change", "comparison")
    for one in report["todo"]:
        measured = one["measured"] or {}
        yield TodoLine(
            launch=report["number"],
            opened_at=_at(one["opened_at"]),
            moved_at=_at(one["moved_at"]),
            outcome=measured.get("outcome"),
            effect=measured.get("effect"),
            **{name: one[name] for name in same},
        )


def beside(reports: Sequence[Report]) -> Iterator[BesideLine]:
    """Launches side by side, a line a Metric and Launch."""
    for row in side_by_side(reports):
        what = (row["class"], row["workload"], row["metric"], row["unit"], row["better"])
        for report, cell in zip(reports, row["launches"], strict=True):
            if cell is not None:
                against = cell["against"] or {}
                ends = (cell["first"], cell["day"], cell["value"])
                yield BesideLine(*what, report["number"], report["launch"], *ends, against.get("outcome"), against.get("effect"))


def _at(moment: str) -> datetime:
    return datetime.fromisoformat(moment)


def _ends(interval: Sequence[float] | None) -> tuple[float | None, float | None]:
    return (interval[0], interval[1]) if interval else (None, None)
