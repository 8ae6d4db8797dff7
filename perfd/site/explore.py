"""Explore: any subset of Series at once as small charts from one request, ratios and formulas of Series, and saved views."""

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from perfd.rules.formula import Formula
from perfd.site.charts import words
from perfd.site.choosing import Choice, chosen_of, parts_of
from perfd.site.formulas import drawn, formulas_of
from perfd.site.fresh import kept
from perfd.site.listing import order_of
from perfd.site.parameters import Offset, linker
from perfd.site.sentences import plural
from perfd.site.site import Here, Site
from perfd.site.views import saved_views

router = APIRouter()
AT_ONCE = 20


@router.get("/explore")
def explore(request: Request, site: Here, offset: Offset = 0) -> Response:
    """Series whose keys have the parts that the address names, and its formulas."""
    chosen, formulas = chosen_of(request), formulas_of(request)
    version = f"{site.page_version()} {site.store.saved_views.version()}"
    return kept(request, version, lambda: _page(request, site, (chosen, formulas), offset), alike=True)


def _page(request: Request, site: Site, asked: tuple[Choice, list[Formula]], offset: int) -> HTMLResponse:
    chosen, formulas = asked
    ids = order_of(site, chosen, site.version()).ids
    rows = site.store.pages.series_lines(ids[offset : offset + AT_ONCE].tolist())
    named = ",".join(str(row.info.id) for row in rows)
    filtered = chosen != Choice()
    return site.pages.show(
        "explore.html",
        here="/explore",
        sentence=_sentence(len(ids), filtered=filtered),
        parts=parts_of(site.choices(), chosen),
        filtered=filtered,
        formulas=drawn(site, formulas),
        texts=[one.text for one in formulas],
        charts=[words(row) for row in rows],
        address=f"/api/v1/points?series={named}",
        total=len(ids),
        offset=offset,
        limit=AT_ONCE,
        link=linker(request),
        **saved_views(request, site),
    )


def _sentence(total: int, *, filtered: bool) -> str:
    if not total:
        return "No Series has these parts." if filtered else "Nothing has been measured yet."
    return f"{plural(total, 'Series', 'Series')}{' with these parts' if filtered else ''}."
