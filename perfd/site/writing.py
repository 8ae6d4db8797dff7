"""One door for everything that not everybody may do: `needs(Right.…)` is the parameter of each such route."""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from perfd.domain.account import AuditEvent, Right, Visitor, Way
from perfd.errors import BadInputError
from perfd.rules.rights import may, roles_for
from perfd.site.site import Here, Site
from perfd.site.visitors import Asking, NotKnownError

READING = frozenset({"GET", "HEAD", "OPTIONS"})
LARGEST_FORM = 100_000
"""Bytes."""
FIELD = "csrf"
ELSEWHERE = frozenset({"cross-site", "same-site"})


class NotAllowedError(Exception):
    """The visitor may not do this; its text says why and what would be needed."""


def needs(right: Right) -> Callable[..., Awaitable[Visitor]]:
    """A dependency that answers who asks, where they may; raises NotKnownError (401), NotAllowedError (403), TooManyError (429).

    Whatever changes something is written into the audit log before it is done, and a browser must show that the form was ours:

        @router.post("/regressions/{number}/move")
        def move(visitor: Annotated[Visitor, Depends(needs(Right.TRIAGE))], fields: Fields, site: Here) -> …

    Its form holds `{{ csrf(visitor) }}` (parts.html); `Fields` reads it, bounded, after the visitor was let in.
    """

    async def let_in(request: Request, visitor: Asking, site: Here) -> Visitor:
        if request.method in READING:
            _check_role(visitor, right)
            return visitor
        if visitor.way is Way.NOBODY:
            raise _unknown(right)
        site.limits.take("write", visitor.name)
        try:
            _check_role(visitor, right)
            await _check_origin(request, visitor, site)
        except NotAllowedError as refused:
            await run_in_threadpool(record, request, visitor, site, str(refused))
            raise
        await run_in_threadpool(record, request, visitor, site)
        return visitor

    return let_in


def _check_role(visitor: Visitor, right: Right) -> None:
    if may(visitor.role, right):
        return
    if visitor.way is Way.NOBODY:
        raise _unknown(right)
    has = f"the role {visitor.role}" if visitor.role else "no role"
    raise NotAllowedError(f"only {roles_for(right)} may {right}; {visitor.name} has {has}")


def _unknown(right: Right) -> NotKnownError:
    return NotKnownError(f"only {roles_for(right)} may {right}: show a token (Authorization: Bearer …), or log in")


async def _check_origin(request: Request, visitor: Visitor, site: Site) -> None:
    """The request is meant: no page of another site made a browser send it. A token is shown by no browser on its own."""
    if visitor.way is Way.TOKEN:
        return
    origin = request.headers.get("origin")
    ours = {request.url.netloc, urlsplit(site.address).netloc}
    if (origin is not None and urlsplit(origin).netloc not in ours) or request.headers.get("sec-fetch-site") in ELSEWHERE:
        raise NotAllowedError("a page of another site may not send this")
    if _type_of(request) == "application/json":  # which no form can send, and no script of another site without asking us first
        return
    if request.url.path.startswith("/api/"):
        raise BadInputError("what is sent to the API is sent as application/json")
    given = (await fields_of(request)).get(FIELD, "")
    if not visitor.seal or not hmac.compare_digest(given.encode(), visitor.seal.encode()):
        raise NotAllowedError(
            "this form is not one that perfd made for you, or perfd was started again since; load its page again"
        )


def _type_of(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def fields_of(request: Request) -> Mapping[str, str]:
    """The fields of a form, each once; nothing where the request has no form. Raises BadInputError for a large one."""
    if _type_of(request) not in {"application/x-www-form-urlencoded", "multipart/form-data"}:
        return {}
    announced = request.headers.get("content-length", "")
    if not announced.isdigit() or int(announced[:20]) > LARGEST_FORM:
        raise BadInputError(f"a form is sent with its length, of at most {LARGEST_FORM:,} bytes")
    form = await request.form(max_files=0)
    return {name: value for name, value in form.items() if not isinstance(value, UploadFile)}


Fields = Annotated[Mapping[str, str], Depends(fields_of)]


def record(request: Request, visitor: Visitor, site: Site, why: str = "") -> None:
    """It stands in the audit log that the visitor asked for this; `why` says why they were refused."""
    deed = f"{request.method} {request.url.path}"
    site.store.audit.write(
        AuditEvent(site.clock(), visitor.name, visitor.way.value, visitor.address, deed, allowed=not why, why=why)
    )


MayWrite = Annotated[Visitor, Depends(needs(Right.UPLOAD))]
