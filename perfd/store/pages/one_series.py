"""All about one Series: what it is, its Changes, its last Verdict, and its newest Points as a table shows them.

Points are read from the index that orders a Series, and say of their Runs the number alone: the tables of Points and Runs are
large and lie in the order of nights, so that every line would wait for pages of both.
"""

from typing import NamedTuple

from sqlalchemy import Connection, bindparam, text

from perfd.domain.suite import Workload, WorkloadClass
from perfd.store import reading, tables
from perfd.store.records import PointLine, SeriesPage
from perfd.store.writing import AnyRow

V = tables.verdict.c
W = tables.workload.c
Occ = tables.occasion.c
C = tables.change.c
L = tables.series_latest.c
_VERDICT = ("outcome", "reason", "detector", "n", "effect", "low", "high", "bar", "q", "noise", "mde")
_WORKLOAD = ("parameters", "seed", "data_hash", "time_limit_s", "question")
_ABOUT = (
    reading.series_select()
    .add_columns(*(W[name] for name in _WORKLOAD), *(V[name] for name in _VERDICT), Occ.name.label("judged_in"))
    .outerjoin(tables.series_latest, L.series_id == tables.series.c.id)
    .outerjoin(tables.verdict, (V.series_id == L.series_id) & (V.occasion_id == L.judged_in))
    .outerjoin(tables.occasion, Occ.id == V.occasion_id)
    .where(tables.series.c.id == bindparam("id"))
)
_EXTENT = text(
    "SELECT count(*), min(value), max(value), min(value) FILTER (WHERE value <> floor(value)) FROM point WHERE series_id = :id"
)
_PLACES = text("""
    SELECT c.id, (
        SELECT count(*) FROM point AS b
        WHERE b.series_id = p.series_id AND (b.ordinal, b.measured_at, b.run_id) < (p.ordinal, p.measured_at, p.run_id)
    ) FROM change AS c JOIN point AS p ON p.series_id = c.series_id AND p.run_id = c.run_id
    WHERE c.series_id = :id AND c.gone_at IS NULL""")
_LAST = text("""
    SELECT p.value, p.low, p.high, p.n, p.measured_at, p.run_id, b.digest, v.name AS revision, v.title, o.name AS occasion, d.host
    FROM (
        SELECT ordinal, measured_at, run_id, value, low, high, n, build_id, revision_id, occasion_id, device_id
        FROM point WHERE series_id = :id ORDER BY ordinal DESC, measured_at DESC, run_id DESC LIMIT :last
    ) AS p
    JOIN build AS b ON b.id = p.build_id JOIN revision AS v ON v.id = p.revision_id
    JOIN occasion AS o ON o.id = p.occasion_id JOIN device AS d ON d.id = p.device_id
    ORDER BY p.ordinal, p.measured_at, p.run_id""")


class Extent(NamedTuple):
    """What only all Points of a Series can tell."""

    total: int
    """How many there are."""
    values: tuple[float, ...]
    """The lowest and the highest, and one that is no whole number where there is one."""


def extent(connection: Connection, series_id: int) -> Extent:
    """The extent of the Series. Reads one index entry a Point."""
    total, *values = connection.execute(_EXTENT, {"id": series_id}).one()
    return Extent(total, tuple(value for value in values if value is not None))


def page(connection: Connection, series_id: int, last: int | None, known: Extent | None = None) -> SeriesPage | None:
    """The Series with its (last) Points, its Changes that stand, and its last Verdict; its extent where that is `known`."""
    asked = {"id": series_id}
    row = connection.execute(_ABOUT, asked).first()
    if row is None:
        return None
    changes = reading.changes(connection, C.series_id == series_id, C.gone_at.is_(None))
    whole = known or extent(connection, series_id)
    return SeriesPage(
        info=reading.as_series(row),
        workload=_workload(row),
        points=() if last == 0 else tuple(map(_line, connection.execute(_LAST, asked | {"last": last}))),
        total=whole.total,
        extent=whole.values,
        changes=changes,
        places=dict(connection.execute(_PLACES, asked).all()) if changes else {},
        verdict=None if row.outcome is None else reading.as_verdict(row),
        verdict_occasion=row.judged_in,
    )


def _workload(row: AnyRow) -> Workload:
    return Workload(
        suite=row.suite,
        name=row.workload_name,
        workload_class=WorkloadClass(row.workload_class),
        parameters=row.parameters,
        seed=row.seed,
        data_hash=row.data_hash,
        time_limit_s=row.time_limit_s,
        question=row.question,
    )


def _line(row: AnyRow) -> PointLine:
    return PointLine(
        value=row.value,
        interval=None if row.low is None else (row.low, row.high),
        n=row.n,
        measured_at=row.measured_at,
        run_id=row.run_id,
        build=row.digest,
        revision=row.revision,
        title=row.title,
        occasion=row.occasion,
        host=row.host,
    )
