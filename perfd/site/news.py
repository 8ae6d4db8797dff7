"""What has come while somebody reads: a count, so cheap that a page may ask for it every minute. No page changes by itself."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BaseModel
from starlette.responses import JSONResponse, Response

from perfd.site.fresh import kept
from perfd.site.site import Here

router = APIRouter(prefix="/api/v1")
LONGEST = timedelta(days=31)
"""Who asks for more is told of that span; nobody reads one page for longer."""
Since = Annotated[AwareDatetime, Query(description="When the page was made, with its zone: 2026-11-29T07:00:00Z.")]


class News(BaseModel):
    """How many results have come."""

    results: int


@router.get("/news", response_model=News, responses={304: {"description": "Nothing more has come."}})
def news(request: Request, site: Here, since: Since) -> Response:
    """How many Runs were done since a page was made, of the last 31 days; with an ETag that stands while nothing more comes."""
    now = site.clock()
    results = site.store.pages.results_since(max(since, now - LONGEST)) if since <= now else 0
    return kept(request, str(results), lambda: JSONResponse({"results": results}))
