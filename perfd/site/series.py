"""One Series: a chart, the same numbers as a table, its Changes, and what is measured."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from perfd.domain.verdict import Verdict
from perfd.errors import BadInputError
from perfd.site import documents, found, sentences
from perfd.site.fresh import kept
from perfd.site.marking import marks_of
from perfd.site.numbers import effect_between, percent, percents, scale_of
from perfd.site.parameters import MOST_POINTS, Rows, SeriesId
from perfd.site.rows import better_word, change_word, line
from perfd.site.site import Here, Site
from perfd.site.troubles import NotHereError
from perfd.site.viewing import View, axis, beside, lines, view_of
from perfd.store.pages import Sibling, Version
from perfd.store.records import PointLine, SeriesLine, SeriesPage

router = APIRouter()
IN_TABLE = 30
"""Older Points stay in the chart and in the JSON; `rows` asks for more of them."""


@router.get("/series/{series_id}")
def series(request: Request, series_id: SeriesId, site: Here, rows: Rows = IN_TABLE) -> Response:
    """The page of one Series."""
    view = view_of(request)
    members = site.version().members
    siblings = site.memory.fact(("siblings", series_id, members), lambda: site.store.pages.siblings(series_id))
    own = site.store.pages.version([series_id])
    version = f"{site.page_version(view.over) if view.over else site.started} {own} {members}"
    # One line more than are shown, so that the oldest has its change against the one before.
    return kept(request, version, lambda: _page(site, find(site, series_id, rows + 1, own), rows, view, siblings), alike=True)


def _page(site: Site, page: SeriesPage, rows: int, view: View, siblings: tuple[Sibling, ...]) -> HTMLResponse:
    verdict = page.verdict
    drawn = axis(site, page, view)
    laid = _laid(site, page, view.over)
    return site.pages.show(
        "series.html",
        sentence=sentences.series(page),
        series=_words(page),
        scale=scale_of(page.info.metric.unit, page.extent),
        view=view,
        axis=drawn,
        marks=marks_of(site, page, view.builds),
        beside=beside(siblings, view.over),
        over=lines([row.info for row in laid], drawn.scale),
        over_rows=[line(row) for row in laid],
        points=table(page.points)[-rows:],
        total=page.total,
        most=MOST_POINTS,
        rows=rows,
        changes=[one._asdict() for one in _changes(page)],
        last_word=verdict.outcome.value if verdict else None,
        last_effect=verdict.effect if verdict else None,
        last_reason=verdict.reason if verdict else "It was not judged yet.",
        verdict_facts=facts(verdict) if verdict else (),
    )


def find(site: Site, series_id: int, last: int | None = None, version: Version | None = None) -> SeriesPage:
    """The Series with its (last) Points; raises NotHereError where there is none.

    With its version, what only all its Points can tell is told as it was remembered under it.
    """
    extent = found.extent(site, series_id, version) if version else None
    page = site.store.pages.series_page(series_id, last, extent)
    if page is None:
        raise NotHereError(f"There is no Series {series_id}.")
    return page


def _laid(site: Site, page: SeriesPage, over: tuple[int, ...]) -> list[SeriesLine]:
    """This Series and those that are laid over it, in the order of the address; none without any.

    Raises NotHereError for one that is none, and BadInputError for one with another unit.
    """
    if not over:
        return []
    rows = {row.info.id: row for row in site.store.pages.series_lines([page.info.id, *over])}
    missing = [str(one) for one in over if one not in rows]
    if missing:
        raise NotHereError(f"There is no Series {', '.join(missing)} with Points to lay over this one.")
    laid = [rows[one] for one in dict.fromkeys((page.info.id, *over)) if one in rows]
    other = next((row.info for row in laid if row.info.metric.unit != page.info.metric.unit), None)
    if other is not None:
        raise BadInputError(
            f"Series {other.id} is in {other.metric.unit or 'no unit'} and this one in {page.info.metric.unit or 'no unit'}: "
            "one chart has one unit; /charts shows them side by side"
        )
    return laid


def table(lines: Sequence[PointLine]) -> list[tuple[PointLine, float | None]]:
    """The Points in order, each with its change against the one before."""
    before = (None, *(line.value for line in lines))
    return [(line, effect_between(value, line.value)) for value, line in zip(before, lines, strict=False)]


def facts(verdict: Verdict) -> list[tuple[str, str]]:
    """What the last Verdict was held to; what it does not know is left out."""
    told = [
        ("Judged by", f"{verdict.detector}, on {sentences.plural(verdict.n, 'Point')}"),
        ("Effect", f"{percent(verdict.effect)} {percents(verdict.interval)}" if verdict.effect is not None else ""),
        ("Bar", percent(verdict.bar).lstrip("+") if verdict.bar is not None else ""),
        ("q, among all Series of that night", f"{verdict.q:.2g}" if verdict.q is not None else ""),
        ("Noise from night to night", percent(verdict.noise).lstrip("+") if verdict.noise is not None else ""),
        ("Smallest effect found with 90 % power", _mde(verdict)),
    ]
    return [(word, value) for word, value in told if value]


def _mde(verdict: Verdict) -> str:
    return ", ".join(
        f"{percent(effect).lstrip('+')} after {nights} night{'' if nights == 1 else 's'}"
        for nights, effect in sorted(verdict.mde.items())
    )


class _ChangeLine(NamedTuple):
    build: str
    revision: str
    title: str
    word: str
    effect: float
    before: float
    after: float
    interval: tuple[float, float] | None
    status: str
    kind: str


def _changes(page: SeriesPage) -> list[_ChangeLine]:
    return [
        _ChangeLine(
            one.build,
            one.revision,
            one.title,
            change_word(one).rstrip("?"),
            one.effect,
            one.before,
            one.after,
            one.interval,
            one.status.value if one.gone_at is None else "no longer seen",
            one.kind.value,
        )
        for one in reversed(page.changes)
    ]


def _words(page: SeriesPage) -> dict[str, Any]:
    info = page.info
    return documents.info(info) | {
        "better": better_word(info.metric),
        "sentence": info.metric.sentence,
        "workload_class": info.workload_class.value,
        "question": page.workload.question,
    }
