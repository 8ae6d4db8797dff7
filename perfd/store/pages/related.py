"""Series beside a Series: those that differ in one part of the key, its value at a named Revision, and values day by day."""

from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Integer, Select, bindparam, cast, func, literal_column, select, text

from perfd.store import reading, tables
from perfd.store.records import SeriesInfo

S = tables.series.c
P = tables.point.c
V = tables.revision.c
PARTS = ("subject_id", "branch", "model", "quantisation", "parallelism", "device_class")
MOST = 30
_DAYS = """
    SELECT series_id, array_agg(day ORDER BY day), array_agg(value ORDER BY day) FROM (
        SELECT DISTINCT ON (series_id, day) series_id, (measured_at AT TIME ZONE 'UTC')::date AS day, value
        FROM point WHERE series_id = ANY(:ids) ORDER BY series_id, day, measured_at DESC, run_id DESC
    ) AS o GROUP BY series_id"""


def _siblings() -> Select[Any]:
    one = tables.series.alias()
    apart = {part: S[part] != one.c[part] for part in PARTS}
    differing: ColumnElement[int] = sum((cast(test, Integer) for test in apart.values()), start=literal_column("0", Integer))
    return (
        reading.series_select()
        .add_columns(*(test.label(f"apart_{part}") for part, test in apart.items()))
        .join(one, (one.c.workload_id == S.workload_id) & (one.c.metric_id == S.metric_id))
        .join(tables.series_latest, tables.series_latest.c.series_id == S.id)
        .where(one.c.id == bindparam("id"), differing == 1)
        .order_by(S.id)
        .limit(MOST)
    )


_SIBLINGS = _siblings()


class Sibling(NamedTuple):
    """A Series that differs in one part of the key."""

    info: SeriesInfo
    part: str
    """Which one: subject, branch, model, quantisation, parallelism or device class."""


class Pinned(NamedTuple):
    """What a Series measured at one Revision."""

    revision: str
    title: str
    value: float


class Daily(NamedTuple):
    """One value a day (UTC) on which a Series was measured: its last Point of that day."""

    days: tuple[date, ...]
    values: tuple[float, ...]


def siblings(connection: Connection, series_id: int) -> tuple[Sibling, ...]:
    """Series of the same Workload and Metric that differ from this one in exactly one other part, by that part."""
    found = [
        Sibling(reading.as_series(row), next(part for part in PARTS if getattr(row, f"apart_{part}")))
        for row in connection.execute(_SIBLINGS, {"id": series_id})
    ]
    named = [one._replace(part=one.part.removesuffix("_id").replace("_", " ")) for one in found]
    return tuple(sorted(named, key=lambda one: one.part))


def pinned(connection: Connection, series_id: int, revision: str) -> Pinned | None:
    """The last Point of the Series at a Revision whose name begins so; absent where there is none."""
    asked = (
        select(V.name, V.title, P.value)
        .select_from(tables.point)
        .join(tables.revision, V.id == P.revision_id)
        .where(P.series_id == series_id, func.starts_with(V.name, revision))
        .order_by(P.ordinal.desc(), P.measured_at.desc())
        .limit(1)
    )
    row = connection.execute(asked).first()
    return None if row is None else Pinned(*row)


def daily(connection: Connection, ids: Sequence[int]) -> dict[int, Daily]:
    """By Series: its value of every day on which it was measured; Series without Points are left out."""
    found = connection.execute(text(_DAYS), {"ids": list(ids)})
    return {number: Daily(tuple(days), tuple(values)) for number, days, values in found}
