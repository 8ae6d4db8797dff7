"""From a number on a page to the one command that measures it again: the Run that it comes from."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from perfd.domain.codec import to_json
from perfd.errors import BadInputError
from perfd.site import answers
from perfd.site.answers import told
from perfd.site.fresh import kept
from perfd.site.parameters import MOST_CHARACTERS, SeriesId, digest, text
from perfd.site.reproduce import recipe
from perfd.site.runs import find
from perfd.site.site import Here, Site
from perfd.site.templates import short
from perfd.site.troubles import NotHereError

router = APIRouter()
api = APIRouter(prefix="/api/v1")
Of = Annotated[
    str, Query(max_length=MOST_CHARACTERS, description="A day, a night's name or the digest of a Build; absent: the last Point.")
]
Before = Annotated[str, Query(max_length=64, description="The digest of a Build: the last Point before its first one.")]


@router.get("/series/{series_id}/how")
def how(request: Request, series_id: SeriesId, site: Here) -> Response:
    """On to the command on the page of the Run that the number comes from; with a script it is shown beside the number."""
    return RedirectResponse(f"/runs/{_run(request, site, series_id)}#reproduce", 303)


@api.get("/series/{series_id}/reproduce", responses=told(answers.Reproduce))
def reproduce(request: Request, series_id: SeriesId, site: Here, of: Of = "", before: Before = "") -> Response:
    """The one command that measures a Point of a Series again: its last one, that of a night or a Build, or before a Build."""
    _ = (of, before)  # said for OpenAPI; read as hostile text below
    version = site.store.pages.version([series_id])
    return kept(request, version, lambda: JSONResponse(to_json(recipe(find(site, _run(request, site, series_id))))))


def _run(request: Request, site: Site, series_id: int) -> str:
    """The Run that the address means; raises NotHereError or BadInputError."""
    of, before = text(request, "of"), text(request, "before")
    if of and before:
        raise BadInputError("of names a side and before a Build: one of them is enough")
    side = site.store.pages.side(of) if of else None
    if of and side is None:
        raise NotHereError(f"There is no night and no Build {short(of, 80)}.")
    found = site.store.pages.origin(series_id, side, digest(before, "Build") if before else "")
    if found is None:
        raise NotHereError(f"Series {series_id} has no such Point.")
    return found
