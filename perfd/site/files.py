"""Tables of pages that have several, or no other file: the page's address, the table's name, and an ending.

`/status/workers.csv` is the table of workers on `/status`; `/kernels.parquet` has all numbers of `/kernels`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from perfd.domain.account import Right
from perfd.domain.occasion import Finding
from perfd.domain.run import OccasionKind
from perfd.domain.table import Table
from perfd.errors import BadInputError
from perfd.plots import SeriesView, series_png
from perfd.rules.formula import Formula
from perfd.site import launches, tables
from perfd.site.compare import find as find_comparison
from perfd.site.comparing import question_of, samples_of
from perfd.site.exports import DRAWN_POINTS, Ending, Form, written
from perfd.site.formulas import Values, daily, formulas_of
from perfd.site.fresh import kept, this_minute
from perfd.site.launches import Chosen
from perfd.site.parameters import ids_of, text
from perfd.site.sheets import judged, kernels, service, sheet, spans
from perfd.site.sheets import launches as launching
from perfd.site.site import Here, Site
from perfd.site.status import BUSY_OVER, NIGHTS
from perfd.site.troubles import NotHereError
from perfd.site.weekly import week_of
from perfd.site.writing import needs
from perfd.store.pages import OccasionFilter, Question
from perfd.store.records import UnsentRow

router = APIRouter()
Sheets = Mapping[str, Callable[[], Table]]
MOST_COMPARISONS = 10_000
MOST_DEEDS = 100_000


def answer(request: Request, sheets: Sheets, name: str, ending: Ending) -> Response:
    """The table with that name as a file; what depends on the moment is at most a minute old."""
    make = sheets.get(name)
    if make is None:
        raise NotHereError(f"This page has no table of that name; it has {', '.join(sheets)}.")
    return this_minute(request, lambda: written(make(), ending))


def only(request: Request, make: Callable[[], Table], ending: Ending) -> Response:
    """The only table of a page as a file."""
    return answer(request, {"": make}, "", ending)


@router.get("/spans.{ending:form}")
def span_file(request: Request, site: Here, ending: Form) -> Response:
    """Whether things have become better: the table of `/`."""
    return only(request, lambda: sheet("spans", spans.SpanLine, spans.lines(site)), ending)


@router.get("/charts.{ending:form}")
def chart_file(request: Request, site: Here, ending: Form) -> Response:
    """The last Points and Verdicts of the Series that `series` names."""
    ids = ids_of(text(request, "series"))
    return kept(request, site.store.pages.version(ids), lambda: written(tables.some_series(site.store, ids), ending))


@router.get("/formulas.png")
def formula_picture(request: Request, site: Here) -> Response:
    """The formulas of `/explore` below one another, a value a day."""
    asked = formulas_of(request)

    def make() -> Response:
        views = [_view(formula, known) for formula, known, _ in daily(site, asked)]
        return Response(series_png(views), media_type="image/png")

    return kept(request, site.store.pages.version(), make)


def _view(formula: Formula, known: Values) -> SeriesView:
    shown = known[-DRAWN_POINTS:]
    values, days = [value for _, value in shown], [day.isoformat() for day, _ in shown]
    return SeriesView(name="", title=formula.text[:100], unit="", values=values, labels=days)


@router.get("/formulas.{ending:form}")
def formula_file(request: Request, site: Here, ending: Form) -> Response:
    """Every value of the formulas of `/explore`, day by day."""
    asked = formulas_of(request)
    return kept(request, site.store.pages.version(), lambda: written(_formulas(site, asked), ending))


@router.get("/kernels.{ending:form}")
def kernel_file(request: Request, site: Here, ending: Form) -> Response:
    """Every number of every Kernel."""
    return only(request, lambda: sheet("kernels", kernels.KernelLine, kernels.lines(site.store)), ending)


@router.get("/launches.{ending:form}")
def launch_list_file(request: Request, site: Here, ending: Form) -> Response:
    """Every Launch and where it stands."""

    def make() -> Table:
        rows = (launching.line(one, launches.quality(one)) for one in launches.reports(site))
        return sheet("launches", launching.LaunchLine, rows)

    return only(request, make, ending)


@router.get("/launches/beside.{ending:form}")
def beside_file(request: Request, site: Here, ending: Form, chosen: Chosen = None) -> Response:
    """The Launches that `with` names side by side."""

    def make() -> Table:
        return sheet("beside", launching.BesideLine, launching.beside(launches.chosen_of(launches.reports(site), chosen)))

    return only(request, make, ending)


@router.get("/devices.{ending:form}")
def device_list_file(request: Request, site: Here, ending: Form) -> Response:
    """Every device (in that `state`) and how it stands."""
    state = text(request, "state")

    def make() -> Table:
        rows = (row for row in site.store.devices.rows() if state in {"", row.state})
        return sheet("devices", service.DeviceLine, map(service.device, rows))

    return only(request, make, ending)


@router.get("/comparisons.{ending:form}")
def comparison_list_file(request: Request, site: Here, ending: Form) -> Response:
    """Every comparison that is listed on `/compare`, the newest first."""

    def make() -> Table:
        _, rows = site.store.pages.occasion_list(OccasionFilter(OccasionKind.COMPARE), 0, MOST_COMPARISONS)
        return sheet("comparisons", judged.ComparisonLine, map(judged.comparison, rows))

    return only(request, make, ending)


@router.get("/report/{name}.{ending:form}")
def report_file(request: Request, site: Here, name: str, ending: Form) -> Response:
    """A table of a week's report: worse, better, left (Regressions to be answered), closed (answered ones) or nights."""
    week = week_of(request, site)
    pages, found = site.store.pages, site.store.regressions

    def changes(*, worse: bool) -> Callable[[], Table]:
        def make() -> Table:
            rows = (one for one in pages.found_between(week.start, week.stop) if one[1].worse is worse)
            return sheet(name, judged.ChangeLine, (judged.change(*one) for one in rows))

        return make

    held: Sheets = {
        "worse": changes(worse=True),
        "better": changes(worse=False),
        "left": lambda: tables.regressions(found.unanswered()),
        "closed": lambda: tables.regressions(week.closed(found.between(week.start, week.stop))),
        "nights": lambda: sheet("nights", service.NightLine, service.nights(pages.nights_between(week.start, week.stop))),
    }
    return answer(request, held, name, ending)


