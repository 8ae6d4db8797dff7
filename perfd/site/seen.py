"""Whoever writes through the site sees it: before a write is answered, what pages remember as recent is recent no more."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perfd.site.memory import Memory
from perfd.site.writing import READING


class WritesAreSeen:
    """ASGI middleware that tells the memory of every write, refused ones too, before its answer goes out."""

    def __init__(self, app: ASGIApp, memory: Memory) -> None:
        self.app = app
        self.memory = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The wrapped application's answer."""
        if scope["type"] != "http" or scope["method"] in READING:
            await self.app(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.memory.written()
            await send(message)

        await self.app(scope, receive, told)
