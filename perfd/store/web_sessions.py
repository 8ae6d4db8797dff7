"""Browsers that are logged in, each found by the hash of its cookie."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Engine, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.account import WebSession
from perfd.store import tables
from perfd.store.access_tokens import digest
from perfd.store.writing import AnyRow, clean

S = tables.web_session.c
LASTS = timedelta(days=7)
IDLE = timedelta(hours=12)
SEEN_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class WebSessions:
    """Questions about sessions of browsers."""

    engine: Engine

    def begin(self, secret: str, person: str, place: tuple[str, str], now: datetime) -> None:
        """`person` is logged in with the cookie `secret`, from an address with a browser (`place`)."""
        address, browser = place
        values = {
            "digest": digest(secret),
            "person": clean(person),
            "began_at": now,
            "seen_at": now,
            "expires_at": now + LASTS,
            "address": clean(address),
            "browser": clean(browser),
        }
        with self.engine.begin() as connection:
            connection.execute(insert(tables.web_session).values(**values))

    def find(self, secret: str, now: datetime) -> WebSession | None:
        """The session of this cookie, seen now; absent where it ended, was idle for 12 hours, or never was."""
        with self.engine.begin() as connection:
            row = connection.execute(select(tables.web_session).where(S.digest == digest(secret), *_alive(now))).first()
            if row is None:
                return None
            if row.seen_at < now - SEEN_EVERY:
                connection.execute(update(tables.web_session).where(S.id == row.id).values(seen_at=now))
        return _as_session(row)

    def of(self, person: str, now: datetime) -> tuple[WebSession, ...]:
        """The person's sessions that are still good, the newest first."""
        asked = select(tables.web_session).where(S.person == clean(person), *_alive(now)).order_by(S.id.desc())
        with self.engine.begin() as connection:
            return tuple(_as_session(row) for row in connection.execute(asked))

    def end(self, number: int, person: str, now: datetime) -> bool:
        """The person's session is over; False where it is not theirs, or was over."""
        own = update(tables.web_session).where(S.id == number, S.person == clean(person), S.ended_at.is_(None))
        with self.engine.begin() as connection:
            return connection.execute(own.values(ended_at=now)).rowcount == 1


def _alive(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return S.ended_at.is_(None), S.expires_at > now, S.seen_at > now - IDLE


def _as_session(row: AnyRow) -> WebSession:
    return WebSession(row.id, row.person, row.began_at, row.seen_at, row.expires_at, row.address, row.browser)
