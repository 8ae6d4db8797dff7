"""How much a request may bring: bodies of forms and questions are small, and a large one is refused before it is all here."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 1_000_000
SENTENCE = f"The body has more than {MOST_BYTES:,} bytes, which is the most that is read here."
OWN_LIMIT = frozenset({"/api/v1/results", "/hooks/github"})
"""Routes that read their body themselves, with a limit of their own."""


class SmallBodies:
    """ASGI middleware: whoever sends more than MOST_BYTES is answered 413, and what they send is read no further."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The wrapped application's answer, or 413."""
        if scope["type"] != "http" or scope["path"] in OWN_LIMIT:
            await self.app(scope, receive, send)
            return
        said = Request(scope).headers.get("content-length", "")
        if said.isdigit() and int(said) > MOST_BYTES:
            await _refusal()(scope, receive, send)
            return
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MOST_BYTES:
                raise HTTPException(413, SENTENCE)
            return message

        await self.app(scope, counted, send)


def _refusal() -> JSONResponse:
    remedy = "Send less; results files go to /api/v1/results."
    return JSONResponse({"error": SENTENCE, "remedy": remedy}, 413, headers={"connection": "close"})
