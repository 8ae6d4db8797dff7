"""Saved views: names that people give to addresses, for everybody."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.view import SavedView
from perfd.store import tables
from perfd.store.writing import clean

V = tables.saved_view.c


@dataclass(frozen=True)
class SavedViews:
    """Questions about saved views."""

    engine: Engine

    def every(self) -> tuple[SavedView, ...]:
        """All of them, by name."""
        with self.engine.begin() as connection:
            rows = connection.execute(select(tables.saved_view).order_by(func.lower(V.name), V.id))
            return tuple(SavedView(row.id, row.name, row.address, row.owner, row.at) for row in rows)

    def save(self, name: str, address: str, owner: str, now: datetime) -> None:
        """The name stands for the address; the owner's earlier view of that name is gone."""
        values = {"name": clean(name), "address": clean(address), "owner": clean(owner), "at": now}
        with self.engine.begin() as connection:
            connection.execute(delete(tables.saved_view).where(V.name == values["name"], V.owner == values["owner"]))
            # Two answers at the same moment: the second one finds the first one's row, and leaves it.
            connection.execute(insert(tables.saved_view).values(**values).on_conflict_do_nothing())

    def find(self, number: int) -> SavedView | None:
        """The view with that number; absent where there is none."""
        return next((one for one in self.every() if one.id == number), None)

    def forget(self, number: int) -> None:
        """There is no such view any more."""
        with self.engine.begin() as connection:
            connection.execute(delete(tables.saved_view).where(V.id == number))

    def version(self) -> str:
        """The same as long as no view was saved or forgotten: a row is never changed, and its number never given out again."""
        with self.engine.begin() as connection:
            many, last = connection.execute(select(func.count(), func.coalesce(func.max(V.id), 0))).one()
        return f"{many}.{last}"
