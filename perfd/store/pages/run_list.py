"""Runs, newest first, by parts of what they are."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, select

from perfd.domain.run import RunState
from perfd.store import reading, tables
from perfd.store.records import RunRow

R = tables.run.c


@dataclass(frozen=True)
class RunFilter:
    """Which Runs; an absent part means all."""

    subject: str | None = None
    workload: str | None = None
    device_class: str | None = None
    occasion: str | None = None
    state: RunState | None = None


def listed(connection: Connection, wanted: RunFilter, offset: int, limit: int) -> tuple[int, tuple[RunRow, ...]]:
    """How many Runs match, and one page of them, the one that was planned last first."""
    where = _where(wanted)
    joined = (
        select(R.id).select_from(tables.run).join(tables.build).join(tables.subject).join(tables.workload).join(tables.occasion)
    )
    total = connection.execute(select(func.count()).select_from(joined.where(*where).subquery())).scalar_one()
    ids = connection.execute(joined.where(*where).order_by(R.id.desc()).offset(offset).limit(limit)).scalars().all()
    rows = {row.id: row for row in reading.run_rows(connection, R.id.in_(ids))} if ids else {}
    return int(total), tuple(rows[one] for one in ids)


def _where(wanted: RunFilter) -> list[ColumnElement[bool]]:
    parts = [
        (tables.subject.c.name, wanted.subject),
        (tables.workload.c.name, wanted.workload),
        (R.device_class, wanted.device_class),
        (tables.occasion.c.name, wanted.occasion),
        (R.state, wanted.state.value if wanted.state else None),
    ]
    return [column == value for column, value in parts if value is not None]
