"""Connections are looked at before they are used: what the server has closed is seen without asking it, in microseconds."""

import select
import time
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import InvalidatePoolError

LONG_S = 30.0
"""A connection that nobody used for so long may be dead without a word: that one is asked."""


def look_before_use(engine: Engine) -> None:
    """A connection that the engine gives out was alive just now; one that was not is replaced, with all that are idle."""

    @event.listens_for(engine, "connect")
    def connected(_: Any, record: Any) -> None:
        record.info["used_s"] = time.monotonic()

    @event.listens_for(engine, "checkin")
    def returned(_: Any, record: Any) -> None:
        record.info["used_s"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def taken(connection: Any, record: Any, _: Any) -> None:
        if time.monotonic() - record.info.get("used_s", 0.0) < LONG_S and _silent(connection):
            return
        try:
            alive = engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error:
            alive = False
        if not alive:
            raise InvalidatePoolError


def _silent(connection: Any) -> bool:
    """Whether nothing has come from the server since the last answer: its end of a closed connection can be read."""
    if connection.closed:
        return False
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)
