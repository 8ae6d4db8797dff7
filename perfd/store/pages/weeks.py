"""What happened in some days: the nights, and the Changes that they found."""

from datetime import datetime

from sqlalchemy import Connection, select

from perfd.domain.run import OccasionKind
from perfd.domain.verdict import ChangeKind
from perfd.store import reading, tables
from perfd.store.pages import occasions
from perfd.store.records import ChangeRow, OccasionRow, SeriesInfo

C = tables.change.c
Occ = tables.occasion.c
LASTING = (ChangeKind.STEP.value, ChangeKind.DRIFT.value)
MOST = 400
"""Nights: more than a week has, however often they are run by hand."""


def changes(connection: Connection, start: datetime, stop: datetime) -> tuple[tuple[SeriesInfo, ChangeRow], ...]:
    """Steps and drifts that stand and were found in occasions due from `start` on and before `stop`, the largest effect first."""
    due = select(Occ.id).where(Occ.nominal_at >= start, Occ.nominal_at < stop)
    found = reading.changes(connection, C.found_in.in_(due), C.gone_at.is_(None), C.kind.in_(LASTING))
    asked = reading.series_select().where(tables.series.c.id.in_({one.series_id for one in found}))
    infos = {row.id: reading.as_series(row) for row in connection.execute(asked)}
    largest = sorted(found, key=lambda one: -abs(one.effect))
    return tuple((infos[one.series_id], one) for one in largest)


def nights(connection: Connection, start: datetime, stop: datetime) -> tuple[OccasionRow, ...]:
    """The nights due from `start` on and before `stop`, newest first."""
    where = (Occ.kind == OccasionKind.NIGHT.value, Occ.nominal_at >= start, Occ.nominal_at < stop)
    return occasions.rows(connection, *where, last=MOST)
