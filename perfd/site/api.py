"""JSON under /api/v1: what the pages show, in base units and UTC."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from perfd.domain.codec import to_json
from perfd.domain.verdict import OPEN_STATES, RegressionState
from perfd.errors import BadInputError
from perfd.site import answers, believed, documents, found, runs, series
from perfd.site.answers import told
from perfd.site.choosing import WORDS, Choice, chosen_of
from perfd.site.comparing import question_of
from perfd.site.fresh import json_text, kept, this_minute
from perfd.site.listing import order_of
from perfd.site.parameters import AskedWindow, Limit, Offset, RunKey, SeriesId, asked, asking, ids_of, text
from perfd.site.sheets import judged
from perfd.site.site import Here
from perfd.store.pages import PARTS, Apart, Sorting

SeriesIds = Annotated[str, Query(description="Numbers of Series, with commas between them: 1,2,3.", max_length=1000)]
State = Annotated[RegressionState | None, Query(description="Only Regressions in this state.")]
OnlyOpen = Annotated[bool, Query(description="Only those that someone must answer.")]
router = APIRouter(prefix="/api/v1")
FILTERS = asking({word: f"Only Series with this {word}." for word in (*WORDS, "verdict")})
"""Read from the request by `chosen_of`, so OpenAPI is told of them here."""
SIDES = {
    "parameters": [
        asked("base", "A day (2026-11-29), a night's name, or the digest of a Build.", required=True),
        asked("head", "What is held against the base: a day, a night's name, or the digest of a Build.", required=True),
        asked("by", "The part of a key in which the sides differ; absent: they are days, nights or Builds.", words=tuple(PARTS)),
        asked("apart", "Only Series that differ so.", words=tuple(Apart)),
        asked("sort", "By which the Series are sorted.", words=tuple(Sorting)),
        *FILTERS["parameters"],
    ]
}
"""Read from the request by `question_of`."""
NARROWED = {"subject": "Only Regressions of this Engine or Kernel.", "owner": "Only Regressions of this owner."}


@router.get("/series", openapi_extra=FILTERS, responses=told(answers.SeriesPage))
def list_series(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Series with their latest Points and Verdicts, filtered by parts of their keys; total counts before paging."""
    chosen, version = chosen_of(request), site.store.pages.version()

    def make() -> Response:
        ids = order_of(site, chosen, version).ids
        shown = [documents.line(row) for row in site.store.pages.some_rows(ids[offset : offset + limit].tolist())]
        return JSONResponse({"total": len(ids), "offset": offset, "limit": limit, "series": shown})

    return kept(request, version, make)


@router.get("/latest", openapi_extra=FILTERS, responses=told(answers.Latest))
def latest(request: Request, site: Here) -> Response:
    """The last value of every Series that matches, in columns of one length: what it is, value, interval, last Verdict.

    `previous`, `week_ago` and `month_ago` are earlier values of the same Series; `measured_at` is in Unix seconds.
    """
    chosen, pages = chosen_of(request), site.store.pages
    version = pages.version()

    def make() -> Response:
        if chosen != Choice():
            return json_text(pages.latest_columns(chosen.series))
        names = site.memory.fact(("names", version.members), pages.latest_names)
        return json_text(pages.latest_of_all(names) or pages.latest_columns(chosen.series))

    return kept(request, version, make)


@router.get("/series/{series_id}", responses=told(answers.OneSeries))
def one_series(request: Request, series_id: SeriesId, site: Here, window: AskedWindow) -> Response:
    """One Series in columns: data is [[x…], [value…], [low…], [high…]]; points says what each is; Changes by index.

    x is the place in the Series. Where there are more than `most` Points from `start` up to `stop`, the lowest and the highest of
    every stretch are given, and `decimated` is true: ask for a shorter stretch to see every Point.
    """
    version = site.store.pages.version([series_id])

    def make() -> Response:
        page = series.find(site, series_id, 0, version)
        chosen = found.chosen(site, series_id, version, window)
        return json_text(documents.series(page, site.store.pages.series_columns(series_id, window, chosen), window))

    return kept(request, version, make)


@router.get("/points", responses=told(answers.Drawn))
def points(request: Request, site: Here, window: AskedWindow, series: SeriesIds) -> Response:
    """Points of up to 50 Series to be drawn: data is [[x…], [value…], [low…], [high…], [measured…]], in single precision.

    x is the place in the Series and `measured` Unix seconds; `total` counts all Points, and `most` is as for one Series.
    """
    ids, pages = ids_of(series), site.store.pages
    version = pages.version(ids)

    def make() -> Response:
        chosen = found.chosen_of_long(site, ids[0], version, window) if len(ids) == 1 else None
        drawn = [pages.chart(ids[0], window, chosen)] if chosen else pages.charts(ids, window)
        return json_text(f'{{"series":[{",".join(drawn)}]}}')

    return kept(request, version, make)


@router.get("/compare", openapi_extra=SIDES, responses=told(answers.Compared))
def compare_two(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Two nights, days or Builds (`base` and `head`) Series by Series, or two engines, devices or Models (`by`)."""
    question = question_of(request, site, offset, limit)
    if question is None:
        raise BadInputError("base and head are needed: each a day (2026-11-29), a night's name, or the digest of a Build")

    def make() -> Response:
        found = site.store.pages.differing(question)
        base, head = question.base.name, question.head.name
        total = found.counts.get(question.apart.value, 0) if question.apart else sum(found.counts.values())
        sides = {"base": base, "head": head, "counts": dict(found.counts), "total": total, "offset": offset, "limit": limit}
        means = to_json(list(judged.means(base, head, found.means)))
        return JSONResponse(sides | {"series": [documents.differing(row) for row in found.rows], "means": means})

    return kept(request, site.store.pages.version(), make)


@router.get("/runs/{key}", responses=told(answers.OneRun))
def one_run(request: Request, key: RunKey, site: Here) -> Response:
    """One Run with its Environment, device state and every raw Sample; of a long Run by try what it handed in."""

    def make() -> Response:
        page = runs.find(site, key)
        came = site.store.submissions.of_run(page.run.id)
        return JSONResponse(documents.run(page) | ({"submissions": to_json(came)} if came else {}))

    return kept(request, site.snapshot(), make)


@router.get("/regressions", openapi_extra=asking(NARROWED), responses=told(answers.RegressionPage))
def list_regressions(  # a parameter of the address each
    request: Request, site: Here, offset: Offset = 0, limit: Limit = 100, state: State = None, *, only_open: OnlyOpen = False
) -> Response:
    """Regressions with their members and events, oldest first."""
    wanted = {name: text(request, name) for name in NARROWED}

    def make() -> Response:
        rows = site.store.regressions.every(_states(state, only_open=only_open))
        found = [row for row in rows if all(value in {"", getattr(row, name)} for name, value in wanted.items())]
        shown = [documents.regression(row) for row in found[offset : offset + limit]]
        return JSONResponse({"total": len(found), "offset": offset, "limit": limit, "regressions": shown})

    return kept(request, site.store.pages.snapshot(), make)


def _states(state: RegressionState | None, *, only_open: bool) -> frozenset[RegressionState] | None:
    if state is None:
        return OPEN_STATES if only_open else None
    return frozenset({state}) & OPEN_STATES if only_open else frozenset({state})


@router.get("/false-alarms", responses=told(answers.FalseAlarms))
def list_false_alarms(request: Request, site: Here) -> Response:
    """How often perfd was wrong in the last thirty days: A/A comparisons called different, suspects that were not reproduced."""
    return this_minute(request, lambda: JSONResponse(believed.false_alarms(site, site.clock())))
