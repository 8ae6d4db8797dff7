"""Saved views: names for addresses of pages, which everybody sees and their owners forget again."""

from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from perfd.domain.account import Right, Role, Visitor
from perfd.domain.view import PAGES, SavedView
from perfd.errors import BadInputError
from perfd.rules.rights import may
from perfd.site.answers import told
from perfd.site.forms import Form
from perfd.site.fresh import kept
from perfd.site.lists import matching, page
from perfd.site.parameters import Limit, Offset, asking
from perfd.site.sentences import plural
from perfd.site.site import Here, Site
from perfd.site.templates import short
from perfd.site.troubles import NotHereError
from perfd.site.visitors import Asking
from perfd.site.writing import NotAllowedError, needs

router = APIRouter()
api = APIRouter(prefix="/api/v1")
Saver = Annotated[Visitor, Depends(needs(Right.SAVE))]
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]
LONGEST_NAME = 60
LONGEST_ADDRESS = 2000
MOST = 100
"""Views of one owner: a longer list is found in by nobody."""


NARROWED = {"owner": "Only views of this owner."}


class Views(BaseModel):
    """A page of the saved views."""

    total: int
    offset: int
    limit: int
    views: list[SavedView]


@router.get("/views")
def views(request: Request, site: Here, visitor: Asking) -> HTMLResponse:
    """All of them, and the form that saves the address which the page before this one had."""
    asked = request.query_params.get("address", "")  # longer than other words of an address, and never shown as it came
    address = address_of(asked) if asked else ""
    found = site.store.saved_views.every()
    return site.pages.show(
        "views.html",
        here="/explore",
        sentence=f"{plural(len(found), 'saved view')}." if found else "No view is saved yet.",
        visitor=visitor,
        may_save=may(visitor.role, Right.SAVE),
        address=address,
        views=[_words(one, visitor) for one in found],
        longest=LONGEST_NAME,
    )


@router.post("/views")
def save(site: Here, visitor: Saver, form: Form) -> Response:
    """The name stands for the address, and everybody sees it."""
    name, address = form.get("name", "").strip(), address_of(form.get("address", ""))
    if not any(map(_seen, name)) or len(name) > LONGEST_NAME:
        raise BadInputError(f"a view needs a name of at most {LONGEST_NAME} characters, one of which can be seen")
    own = {one.name for one in site.store.saved_views.every() if one.owner == visitor.name}
    if name not in own and len(own) >= MOST:
        raise BadInputError(f"you have {MOST} saved views, which is the most; forget one first")
    site.store.saved_views.save(name, address, visitor.name, site.clock())
    return RedirectResponse("/views", 303)


@router.post("/views/{number}/forget")
def forget(number: Number, site: Here, visitor: Saver) -> Response:
    """There is no such view any more."""
    found = site.store.saved_views.find(number)
    if found is None:
        raise NotHereError(f"There is no saved view {number}.")
    if not _may_forget(found, visitor):
        raise NotAllowedError(f"only {short(found.owner, 80)} or an admin may forget this view")
    site.store.saved_views.forget(number)
    return RedirectResponse("/views", 303)


@api.get("/views", openapi_extra=asking(NARROWED), responses=told(Views))
def list_views(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Saved views by name: each a name for the address of a page, and who gave it."""

    def make() -> Response:
        return JSONResponse(page("views", matching(request, site.store.saved_views.every(), NARROWED), offset, limit))

    return kept(request, site.store.saved_views.version(), make)


def _seen(character: str) -> bool:
    """Whether it leaves a mark: a name of spaces of no width would be a link that nobody can follow."""
    return character.isprintable() and not character.isspace()


def address_of(given: str) -> str:
    """Path and query of a page of this site whose address holds a whole view; raises BadInputError for anything else."""
    try:
        parts = urlsplit(given)
    except ValueError:  # two strokes and half a bracket, or the like
        parts = urlsplit("")
    if len(given) > LONGEST_ADDRESS or parts.scheme or parts.netloc or parts.path not in PAGES:
        raise BadInputError(f"a view is an address of {' or '.join(PAGES)} of at most {LONGEST_ADDRESS:,} characters")
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name != "offset"])
    return f"{parts.path}?{query}" if query else parts.path


def saved_views(request: Request, site: Site) -> dict[str, Any]:
    """What a page says of saved views: all of them, and where its own address is saved."""
    own = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    return {"save_at": f"/views?{urlencode({'address': own})}", "saved": site.store.saved_views.every()}


def _words(one: SavedView, visitor: Visitor) -> dict[str, Any]:
    return {"view": one, "mine": _may_forget(one, visitor)}


def _may_forget(one: SavedView, visitor: Visitor) -> bool:
    return visitor.role == Role.ADMIN or (may(visitor.role, Right.SAVE) and one.owner == visitor.name)
