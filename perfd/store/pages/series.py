"""Lists of Series, and all about one of them."""

from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select, true
from sqlalchemy.dialects.postgresql import aggregate_order_by, distinct_on
from sqlalchemy.sql.selectable import LateralFromClause

from perfd.domain.verdict import Verdict
from perfd.store import reading, tables
from perfd.store.records import PointRow, SeriesPage, SeriesRow
from perfd.store.workloads import read_workload

S = tables.series.c
P = tables.point.c
V = tables.verdict.c
Occ = tables.occasion.c
SPARK = 60
"""Values in a sparkline."""


@dataclass(frozen=True)
class SeriesFilter:
    """Which Series to list; every part that is given must match. `workload` is a Workload's name, not its identity."""

    subject: str | None = None
    branch: str | None = None
    suite: str | None = None
    workload: str | None = None
    workload_class: str | None = None
    metric: str | None = None
    model: str | None = None
    quantisation: str | None = None
    parallelism: str | None = None
    device_class: str | None = None


COLUMNS: dict[str, ColumnElement[Any]] = {
    "subject": tables.subject.c.name,
    "branch": S.branch,
    "suite": tables.suite.c.name,
    "workload": tables.workload.c.name,
    "workload_class": tables.workload.c["class"],
    "metric": tables.metric.c.name,
    "model": S.model,
    "quantisation": S.quantisation,
    "parallelism": S.parallelism,
    "device_class": S.device_class,
}


def rows(connection: Connection, wanted: SeriesFilter) -> tuple[SeriesRow, ...]:
    """Every Series that matches, ordered by its words; five questions, however many Series there are."""
    asked = reading.series_select().where(*_conditions(wanted))
    names = (tables.subject.c.name, tables.suite.c.name, tables.workload.c.name, tables.metric.c.id, S.id)
    found = connection.execute(asked.order_by(*names)).all()
    ids = [row.id for row in found]
    ends = _last_points(connection, ids)
    values = _last_values(connection, ids)
    verdicts = _last_verdicts(connection, ids)
    changes = _last_changes(connection, ids)
    return tuple(
        SeriesRow(
            info=reading.as_series(row),
            latest=ends[row.id][-1],
            previous=ends[row.id][-2] if len(ends[row.id]) > 1 else None,
            verdict=verdicts.get(row.id),
            values=values[row.id],
            change_id=changes.get(row.id),
        )
        for row in found
        if row.id in ends
    )


def choices(connection: Connection) -> dict[str, tuple[str, ...]]:
    """For every part of `SeriesFilter`: the values that some Series has."""
    every = reading.series_select()
    return {
        name: tuple(sorted(connection.execute(every.with_only_columns(column).distinct()).scalars()))
        for name, column in COLUMNS.items()
    }


def page(connection: Connection, series_id: int, last: int | None) -> SeriesPage | None:
    """The Series with its (last) Points, its Changes that stand, and its last Verdict."""
    row = connection.execute(reading.series_select().where(S.id == series_id)).first()
    if row is None:
        return None
    change = tables.change.c
    workload_id = connection.execute(select(S.workload_id).where(S.id == series_id)).scalar_one()
    judged = connection.execute(
        select(tables.verdict, Occ.name.label("occasion"))
        .join(tables.occasion)
        .where(V.series_id == series_id)
        .order_by(Occ.nominal_at.desc(), Occ.id.desc())
        .limit(1)
    ).first()
    return SeriesPage(
        info=reading.as_series(row),
        workload=read_workload(connection, workload_id),
        points=reading.point_rows(connection, series_id, last),
        changes=reading.changes(connection, change.series_id == series_id, change.gone_at.is_(None)),
        verdict=None if judged is None else reading.as_verdict(judged),
        verdict_occasion=None if judged is None else judged.occasion,
    )


def _conditions(wanted: SeriesFilter) -> list[ColumnElement[bool]]:
    given = ((field.name, getattr(wanted, field.name)) for field in fields(wanted))
    return [COLUMNS[name] == value for name, value in given if value is not None]


def _last_points(connection: Connection, ids: list[int]) -> dict[int, list[PointRow]]:
    """By Series: its last two Points, oldest first; an index walk a Series, however long the Series is."""
    ends = _tail(2, "ends")
    chosen = select(S.id, ends.c.run_id).select_from(tables.series).join(ends, true()).where(S.id.in_(ids)).subquery()
    asked = reading.point_select().join(chosen, (chosen.c.id == P.series_id) & (chosen.c.run_id == P.run_id))
    points: dict[int, list[PointRow]] = {}
    for row in connection.execute(asked.order_by(P.series_id, *reading.IN_ORDER)):
        points.setdefault(row.series_id, []).append(reading.as_point(row))
    return points


def _last_values(connection: Connection, ids: list[int]) -> dict[int, tuple[float, ...]]:
    """By Series: the values of its last SPARK Points, oldest first."""
    tail = _tail(SPARK, "tail")
    in_order = aggregate_order_by(tail.c.value, *(tail.c[column.name] for column in reading.IN_ORDER))
    asked = select(S.id, func.array_agg(in_order)).select_from(tables.series).join(tail, true()).where(S.id.in_(ids))
    return {series_id: tuple(numbers) for series_id, numbers in connection.execute(asked.group_by(S.id))}


def _tail(count: int, name: str) -> LateralFromClause:
    """The last Points of a Series of the surrounding question."""
    newest = [column.desc() for column in reading.IN_ORDER]
    columns = (P.value, *reading.IN_ORDER)
    return select(*columns).where(P.series_id == S.id).order_by(*newest).limit(count).correlate(tables.series).lateral(name)


def _last_verdicts(connection: Connection, ids: list[int]) -> dict[int, Verdict]:
    asked = (
        select(tables.verdict)
        .join(tables.occasion)
        .where(V.series_id.in_(ids))
        .ext(distinct_on(V.series_id))
        .order_by(V.series_id, Occ.nominal_at.desc(), Occ.id.desc())
    )
    return {row.series_id: reading.as_verdict(row) for row in connection.execute(asked)}


def _last_changes(connection: Connection, ids: list[int]) -> dict[int, int]:
    change = tables.change.c
    standing = (change.series_id.in_(ids), change.gone_at.is_(None))
    return {row.series_id: row.id for row in reading.changes(connection, *standing)}
