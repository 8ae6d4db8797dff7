"""The outbox: messages written in the database, sent afterwards, each once."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.codec import to_json
from perfd.store import tables
from perfd.store.writing import added, clean

X = tables.outbox.c


@dataclass(frozen=True)
class Message:
    """A message that is to be sent."""

    id: int
    dedupe_key: str
    kind: str
    payload: Mapping[str, Any]
    attempts: int


@dataclass(frozen=True)
class Outbox:
    """Questions about outgoing messages."""

    engine: Engine

    def put(self, dedupe_key: str, kind: str, payload: Mapping[str, Any], now: datetime) -> bool:
        """The message will be sent; False when one with this key stands there already."""
        values = {"dedupe_key": dedupe_key, "kind": kind, "payload": clean(to_json(payload)), "created_at": now, "next_at": now}
        with self.engine.begin() as connection:
            return added(connection, insert(tables.outbox).values(**values))

    def stands(self, dedupe_key: str) -> bool:
        """Whether a message with that key was ever put here."""
        with self.engine.begin() as connection:
            return connection.execute(select(X.id).where(X.dedupe_key == dedupe_key)).first() is not None

    def said(self, dedupe_key: str) -> str:
        """How far the message is, in words."""
        asked = select(X.done_at, X.given_up, X.last_error, X.next_at).where(X.dedupe_key == dedupe_key)
        with self.engine.begin() as connection:
            row = connection.execute(asked).one()
        if row.done_at is None:
            return f"on its way: {row.last_error or 'not tried yet'}"
        return f"given up: {row.last_error}" if row.given_up else "sent"

    def since(self, kind: str, moment: datetime) -> tuple[Message, ...]:
        """The messages of a kind that were put here from that moment on, sent or not, in order."""
        asked = select(X.id, X.dedupe_key, X.kind, X.payload, X.attempts).where(X.kind == kind, X.created_at >= moment)
        with self.engine.begin() as connection:
            return tuple(Message(*row) for row in connection.execute(asked.order_by(X.id)))

    def claim(
        self, now: datetime, again_after: timedelta, kinds: Collection[str] = (), but: Collection[str] = ()
    ) -> Message | None:
        """The message that has been due longest, of these kinds (none: of any) but not of those.

        Unless `sent` is called, it is due again after that time.
        """
        wanted = [*([X.kind.in_(kinds)] if kinds else ()), X.kind.not_in(but)]
        due = select(X.id).where(X.done_at.is_(None), X.next_at <= now, *wanted).order_by(X.next_at, X.id).limit(1)
        taken = (
            update(tables.outbox)
            .where(X.id == due.with_for_update(skip_locked=True).scalar_subquery())
            .values(next_at=now + again_after, attempts=X.attempts + 1)
            .returning(X.id, X.dedupe_key, X.kind, X.payload, X.attempts)
        )
        with self.engine.begin() as connection:
            row = connection.execute(taken).first()
        return None if row is None else Message(*row)

    def sent(self, message: Message, now: datetime) -> bool:
        """The message is done; False when it was before."""
        with self.engine.begin() as connection:
            done = update(tables.outbox).where(X.id == message.id, X.done_at.is_(None)).values(done_at=now)
            return connection.execute(done).rowcount == 1

    def given_up(self, message: Message, reason: str, now: datetime) -> None:
        """The message is never tried again, and says why."""
        over = update(tables.outbox).where(X.id == message.id, X.done_at.is_(None))
        with self.engine.begin() as connection:
            connection.execute(over.values(last_error=clean(reason), done_at=now, given_up=True))

    def failed(self, message: Message, reason: str, next_at: datetime) -> None:
        """The message is tried again then."""
        again = update(tables.outbox).where(X.id == message.id, X.done_at.is_(None))
        with self.engine.begin() as connection:
            connection.execute(again.values(last_error=clean(reason), next_at=next_at))
