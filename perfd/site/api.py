"""JSON under /api/v1: what the pages show, in base units and UTC."""

from dataclasses import fields
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from perfd.domain.codec import to_json
from perfd.site import believed, documents, runs, series
from perfd.site.choosing import WORDS, choose, chosen_of
from perfd.site.parameters import MOST_CHARACTERS, Limit, Offset, SeriesId
from perfd.site.rows import in_list_order
from perfd.site.sentences import night as night_sentence
from perfd.site.sentences import unmeasured
from perfd.site.site import Here
from perfd.site.status import queue, without_result
from perfd.site.templates import iso
from perfd.store.records import OccasionSummary, RegressionRow

Document = dict[str, Any]
OnlyOpen = Annotated[bool, Query(description="Only those that someone must answer.")]
router = APIRouter(prefix="/api/v1")
FILTERS: Document = {
    "parameters": [
        {
            "name": word,
            "in": "query",
            "required": False,
            "schema": {"type": "string", "maxLength": MOST_CHARACTERS},
            "description": f"Only Series with this {word}.",
        }
        for word in (*WORDS, "verdict")
    ]
}
"""Read from the request by `chosen_of`, so OpenAPI is told of them here."""


@router.get("/series", openapi_extra=FILTERS)
def list_series(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Document:
    """Series with their latest Points and Verdicts, filtered by parts of their keys; total counts before paging."""
    rows = in_list_order(choose(site.store.pages, chosen_of(request)))
    shown = rows[offset : offset + limit]
    return {"total": len(rows), "offset": offset, "limit": limit, "series": [documents.line(row) for row in shown]}


@router.get("/series/{series_id}")
def one_series(series_id: SeriesId, site: Here) -> Document:
    """One Series in columns: data is [[x…], [value…], [low…], [high…]]; points says what each is; Changes by index."""
    return documents.series(series.find(site, series_id))


@router.get("/runs/{key}")
def one_run(key: str, site: Here) -> Document:
    """One Run with its Environment, device state and every raw Sample."""
    return documents.run(runs.find(site, key))


@router.get("/regressions")
def list_regressions(site: Here, offset: Offset = 0, limit: Limit = 100, *, only_open: OnlyOpen = False) -> Document:
    """Regressions with their members and events, oldest first."""
    rows = site.store.regressions.unanswered() if only_open else site.store.regressions.every()
    shown = rows[offset : offset + limit]
    return {"total": len(rows), "offset": offset, "limit": limit, "regressions": [_regression(row) for row in shown]}


@router.get("/false-alarms")
def list_false_alarms(site: Here) -> Document:
    """How often perfd was wrong in the last thirty days: A/A comparisons called different, suspects that were not reproduced."""
    return believed.false_alarms(site, site.clock())


@router.get("/status")
def status(site: Here) -> Document:
    """Last night and next night, what is missing, queue, workers."""
    now = site.clock()
    found = site.store.pages.status()
    waiting = queue(found)
    return {
        "now": iso(now),
        "sentence": night_sentence(found.last_night, now),
        "last_night": _night(found.last_night) if found.last_night else None,
        "next_night": iso(site.next_night(now)),
        "queue": waiting | {"oldest": iso(waiting["oldest"]) if waiting["oldest"] else None},
        "workers": to_json(found.workers),
        "regressions_open": len(site.store.regressions.unanswered()),
    }


def _night(night: OccasionSummary) -> Document:
    return {
        "name": night.row.occasion.name,
        "due_at": iso(night.row.occasion.nominal_at),
        "state": night.row.state.value,
        "closed_at": iso(night.row.closed_at) if night.row.closed_at else None,
        "runs": dict(night.row.runs),
        "unmeasured": unmeasured(night.row),
        "missing": [{"run": one.key, "state": one.state.value, "reason": one.reason} for one in without_result(night)],
        "verdicts": {outcome.value: number for outcome, number in night.verdict_counts.items()},
        "findings": to_json(night.findings),
    }


def _regression(row: RegressionRow) -> Document:
    kept = {field.name for field in fields(row)} - {"members"}
    document: Document = {name: to_json(getattr(row, name)) for name in kept}
    return document | {"members": [documents.info(info) | {"change": to_json(change)} for info, change in row.members]}
