"""JSON under /api/v1: what the pages show, in base units and UTC."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from perfd.domain.codec import to_json
from perfd.errors import BadInputError
from perfd.site import answers, believed, documents, runs, series
from perfd.site.answers import told
from perfd.site.choosing import WORDS, chosen_of
from perfd.site.comparing import question_of
from perfd.site.fresh import json_text, kept
from perfd.site.parameters import MOST_CHARACTERS, AskedWindow, Limit, Offset, RunKey, SeriesId, ids_of
from perfd.site.rows import CLASS_WORDS
from perfd.site.sentences import night as night_sentence
from perfd.site.sentences import unmeasured
from perfd.site.site import Here
from perfd.site.status import queue, without_result
from perfd.site.templates import iso
from perfd.store.pages import Apart, Sorting
from perfd.store.records import NightSummary

Document = dict[str, Any]
SeriesIds = Annotated[str, Query(description="Numbers of Series, with commas between them: 1,2,3.", max_length=1000)]
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


def _word(name: str, sentence: str, *, required: bool = False, words: tuple[str, ...] = ()) -> Document:
    schema: Document = {"type": "string", "maxLength": MOST_CHARACTERS} | ({"enum": ["", *words]} if words else {})
    return {"name": name, "in": "query", "required": required, "schema": schema, "description": sentence}


SIDES: Document = {
    "parameters": [
        _word("base", "A day (2026-11-29), a night's name, or the digest of a Build.", required=True),
        _word("head", "What is held against the base: a day, a night's name, or the digest of a Build.", required=True),
        _word("apart", "Only Series that differ so.", words=tuple(Apart)),
        _word("sort", "By which the Series are sorted.", words=tuple(Sorting)),
        *FILTERS["parameters"],
    ]
}
"""Read from the request by `question_of`."""


@router.get("/series", openapi_extra=FILTERS, responses=told(answers.SeriesPage))
def list_series(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Series with their latest Points and Verdicts, filtered by parts of their keys; total counts before paging."""
    chosen = chosen_of(request)

    def make() -> Response:
        found = site.store.pages.series_list(chosen.series, tuple(CLASS_WORDS), offset, limit)
        shown = [documents.line(row) for row in found.rows]
        return JSONResponse({"total": found.total, "offset": offset, "limit": limit, "series": shown})

    return kept(request, site.store.pages.version(), make)


@router.get("/latest", openapi_extra=FILTERS, responses=told(answers.Latest))
def latest(request: Request, site: Here) -> Response:
    """The last value of every Series that matches, in columns of one length: what it is, value, interval, last Verdict.

    `previous`, `week_ago` and `month_ago` are earlier values of the same Series; `measured_at` is in Unix seconds.
    """
    chosen = chosen_of(request)
    return kept(request, site.store.pages.version(), lambda: json_text(site.store.pages.latest_columns(chosen.series)))


@router.get("/series/{series_id}", responses=told(answers.OneSeries))
def one_series(request: Request, series_id: SeriesId, site: Here, window: AskedWindow) -> Response:
    """One Series in columns: data is [[x…], [value…], [low…], [high…]]; points says what each is; Changes by index.

    x is the place in the Series. Where there are more than `most` Points from `start` up to `stop`, the lowest and the highest of
    every stretch are given, and `decimated` is true: ask for a shorter stretch to see every Point.
    """

    def make() -> Response:
        page = series.find(site, series_id, 1)
        return json_text(documents.series(page, site.store.pages.series_columns(series_id, window), window))

    return kept(request, site.store.pages.version([series_id]), make)


@router.get("/points", responses=told(answers.Drawn))
def points(request: Request, site: Here, window: AskedWindow, series: SeriesIds) -> Response:
    """Points of up to 50 Series to be drawn: data is [[x…], [value…], [low…], [high…], [measured…]], in single precision.

    x is the place in the Series and `measured` Unix seconds; `total` counts all Points, and `most` is as for one Series.
    """
    ids = ids_of(series)

    def make() -> Response:
        return json_text(f'{{"series":[{",".join(site.store.pages.charts(ids, window))}]}}')

    return kept(request, site.store.pages.version(ids), make)


@router.get("/compare", openapi_extra=SIDES, responses=told(answers.Compared))
def compare_two(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Document:
    """Two nights, days or Builds (`base` and `head`) Series by Series; `apart` filters, `sort` is noise, effect or name."""
    question = question_of(request, site, offset, limit)
    if question is None:
        raise BadInputError("base and head are needed: each a day (2026-11-29), a night's name, or the digest of a Build")
    found = site.store.pages.differing(question)
    shown = [documents.differing(row) for row in found.rows]
    sides = {"base": question.base.name, "head": question.head.name}
    return sides | {"counts": dict(found.counts), "offset": offset, "limit": limit, "series": shown}


@router.get("/runs/{key}", responses=told(answers.OneRun))
def one_run(key: RunKey, site: Here) -> Document:
    """One Run with its Environment, device state and every raw Sample; of a long Run by try what it handed in."""
    page = runs.find(site, key)
    came = site.store.submissions.of_run(page.run.id)
    return documents.run(page) | ({"submissions": to_json(came)} if came else {})


@router.get("/regressions", responses=told(answers.RegressionPage))
def list_regressions(site: Here, offset: Offset = 0, limit: Limit = 100, *, only_open: OnlyOpen = False) -> Document:
    """Regressions with their members and events, oldest first."""
    rows = site.store.regressions.unanswered() if only_open else site.store.regressions.every()
    shown = rows[offset : offset + limit]
    return {"total": len(rows), "offset": offset, "limit": limit, "regressions": [documents.regression(row) for row in shown]}


@router.get("/false-alarms")
def list_false_alarms(site: Here) -> Document:
    """How often perfd was wrong in the last thirty days: A/A comparisons called different, suspects that were not reproduced."""
    return believed.false_alarms(site, site.clock())


@router.get("/status", responses=told(answers.Status))
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


def _night(night: NightSummary) -> Document:
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
