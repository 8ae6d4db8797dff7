"""Tables and charts to be taken away: the address of a page with .csv, .json, .parquet or .png behind it is the same view."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import Response

from perfd.domain.history import History
from perfd.domain.run import OccasionKind
from perfd.domain.table import Table
from perfd.domain.verdict import Change
from perfd.errors import BadInputError
from perfd.parquet import parquet
from perfd.plots import SeriesView, series_png
from perfd.site import builds, regressions, runs, tables
from perfd.site.choosing import chosen_of
from perfd.site.comparing import question_of
from perfd.site.fresh import kept
from perfd.site.parameters import MOST_CHARACTERS, AskedWindow, Limit, Offset, SeriesId, ids_of, text
from perfd.site.rows import label
from perfd.site.series import find
from perfd.site.site import Here, Site
from perfd.site.troubles import NotHereError
from perfd.store.pages import Window
from perfd.store.records import ChangeRow, SeriesPage

router = APIRouter()
MOST_DRAWN = 8
"""Series in one picture."""
DRAWN_POINTS = 5000


class Ending(StrEnum):
    """The form of a table."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


class FormConvertor(Convertor[str]):
    """The last part of an address, which is one of the forms and nothing else: names of comparisons have points in them."""

    regex = "|".join(Ending)

    def convert(self, value: str) -> str:
        """The word as it stands."""
        return value

    def to_string(self, value: str) -> str:
        """The word as it stands."""
        return value


register_url_convertor("form", FormConvertor())
Form = Annotated[Ending, Path(description="csv, json or parquet.")]
TYPES = {Ending.CSV: "text/csv; charset=utf-8", Ending.JSON: "application/json", Ending.PARQUET: "application/vnd.apache.parquet"}


def written(table: Table, ending: Ending) -> Response:
    """The table as a file."""
    writers: dict[Ending, Callable[[], str | bytes]] = {
        Ending.CSV: table.csv,
        Ending.JSON: table.json,
        Ending.PARQUET: lambda: parquet(table),
    }
    headers = {} if ending is Ending.JSON else {"Content-Disposition": f'attachment; filename="perfd-{table.name}.{ending}"'}
    return Response(writers[ending](), media_type=TYPES[ending], headers=headers)


@router.get("/series.{ending:form}")
def series_list(request: Request, site: Here, ending: Form) -> Response:
    """Every Series that the address chooses, filtered like the list at `/`."""
    chosen = chosen_of(request)
    return kept(request, site.store.pages.version(), lambda: written(tables.series(site.store, chosen.series), ending))


@router.get("/points.{ending:form}")
def points(request: Request, site: Here, ending: Form, window: AskedWindow) -> Response:
    """The Points of the Series that `series` names: the numbers of `/charts` at the same address."""
    ids = ids_of(text(request, "series"))
    made = _points(site, ids, window)
    return kept(request, site.store.pages.version(ids), lambda: written(made(), ending))


@router.get("/charts.png")
def charts_png(request: Request, site: Here, window: AskedWindow) -> Response:
    """The first eight of the Series that `series` names, below one another."""
    ids = ids_of(text(request, "series"))[:MOST_DRAWN]
    return kept(request, site.store.pages.version(ids), lambda: _picture(site, ids, window))


@router.get("/series/{series_id:int}.png")
def one_chart(request: Request, site: Here, series_id: SeriesId, window: AskedWindow) -> Response:
    """The chart of one Series, from `start` up to `stop`."""
    return kept(request, site.store.pages.version([series_id]), lambda: _picture(site, [series_id], window))


@router.get("/series/{series_id:int}.{ending:form}")
def one_series(request: Request, site: Here, series_id: SeriesId, ending: Form, window: AskedWindow) -> Response:
    """Every Point of one Series, from `start` up to `stop`."""

    def make() -> Response:
        find(site, series_id, 0)
        return written(_points(site, [series_id], window)(), ending)

    return kept(request, site.store.pages.version([series_id]), make)


@router.get("/compare.{ending:form}")
def compare(request: Request, site: Here, ending: Form, offset: Offset = 0, limit: Limit = 500) -> Response:
    """Two nights, days or Builds Series by Series."""
    question = question_of(request, site, offset, limit)
    if question is None:
        raise BadInputError("base and head are needed: each a day (2026-11-29), a night's name, or the digest of a Build")
    return kept(request, site.store.pages.snapshot(), lambda: written(tables.comparison(site.store, question), ending))


@router.get("/compare/{name:path}.{ending:form}")
def comparison_runs(request: Request, site: Here, name: str, ending: Form) -> Response:
    """The Runs of a comparison in the order of its blocks."""
    if len(name) > MOST_CHARACTERS or not name.isprintable():
        raise BadInputError("a comparison is named by its occasion, such as compare:2026-11-29T02:00:00Z:LABEL")
    found = site.store.pages.occasion_named(name)
    if found is None or found.row.occasion.kind is not OccasionKind.COMPARE:
        raise NotHereError("There is no such comparison.")
    return kept(request, site.snapshot(), lambda: written(tables.runs(found.runs), ending))


@router.get("/regressions.{ending:form}")
def regression_list(request: Request, site: Here, ending: Form) -> Response:
    """Regressions with their members; `state` narrows the list."""
    chosen = text(request, "state")
    snapshot = site.store.pages.snapshot()
    return kept(request, snapshot, lambda: written(tables.regressions(regressions.listed(site, chosen)), ending))


@router.get("/runs/{key}.{ending:form}")
def run_samples(request: Request, site: Here, key: str, ending: Form) -> Response:
    """Every raw Sample of one Run."""
    return kept(request, site.snapshot(), lambda: written(tables.samples(runs.find(site, key)), ending))


@router.get("/builds/{name}.{ending:form}")
def build_runs(request: Request, site: Here, name: str, ending: Form) -> Response:
    """Every Run of one Build."""
    return kept(request, site.snapshot(), lambda: written(tables.runs(builds.find(site, name).runs), ending))


def _points(site: Site, ids: Sequence[int], window: Window) -> Callable[[], Table]:
    return lambda: tables.points(site.store, ids, window.start, window.stop)


def _picture(site: Site, ids: Sequence[int], window: Window) -> Response:
    return Response(picture(site, ids, window), media_type="image/png")


def picture(site: Site, ids: Sequence[int], window: Window) -> bytes:
    """These Series below one another, as PNG."""
    histories = site.store.judgements.histories(list(ids), tables.MOST_POINTS)
    return series_png([_view(find(site, one, 0), found, window) for one, found in histories.items()])


def _view(page: SeriesPage, found: History, window: Window) -> SeriesView:
    """The stretch of the Series as a picture shows it; of a very long one its end."""
    places = range(*slice(window.start, window.stop).indices(len(found)))[-DRAWN_POINTS:]
    first = places[0] if places else 0
    changes = [_shown(one, page.places[one.id] - first) for one in page.changes if page.places.get(one.id, -1) in places]
    return SeriesView(
        name=page.info.metric.name[:40],
        title=label(page.info)[:100],
        unit=page.info.metric.unit,
        values=[found.values[place] for place in places],
        better=page.info.metric.better,
        intervals=[_interval(found, place) for place in places],
        labels=[found.revisions[place][:8] for place in places],
        changes=changes,
        noise=page.verdict.noise if page.verdict else None,
    )


def _shown(one: ChangeRow, place: int) -> Change:
    return Change(place, one.kind, one.status, one.before, one.after, one.effect, one.interval)


def _interval(found: History, place: int) -> tuple[float, float] | None:
    low, high = found.lows[place], found.highs[place]
    return None if low is None or high is None else (low, high)
