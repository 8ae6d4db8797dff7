"""Who may write through the site. Today that is whoever sits at this machine; accounts and tokens take this function's place."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request

LOOPBACK = frozenset({"127.0.0.1", "::1"})
HERE = LOOPBACK | {"localhost"}
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


class NotAllowedError(Exception):
    """The request may not write here; its text says why and what to do."""


def may_write(request: Request) -> None:
    """Nothing where the request comes from this machine itself; raises NotAllowedError otherwise.

    A proxy on this machine also connects from loopback, so that what it passes on is refused; and so is what a page of another
    site makes a browser here send (its Origin differs, or it reached us under another name).
    """
    client = request.client.host if request.client else ""
    if client not in LOOPBACK or any(header in request.headers for header in FORWARDED):
        raise NotAllowedError("results are taken only from the machine that serves this page, until it knows tokens")
    if request.url.hostname not in HERE:
        raise NotAllowedError("results are taken only at http://127.0.0.1 or http://localhost")
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.url.netloc:
        raise NotAllowedError("a page of another site may not hand in results")


MayWrite = Annotated[None, Depends(may_write)]
