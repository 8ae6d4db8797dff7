"""Series side by side as small charts, drawn from one request."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from perfd.site.fresh import kept
from perfd.site.numbers import scale_of
from perfd.site.parameters import ids_of, text
from perfd.site.rows import label, model_of
from perfd.site.sentences import plural
from perfd.site.site import Here, Site
from perfd.site.views import saved_views
from perfd.store.records import SeriesLine

router = APIRouter()


@router.get("/charts")
def charts(request: Request, site: Here) -> Response:
    """The Series that the address names, in its order."""
    asked = text(request, "series")
    ids = ids_of(asked) if asked else []
    version = f"{site.page_version(ids)} {site.store.saved_views.version()}"
    return kept(request, version, lambda: _page(request, site, ids), alike=True)


def _page(request: Request, site: Site, ids: list[int]) -> HTMLResponse:
    rows = site.store.pages.series_lines(ids) if ids else ()
    named = ",".join(str(row.info.id) for row in rows)
    return site.pages.show(
        "charts.html",
        here="/explore",
        sentence=f"{plural(len(rows), 'Series', 'Series')} side by side." if rows else "No Series was named.",
        charts=[words(row) for row in rows],
        address=f"/api/v1/points?series={named}",
        **saved_views(request, site),
    )


def words(row: SeriesLine) -> dict[str, Any]:
    """One chart: what it shows, and how its numbers are shown."""
    info = row.info
    scale = scale_of(info.metric.unit, [*row.values, row.value])
    return {
        "id": info.id,
        "sentence": f"{label(info)}: the last Point is {f'{scale.text(row.value)} {scale.unit}'.rstrip()}.",
        "metric": info.metric.name,
        "subject": info.key.subject,
        "workload": info.workload_name,
        "model": model_of(info),
        "device": info.key.device_class,
        "latest": scale.text(row.value),
        "unit": scale.unit,
        "size": scale.size,
        "decimals": scale.decimals,
        "verdict": row.outcome.value if row.outcome else None,
        "effect": row.effect,
    }
