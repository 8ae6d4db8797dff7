"""Answers that a reader may keep: a weak tag says what stood in the database, and 304 that it still stands so."""

import hashlib
from collections.abc import Callable

from fastapi import Request
from starlette.responses import Response

from perfd import HARNESS_VERSION
from perfd.site.site import site_of
from perfd.store.pages import Version


def kept(request: Request, version: str | Version, make: Callable[[], Response], *, alike: bool | None = None) -> Response:
    """304 without a body where the reader has this version of the address; otherwise what `make` makes, with its tag.

    `version` is asked of the database before the answer is made: a write in between gives an answer newer than its tag, which is
    asked for once more, and never one that is older. An answer that is `alike` for everybody who may read it, as those of the API
    are, is remembered, and made once for all of them.
    """
    asked = f"{HARNESS_VERSION} {request.url.path}?{request.url.query} {version}"
    tag = f'W/"{hashlib.sha256(asked.encode()).hexdigest()[:20]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in {one.strip() for one in request.headers.get("if-none-match", "").split(",")}:
        return Response(status_code=304, headers=headers)
    if alike is None:
        alike = request.url.path.startswith("/api/")
    response = site_of(request).memory.answer(tag, make).answer(request) if alike else make()
    if response.status_code == 200:
        response.headers.update(headers)
    return response


def this_minute(request: Request, make: Callable[[], Response], *, alike: bool | None = None) -> Response:
    """The same for an answer that tells how things stand just now: made anew when anything was written, and every minute."""
    site = site_of(request)
    return kept(request, f"{site.started} {site.clock():%Y-%m-%dT%H:%M} {site.snapshot()}", make, alike=alike)


def json_text(text: str) -> Response:
    """JSON that was written as text already."""
    return Response(text, media_type="application/json")