@router.get("/status/{name}.{ending:form}")
def status_file(request: Request, site: Here, name: str, ending: Form) -> Response:
    """A table of `/status`: queue, outbox, missing, builds, findings, unposted, devices, use, workers or nights."""
    now, store = site.clock(), site.store

    def last(kind: type, rows: Callable[[Any], Iterable[Any]]) -> Callable[[], Table]:
        def make() -> Table:
            night = store.pages.status().last_night
            return sheet(name, kind, rows(night) if night else ())

        return make

    def missing() -> Table:
        night = store.pages.status().last_night
        return tables.runs(night.lost if night else ())

    held: Sheets = {
        "queue": lambda: sheet("queue", service.WaitingLine, service.waiting(store.pages.waiting())),
        "outbox": lambda: sheet("outbox", UnsentRow, store.pages.unsent()),
        "missing": missing,
        "builds": last(service.FailedBuild, lambda night: service.failed_builds(night.failed_builds)),
        "findings": last(Finding, lambda night: night.findings),
        "unposted": lambda: sheet("unposted", service.NotPosted, service.not_posted(store.posts.in_trouble())),
        "devices": lambda: sheet("devices", service.DeviceLine, map(service.device, store.devices.rows())),
        "use": lambda: sheet("use", service.UseLine, service.use(store.usage.devices(now - BUSY_OVER, now))),
        "workers": lambda: sheet("workers", service.WorkerLine, service.workers(store.pages.status().workers, now)),
        "nights": lambda: sheet("nights", service.NightLine, service.nights(store.pages.nights(NIGHTS))),
    }
    return answer(request, held, name, ending)


@router.get("/audit.{ending:form}", dependencies=[Depends(needs(Right.AUDIT))])
def audit_file(request: Request, site: Here, ending: Form) -> Response:
    """Who did what, the newest first."""

    def make() -> Table:
        _, events = site.store.audit.latest(0, MOST_DEEDS)
        return sheet("audit", judged.DeedLine, map(judged.deed, events))

    return only(request, make, ending)


@router.get("/compare/means.{ending:form}")
def mean_file(request: Request, site: Here, ending: Form) -> Response:
    """The geometric means of two sides, by class and Metric."""
    asked = _question(request, site)

    def make() -> Table:
        found = site.store.pages.differing(asked)
        return sheet("means", judged.MeanLine, judged.means(asked.base.name, asked.head.name, found.means))

    return only(request, make, ending)


@router.get("/compare/samples.{ending:form}")
def side_file(request: Request, site: Here, ending: Form) -> Response:
    """The raw Samples behind both numbers of the Series that `samples` names."""
    asked = _question(request, site)
    found = samples_of(request, site, asked)
    if found is None:
        raise BadInputError("samples is the number of one Series of the table")
    return only(request, lambda: tables.sides(*found), ending)


@router.get("/compare/{name:path}/verdicts.{ending:form}")
def verdict_file(request: Request, site: Here, name: str, ending: Form) -> Response:
    """The Verdicts of a comparison, as they were reported."""
    row = find_comparison(site, name).row
    return only(request, lambda: sheet("verdicts", judged.DecidedLine, judged.decided(row)), ending)


def _question(request: Request, site: Site) -> Question:
    question = question_of(request, site, 0, 1)
    if question is None:
        raise BadInputError("base and head are needed: each a day (2026-11-29), a night's name, or the digest of a Build")
    return question


def _formulas(site: Site, asked: Sequence[Formula]) -> Table:
    values = ((formula.text, day, value) for formula, known, _ in daily(site, asked) for day, value in known)
    return tables.formulas(values)
