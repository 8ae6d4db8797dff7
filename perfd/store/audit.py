"""The audit log: written before a deed is done, and never changed."""

from dataclasses import dataclass

from sqlalchemy import Engine, func, select
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.account import AuditEvent
from perfd.store import tables
from perfd.store.writing import clean

A = tables.audit_event.c
LONGEST = 500
"""Characters of a deed or a reason that are kept."""


@dataclass(frozen=True)
class Audit:
    """Questions about who did what."""

    engine: Engine

    def write(self, event: AuditEvent) -> None:
        """It is remembered for ever."""
        values = {
            "at": event.at,
            "actor": clean(event.actor[:LONGEST]),
            "way": event.way,
            "address": clean(event.address),
            "deed": clean(event.deed[:LONGEST]),
            "allowed": event.allowed,
            "why": clean(event.why[:LONGEST]),
        }
        with self.engine.begin() as connection:
            connection.execute(insert(tables.audit_event).values(**values))

    def latest(self, offset: int, limit: int) -> tuple[int, tuple[AuditEvent, ...]]:
        """How many there are, and a stretch of them, the newest first."""
        asked = select(tables.audit_event).order_by(A.id.desc()).offset(offset).limit(limit)
        with self.engine.begin() as connection:
            total = connection.execute(select(func.count()).select_from(tables.audit_event)).scalar_one()
            rows = connection.execute(asked).all()
        return total, tuple(AuditEvent(one.at, one.actor, one.way, one.address, one.deed, one.allowed, one.why) for one in rows)
