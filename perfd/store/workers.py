"""Workers: who is alive, and what it does."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine, delete
from sqlalchemy.dialects.postgresql import insert

from perfd import HARNESS_VERSION
from perfd.store import tables
from perfd.store.writing import clean

K = tables.worker.c


@dataclass(frozen=True)
class Workers:
    """Questions about workers."""

    engine: Engine

    def seen(self, name: str, now: datetime, *, doing: str = "", device_class: str = "") -> None:
        """The worker was alive just now. `name` is host:pid:starttime."""
        values = {"device_class": device_class, "doing": clean(doing), "version": HARNESS_VERSION, "seen_at": now}
        written = insert(tables.worker).values(name=name, host=name.split(":", 1)[0], started_at=now, **values)
        with self.engine.begin() as connection:
            connection.execute(written.on_conflict_do_update(index_elements=["name"], set_=values))

    def forget(self, now: datetime, unseen_for: timedelta = timedelta(days=7)) -> int:
        """Workers that were not seen for so long are gone from the list; answers how many."""
        with self.engine.begin() as connection:
            return connection.execute(delete(tables.worker).where(K.seen_at < now - unseen_for)).rowcount
