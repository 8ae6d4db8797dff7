"""Alarms: begun, reminded of and ended, each step with its message in the outbox, in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, func, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.alarm import Alarm
from perfd.store import tables
from perfd.store.writing import AnyRow, added, clean

A = tables.alarm.c
KIND = "alarm"
"""The kind of their messages in the outbox."""
LOCK = 0x70657266_616C  # two processes that look at the same moment tell one after the other
CALM = timedelta(minutes=5)
"""An alarm is over when it was not seen for so long: one that comes and goes is told once."""
REMIND = timedelta(days=1)


@dataclass(frozen=True)
class Alarms:
    """Questions about alarms."""

    engine: Engine

    def sound(self, found: Sequence[Alarm], now: datetime) -> int:
        """What is late is told where it is new, or was told a day ago, and what is late no more is told to be over.

        Answers how many messages that made. Any number of processes may do this as often as they like.
        """
        with self.engine.begin() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
            lasting = {row.key: row for row in connection.execute(select(tables.alarm).where(A.ended_at.is_(None)))}
            told = [_seen(connection, alarm, lasting.get(clean(alarm.key)), now) for alarm in found]
            gone = set(lasting) - {clean(alarm.key) for alarm in found}
            over = [_end(connection, lasting[key], now) for key in gone if now - lasting[key].seen_at >= CALM]
            return sum(told) + sum(over)

    def lasting(self) -> tuple[str, ...]:
        """The keys of the alarms that were begun and are not over, sorted."""
        with self.engine.begin() as connection:
            return tuple(connection.execute(select(A.key).where(A.ended_at.is_(None)).order_by(A.key)).scalars())

    def looked(self, now: datetime) -> None:
        """The clock has just looked what is due."""
        ticked = insert(tables.service).values(id=1, began_at=now, clock_at=now)
        with self.engine.begin() as connection:
            connection.execute(ticked.on_conflict_do_update(index_elements=["id"], set_={"clock_at": now}))


def _seen(connection: Connection, alarm: Alarm, row: AnyRow | None, now: datetime) -> bool:
    words = {"sentence": clean(alarm.sentence), "remedy": clean(alarm.remedy), "since": alarm.since, "seen_at": now}
    if row is None:
        named = {"key": clean(alarm.key), "kind": alarm.kind.value, "begun_at": now, "told_at": now}
        begun = insert(tables.alarm).values(**words, **named).returning(A.id)
        return _tell(connection, connection.execute(begun).scalar_one(), "begun", words, now)
    reminds = now - row.told_at >= REMIND
    more = {"told": row.told + 1, "told_at": now} if reminds else {}
    connection.execute(update(tables.alarm).where(A.id == row.id).values(**words, **more))
    return reminds and _tell(connection, row.id, f"reminder {row.told}", words, now)


def _end(connection: Connection, row: AnyRow, now: datetime) -> bool:
    connection.execute(update(tables.alarm).where(A.id == row.id).values(ended_at=now))
    return _tell(connection, row.id, "over", {"sentence": row.sentence, "remedy": "", "since": row.since}, now)


def _tell(connection: Connection, alarm: int, what: str, words: dict[str, Any], now: datetime) -> bool:
    payload = {"title": words["sentence"], "why": words["remedy"], "what": what, "since": words["since"].isoformat()}
    message = {"kind": KIND, "payload": payload, "created_at": now, "next_at": now}
    return added(connection, insert(tables.outbox).values(dedupe_key=f"{KIND}:{alarm}:{what}", **message))
