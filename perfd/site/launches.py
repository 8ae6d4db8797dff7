"""Launches: the list, several side by side, and one with its days, what changed, what that brought, and what is left to do."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import HTMLResponse, Response

from perfd.domain.suite import WorkloadClass
from perfd.rules.launch_report import launch_report, side_by_side
from perfd.site.fresh import this_minute
from perfd.site.numbers import NOTHING, scale_of
from perfd.site.parameters import Limit, Offset, linker
from perfd.site.rows import CLASS_WORDS
from perfd.site.sentences import plural
from perfd.site.site import Here, Site
from perfd.site.troubles import NotHereError
from perfd.store.launch_rows import LaunchRow

MOST_BESIDE = 8
router = APIRouter()
LaunchId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The number in the Launch's address.")]
Chosen = Annotated[list[int] | None, Query(alias="with", description="Numbers of Launches to lay side by side.")]
Document = dict[str, Any]


@router.get("/launches")
def launches(request: Request, site: Here, chosen: Chosen = None, offset: Offset = 0, limit: Limit = 100) -> Response:
    """The list; with Launches named in the address, these side by side."""
    return this_minute(request, lambda: _list(request, site, chosen, (offset, limit)), alike=True)


@router.get("/launches/{number}")
def launch(request: Request, number: LaunchId, site: Here) -> Response:
    """The page of one Launch."""
    return this_minute(request, lambda: _page(report_of(site, number), site), alike=True)


def _list(request: Request, site: Site, chosen: Sequence[int] | None, page: tuple[int, int]) -> HTMLResponse:
    offset, limit = page
    found = reports(site)
    beside = chosen_of(found, chosen)
    return site.pages.show(
        "launches.html",
        here="/launches",
        sentence=_sentence(found),
        alarms=[alarm for one in found for alarm in one["alarms"]],
        launches=found[offset : offset + limit],
        total=len(found),
        offset=offset,
        limit=limit,
        link=linker(request),
        chosen={one["number"] for one in beside},
        beside=beside,
        lines=[_beside_words(line) for line in side_by_side(beside)] if beside else [],
    )


def _page(report: Document, site: Site) -> HTMLResponse:
    return site.pages.show(
        "launch.html",
        here="/launches",
        one=report,
        days=[_day_words(day) for day in report["days"]],
        classes=[_class_words(report, told) for told in report["classes"]],
        roofline=[_roofline_words(line) for line in report["roofline"]],
        todo=report["todo"],
    )


def reports(site: Site) -> list[Document]:
    """The whole report of every Launch, the newest first."""
    now = site.clock()
    return [_report(site, row, now) for row in site.store.launches.every()]


def report_of(site: Site, number: int) -> Document:
    """The whole report of one Launch; raises NotHereError where there is none."""
    found = site.store.launches.numbered(number)
    if found is None:
        raise NotHereError(f"There is no Launch {number}.")
    return _report(site, found, site.clock())


def chosen_of(found: Sequence[Document], chosen: Sequence[int] | None) -> list[Document]:
    """Those that the address names, to be laid side by side."""
    return [one for one in found if one["number"] in (chosen or ())][:MOST_BESIDE]


def quality(report: Mapping[str, Any]) -> str:
    """The floor of quality on its newest day that was held against the first; "" where there is none yet."""
    return str(((newest(report) or {}).get("quality") or {}).get("floor", ""))


def _report(site: Site, row: LaunchRow, now: datetime) -> Document:
    return launch_report(site.store.launches.facts(row), now)


def _sentence(reports: Sequence[Mapping[str, Any]]) -> str:
    if not reports:
        return "No Launch is declared yet."
    missed = sum(bool(one["alarms"]) for one in reports)
    lost = sum((newest(one) or {}).get("quality", {}).get("floor") == "lost" for one in reports)
    told = [plural(len(reports), "Launch", "Launches")]
    told += [f"{missed} with a missed Checkpoint"] if missed else []
    told += [f"{lost} below its floor of quality"] if lost else []
    return ", ".join(told) + "."


def newest(report: Mapping[str, Any]) -> dict[str, Any] | None:
    """The newest reported day that was held against the first one."""
    held = [day for day in report["days"] if day["state"] == "reported" and day["classes"]]
    return held[-1] if held else None


def _day_words(day: Mapping[str, Any]) -> Document:
    planned = sum(day["runs"].values())
    return {
        **day,
        "due_at": datetime.fromisoformat(day["due_at"]),
        "runs": f"{day['runs'].get('done', 0)} of {planned}" if day["occasion"] else NOTHING,
        "address": quote(day["comparison"], safe="") if day["comparison"] else None,
    }


def _class_words(report: Mapping[str, Any], told: Mapping[str, Any]) -> Document:
    """A class as a table: a column of values for each day, then a column of ratios for each day that has any."""
    days = [str(day["day"]) for day in report["days"] if any(str(day["day"]) in row["days"] for row in told["rows"])]
    later = [day for day in days if any(row["days"].get(day, {}).get("against") for row in told["rows"])]
    return {
        "word": CLASS_WORDS[WorkloadClass(told["class"])],
        "workloads": told["workloads"],
        "days": days,
        "later": later,
        "first": report["first_day"],
        "rows": [_row_words(row, days, later) for row in told["rows"]],
        "means": list(_mean_words(told)),
    }


def _row_words(row: Mapping[str, Any], days: Sequence[str], later: Sequence[str]) -> Document:
    cells = [row["days"].get(day) for day in days]
    scale = scale_of(row["unit"], [None if cell is None else cell["value"] for cell in cells])
    return {
        "workload": row["workload"],
        "metric": row["metric"],
        "unit": scale.unit,
        "better": row["better"],
        "cells": [
            {"text": scale.text(None if cell is None else cell["value"]), "run": (cell or {}).get("run")} for cell in cells
        ],
        "ratios": [(row["days"].get(day) or {}).get("against") for day in later],
        "series": next((cell["series"] for cell in reversed(cells) if cell is not None), None),
    }


def _mean_words(told: Mapping[str, Any]) -> Iterator[Document]:
    for mean in told["means"]:
        for day, found in mean["days"].items():
            yield {"metric": mean["metric"], "over": ", ".join(mean["over"]), "day": day, **found}


def _roofline_words(line: Mapping[str, Any]) -> Document:
    """A Workload's shares by day; days on which the same is to be said are one line."""
    found: dict[tuple[Any, ...], list[str]] = {}
    for day, told in line["days"].items():
        found.setdefault((told["mfu"], told["mbu"], told["why"]), []).append(day)
    days = [{"day": ", ".join(days), "mfu": mfu, "mbu": mbu, "why": why} for (mfu, mbu, why), days in found.items()]
    return {"workload": line["workload"], "days": days}


def _beside_words(line: Mapping[str, Any]) -> Document:
    values = [None if one is None else one["value"] for one in line["launches"]]
    scale = scale_of(line["unit"], values)
    cells = [None if one is None else {**one, "text": scale.text(one["value"])} for one in line["launches"]]
    word = CLASS_WORDS[WorkloadClass(line["class"])]
    return {"class": word, "workload": line["workload"], "metric": line["metric"], "unit": scale.unit, "cells": cells}
