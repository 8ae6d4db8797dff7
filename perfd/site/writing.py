"""One door for everything that not everybody may do: `needs(Right.…)` is the parameter of each such route."""

import hmac
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from perfd.domain.account import AuditEvent, Right, Role, Scope, Visitor, Way
from perfd.errors import BadInputError
from perfd.rules.rights import may, outside, roles_for
from perfd.site.forms import form_of
from perfd.site.site import Here, Site
from perfd.site.visitors import Asking, NotKnownError, visitor_of

READING = frozenset({"GET", "HEAD", "OPTIONS"})
FIELD = "csrf"
ELSEWHERE = frozenset({"cross-site", "same-site"})


OPEN = frozenset({"/healthz", "/login", "/login/github", "/login/github/back", "/account"})
"""What is read on a closed site by everybody: is it alive, and how do I get in."""
SCOPED = frozenset({Right.READ, Right.FOLLOW, Right.UPLOAD, Right.COMPARE})
"""What a token that is held to some Engines or devices may be good for: these routes look at which one is meant."""


class NotAllowedError(Exception):
    """The visitor may not do this; its text says why and what would be needed."""


def needs(right: Right | None) -> Callable[..., Awaitable[Visitor]]:
    """A dependency that answers who asks, where they may (None: where they are known).

    It raises NotKnownError (401), NotAllowedError (403) or TooManyError (429).
    Whatever changes something is written into the audit log before it is done, and a browser must show that the form was ours:

        @router.post("/regressions/{number}/move")
        def move(visitor: Annotated[Visitor, Depends(needs(Right.TRIAGE))], form: Form, site: Here) -> …

    Its form holds `{{ csrf(visitor) }}` (parts.html), and is read after the visitor was let in.
    """

    async def let_in(request: Request, visitor: Asking, site: Here) -> Visitor:
        if request.method in READING:
            _check_role(visitor, right)
            return visitor
        if visitor.way is Way.NOBODY:
            raise NotKnownError(_unknown(right))
        site.limits.take("write", visitor.name)
        request.state.writer = visitor
        _check_role(visitor, right)
        await _check_origin(request, visitor, site)
        await run_in_threadpool(record, request, site)
        return visitor

    return let_in


async def door(request: Request, site: Here) -> None:
    """Nothing where everybody may read this site, or whoever asks may; raises NotKnownError or NotAllowedError."""
    path = request.url.path
    if site.access.public or request.method not in READING or path in OPEN:
        return
    right = Right.FOLLOW if path.startswith("/api/v1/comparisons/") else Right.READ
    _check_role(await run_in_threadpool(visitor_of, request, site), right)


def check_scope(visitor: Visitor, engine: str, device: str | None = None) -> None:
    """Nothing where the visitor's token is good for the Engine, on the device; raises NotAllowedError otherwise."""
    why = outside(visitor.scope, engine, device)
    if why:
        raise NotAllowedError(why)


def check_own(visitor: Visitor, site: Site, job: str, *, new: bool) -> None:
    """Nothing where the job is this machine's own (`new`: from now on, where it was nobody's); raises NotAllowedError otherwise.

    Only a runner's token is held to its own jobs.
    """
    if visitor.role is not Role.RUNNER or visitor.token_id is None:
        return
    tokens = site.store.access_tokens
    own = tokens.own(visitor.token_id, job, site.clock()) if new else tokens.owns(visitor.token_id, job)
    if not own:
        raise NotAllowedError("a runner's token goes on with its own jobs only, and another one came with this")


def _check_role(visitor: Visitor, right: Right | None) -> None:
    if visitor.way is Way.NOBODY:
        raise NotKnownError(_unknown(right))
    if right is None:
        return
    if not may(visitor.role, right):
        has = f"the role {visitor.role}" if visitor.role else "no role"
        raise NotAllowedError(f"only {roles_for(right)} may {right}; {visitor.name} has {has}")
    if visitor.scope != Scope() and right not in SCOPED:
        raise NotAllowedError(f"a token that is held to engines or devices may not {right}")


def _unknown(right: Right | None) -> str:
    who = f"only {roles_for(right)} may {right}" if right else "only somebody who is known may do this"
    return f"{who}: show a token (Authorization: Bearer …), or log in"


async def _check_origin(request: Request, visitor: Visitor, site: Site) -> None:
    """The request is meant: no page of another site made a browser send it. A token is shown by no browser on its own."""
    if visitor.way is Way.TOKEN:
        return
    origin = request.headers.get("origin")
    ours = {request.url.netloc, urlsplit(site.address).netloc} - {""}  # "null", which a sandboxed frame sends, has none either
    if (origin is not None and urlsplit(origin).netloc not in ours) or request.headers.get("sec-fetch-site") in ELSEWHERE:
        raise NotAllowedError("a page of another site may not send this")
    if _type_of(request) == "application/json":  # which no form can send, and no script of another site without asking us first
        return
    if request.url.path.startswith("/api/"):
        raise BadInputError("what is sent to the API is sent as application/json")
    given = (await form_of(request)).get(FIELD, "")
    if not visitor.seal or not hmac.compare_digest(given.encode(), visitor.seal.encode()):
        raise NotAllowedError("this form was not made for you, or perfd was started again since; load its page again")


def _type_of(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def record(request: Request, site: Site, why: str = "") -> None:
    """It stands in the audit log that somebody known asked to write this; `why` says why they were refused."""
    visitor: Visitor | None = getattr(request.state, "writer", None)
    if visitor is None:
        return
    deed = f"{request.method} {request.url.path}"
    site.store.audit.write(
        AuditEvent(site.clock(), visitor.name, visitor.way.value, visitor.address, deed, allowed=not why, why=why)
    )
