"""`/hooks/github`: a webhook is verified on its raw body, remembered, and answered; everything else happens later."""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse

from perfd.domain.pull import Delivery
from perfd.errors import BadInputError
from perfd.forge.webhook import event_of, is_signed
from perfd.site.site import Here
from perfd.site.visitors import address_of

router = APIRouter()
LARGEST_BYTES = 5_000_000
"""A push of 2,000 commits has about two million; GitHub itself sends none above 25 million."""
SLOWEST_S = 10.0
"""GitHub gives up after ten seconds; whoever sends slower is not GitHub."""
LONGEST_NAME = 100


class NotTakenError(Exception):
    """Why the webhook is refused, with the HTTP status that says so."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


@router.post("/hooks/github")
async def github(request: Request, site: Here) -> JSONResponse:
    """202 when it will be handled, 200 when there is nothing to do, 4xx with a sentence when it is refused."""
    site.limits.take("webhook", address_of(request, site))
    try:
        return await _take(request, site)
    except NotTakenError as error:
        return JSONResponse({"taken": False, "why": error.why}, error.status)


async def _take(request: Request, site: Here) -> JSONResponse:
    secret = cast("str | None", request.app.state.webhook_secret)
    if not secret:
        raise NotTakenError(503, "perfd takes no webhooks yet: set PERFD_GITHUB_WEBHOOK_SECRET to the secret of the GitHub App")
    unsigned = NotTakenError(401, "the body is not signed with the secret that perfd knows (X-Hub-Signature-256)")
    signature = request.headers.get("x-hub-signature-256", "")
    if not signature.startswith("sha256="):  # before anything of the body is read
        raise unsigned
    body = await _body(request)
    if not is_signed(secret, body, signature):
        raise unsigned
    name, delivery = _names(request.headers)
    if name == "ping":
        return JSONResponse({"taken": False, "why": "pong"})
    try:
        event = event_of(name, _payload(request.headers, body))
    except BadInputError as error:
        raise NotTakenError(422, error.message) from None
    if event is None:
        return JSONResponse({"taken": False, "why": f'there is nothing to do for this event "{name}"'})
    taken = Delivery("github", delivery, hashlib.sha256(body).hexdigest(), event)
    if not await run_in_threadpool(site.store.deliveries.take, taken, site.clock()):
        raise NotTakenError(409, "this delivery, or another with the same body, was taken before; nothing is done again")
    return JSONResponse({"taken": True}, 202)


async def _body(request: Request) -> bytes:
    """The raw body; no more of it is read than perfd takes, and no longer than GitHub would wait."""
    too_large = NotTakenError(413, f"perfd takes webhooks of at most {LARGEST_BYTES:,} bytes")
    announced = request.headers.get("content-length", "0")
    if not announced.isdigit() or int(announced[:20]) > LARGEST_BYTES:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(SLOWEST_S):
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_BYTES:
                    raise too_large
    except (TimeoutError, ClientDisconnect):
        raise NotTakenError(408, f"the body did not arrive within {SLOWEST_S:g} seconds") from None
    return bytes(body)


def _names(headers: Mapping[str, str]) -> tuple[str, str]:
    name, delivery = headers.get("x-github-event", ""), headers.get("x-github-delivery", "")
    if not (0 < len(name) <= LONGEST_NAME and 0 < len(delivery) <= LONGEST_NAME):
        raise NotTakenError(400, "expected the headers X-GitHub-Event and X-GitHub-Delivery")
    return name, delivery


def _payload(headers: Mapping[str, str], body: bytes) -> Mapping[str, Any]:
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise NotTakenError(415, "expected application/json; choose it as the content type in the settings of the webhook")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise NotTakenError(400, "the body is no JSON") from None
    if not isinstance(found, dict):
        raise NotTakenError(400, "the body is no JSON object")
    return found
