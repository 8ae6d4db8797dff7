"""Webhooks: each remembered for ever, so that the same one is refused, and handled once, after it was answered."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine, func, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.codec import from_json, to_json
from perfd.domain.pull import EVENTS, CommentMade, Delivery, Event
from perfd.store import tables
from perfd.store.writing import added, clean

D = tables.forge_delivery.c
RECENT = 5000
"""Webhooks that are looked through for an account's comments: however many are kept, this costs the same."""


@dataclass(frozen=True)
class Claimed:
    """A delivery that is to be handled."""

    id: int
    event: Event
    received_at: datetime
    attempts: int


@dataclass(frozen=True)
class Deliveries:
    """Questions about webhooks."""

    engine: Engine

    def take(self, delivery: Delivery, now: datetime) -> bool:
        """It will be handled; False when its name or its signed body was here before: a replay, and nothing was changed."""
        values = {
            "forge": delivery.forge,
            "delivery": clean(delivery.delivery),
            "digest": delivery.digest,
            "event": type(delivery.event).__name__,
            "content": clean(to_json(delivery.event)),
            "received_at": now,
            "next_at": now,
        }
        with self.engine.begin() as connection:
            return added(connection, insert(tables.forge_delivery).values(**values))

    def known(self, forge: str, delivery: str) -> Event | None:
        """What came under that name; absent where nothing did."""
        asked = select(D.event, D.content).where(D.forge == forge, D.delivery == delivery)
        with self.engine.begin() as connection:
            row = connection.execute(asked).first()
        return None if row is None else from_json(EVENTS[row.event], row.content)

    def claim(self, now: datetime, again_after: timedelta, kinds: Collection[type] = tuple(EVENTS.values())) -> Claimed | None:
        """The delivery of these events that has been due longest; unless `handled` is called, it is due again after that time."""
        mine = (D.handled_at.is_(None), D.next_at <= now, D.event.in_([kind.__name__ for kind in kinds]))
        due = select(D.id).where(*mine).order_by(D.next_at, D.id).limit(1)
        taken = (
            update(tables.forge_delivery)
            .where(D.id == due.with_for_update(skip_locked=True).scalar_subquery())
            .values(next_at=now + again_after, attempts=D.attempts + 1)
            .returning(D.id, D.event, D.content, D.received_at, D.attempts)
        )
        with self.engine.begin() as connection:
            row = connection.execute(taken).first()
        return None if row is None else Claimed(row.id, from_json(EVENTS[row.event], row.content), row.received_at, row.attempts)

    def comments_of(self, author: str, up_to: int, since: datetime) -> int:
        """How many comments with a command that account wrote since then, that delivery's among them and no later ones."""
        recent = (D.id.between(up_to - RECENT, up_to), D.received_at >= since)
        asked = select(func.count()).where(*recent, D.event == CommentMade.__name__, D.content["author"].astext == author)
        with self.engine.begin() as connection:
            return connection.execute(asked).scalar_one()

    def waiting(self) -> int:
        """How many are not handled yet."""
        with self.engine.begin() as connection:
            return connection.execute(select(func.count()).where(D.handled_at.is_(None))).scalar_one()

    def handled(self, delivery: Claimed, outcome: str, now: datetime) -> bool:
        """It is done, and says what came of it; False when it was before."""
        done = update(tables.forge_delivery).where(D.id == delivery.id, D.handled_at.is_(None))
        with self.engine.begin() as connection:
            return connection.execute(done.values(handled_at=now, outcome=clean(outcome))).rowcount == 1

    def failed(self, delivery: Claimed, reason: str, next_at: datetime) -> None:
        """It is tried again then."""
        again = update(tables.forge_delivery).where(D.id == delivery.id, D.handled_at.is_(None))
        with self.engine.begin() as connection:
            connection.execute(again.values(outcome=clean(reason), next_at=next_at))
