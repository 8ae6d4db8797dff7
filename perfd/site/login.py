"""Logging in and out: through GitHub, into a random session that only this browser knows."""

import hashlib
import hmac
import secrets
from typing import Annotated, cast
from urllib.parse import quote, unquote, urlencode

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from perfd.domain.account import AuditEvent, Visitor, Way
from perfd.errors import BadInputError
from perfd.forge.login import GitHubLogin
from perfd.site.site import Here, Site
from perfd.site.visitors import Asking, NotKnownError, address_of, cookie_name, is_secure
from perfd.site.writing import needs
from perfd.store.web_sessions import LASTS

router = APIRouter()
TRYING = "perfd-login"
"""The cookie of a browser that is on its way to GitHub and back."""
TRY_S = 600
BACK = "/login/github/back"
LONGEST_NEXT = 1000
HOME = "/account"
Known = Annotated[Visitor, Depends(needs(None))]


@router.get("/login")
def login(request: Request, site: Here, visitor: Asking) -> HTMLResponse:
    """How to log in here; `next` is where to go on afterwards."""
    onward = safe_next(request.query_params.get("next", ""))
    there = f"/login/github?{urlencode({'next': onward})}" if _github(request) else ""
    return site.pages.show("login.html", here=HOME, visitor=visitor, github=there, header=site.access.proxy_header)


@router.get("/login/github")
def to_github(request: Request, site: Here) -> Response:
    """The browser goes to GitHub; what it must bring back is in a cookie that only it has."""
    forge = _github(request)
    if forge is None:
        raise BadInputError(
            "nobody logs in through GitHub here: PERFD_GITHUB_CLIENT_ID and PERFD_GITHUB_CLIENT_SECRET are not set"
        )
    site.limits.take("login", address_of(request, site))
    secret = secrets.token_urlsafe(32)
    response = _onward(forge.address(_of(secret, "state"), _of(secret, "verifier"), _back(request, site)))
    value = f"{secret}.{quote(safe_next(request.query_params.get('next', '')), safe='')}"
    secure = is_secure(request, site)
    response.set_cookie(TRYING, value, max_age=TRY_S, path="/login", secure=secure, httponly=True, samesite="lax")
    return response


@router.get(BACK)
def back(request: Request, site: Here) -> Response:
    """The person is logged in with a session that is new, whatever cookie the browser had; raises NotKnownError otherwise."""
    forge = _github(request)
    address = address_of(request, site)
    site.limits.take("login", address)
    secret, _, onward = request.cookies.get(TRYING, "").partition(".")
    state, code = request.query_params.get("state", ""), request.query_params.get("code", "")
    if forge is None or not secret or not code or not hmac.compare_digest(state.encode(), _of(secret, "state").encode()):
        _record(site, "", address, "log in through GitHub", "this browser did not begin the log-in that came back")
        raise NotKnownError("this browser did not begin the log-in that came back; begin again at /login")
    person = f"github:{forge.login(code, _of(secret, 'verifier'), _back(request, site))}".casefold()
    _end_old(request, site)
    cookie = secrets.token_urlsafe(32)
    site.store.web_sessions.begin(cookie, person, (address, request.headers.get("user-agent", "")[:200]), site.clock())
    _record(site, person, address, "log in through GitHub")
    response = _onward(safe_next(unquote(onward)))
    response.delete_cookie(TRYING, path="/login")
    name, secure = cookie_name(request, site), is_secure(request, site)
    response.set_cookie(name, cookie, max_age=int(LASTS.total_seconds()), secure=secure, httponly=True, samesite="lax")
    return response


@router.post("/logout")
async def logout(request: Request, site: Here, visitor: Known) -> Response:
    """The session is over here and in the database."""
    if visitor.session_id is not None:
        await run_in_threadpool(site.store.web_sessions.end, visitor.session_id, visitor.name, site.clock())
    response = RedirectResponse(HOME, 303)
    response.delete_cookie(cookie_name(request, site), secure=is_secure(request, site), httponly=True, samesite="lax")
    return response


def safe_next(asked: str) -> str:
    """A path of this site, with its query; anything that could lead elsewhere becomes the account's page."""
    plain = asked.isascii() and asked.isprintable() and len(asked) <= LONGEST_NEXT
    return asked if plain and asked.startswith("/") and not asked.startswith("//") and "\\" not in asked else HOME


def _of(secret: str, what: str) -> str:
    return hashlib.sha256(f"{what} {secret}".encode()).hexdigest()


def _github(request: Request) -> GitHubLogin | None:
    return cast("GitHubLogin | None", request.app.state.github_login)


def _back(request: Request, site: Site) -> str:
    return f"{site.address or f'{request.url.scheme}://{request.url.netloc}'}{BACK}"


def _onward(address: str) -> RedirectResponse:
    return RedirectResponse(address, 303, {"Cache-Control": "no-store"})


def _end_old(request: Request, site: Site) -> None:
    old = request.cookies.get(cookie_name(request, site), "")
    found = site.store.web_sessions.find(old, site.clock()) if old else None
    if found is not None:
        site.store.web_sessions.end(found.id, found.person, site.clock())


def _record(site: Site, person: str, address: str, deed: str, why: str = "") -> None:
    way = Way.SESSION if person else Way.NOBODY
    site.store.audit.write(AuditEvent(site.clock(), person, way.value, address, deed, allowed=not why, why=why))
