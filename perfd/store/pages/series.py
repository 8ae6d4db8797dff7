"""Lists of Series."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, case, func, or_, select

from perfd.domain.metric import MetricKind
from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import Outcome
from perfd.store import reading, tables
from perfd.store.pages.chosen import SeriesFilter, conditions
from perfd.store.records import PointRow, SeriesLine, SeriesOrder, SeriesRow
from perfd.store.writing import AnyRow

S = tables.series.c
P = tables.point.c
V = tables.verdict.c
L = tables.series_latest.c
M = tables.metric.c
W = tables.workload.c
MOVED = (Outcome.BETTER.value, Outcome.WORSE.value, Outcome.NOT_COMPARABLE.value)


def rows(connection: Connection, wanted: SeriesFilter) -> tuple[SeriesRow, ...]:
    """Every Series that matches, ordered by its words; two questions, however many Series there are."""
    names = (tables.subject.c.name, tables.suite.c.name, W.name, M.id, S.id)
    return _rows(connection, _lines().where(*conditions(wanted)).order_by(*names))


def some_rows(connection: Connection, ids: Sequence[int]) -> tuple[SeriesRow, ...]:
    """The Series with these ids, in this order."""
    found = {row.info.id: row for row in _rows(connection, _lines().where(S.id.in_(ids)))}
    return tuple(found[one] for one in ids if one in found)


def order(connection: Connection, wanted: SeriesFilter, classes: Sequence[WorkloadClass]) -> SeriesOrder:
    """Every Series that matches: by class as `classes` has them, then subject, Workload, Model, Metric."""
    words = W["class"]
    place = case({one.value: number for number, one in enumerate(classes)}, value=words, else_=len(classes))
    text = (tables.subject.c.name, W.name, S.model, M.name)
    asked = _standing(select(S.id, words)).where(*conditions(wanted))
    found = connection.execute(asked.order_by(place, *(column.collate("C") for column in text), S.id)).all()
    counts = Counter(WorkloadClass(word) for _, word in found)
    return SeriesOrder(np.fromiter((one for one, _ in found), np.int64, len(found)), counts)


def lines(connection: Connection, ids: Sequence[int]) -> tuple[SeriesLine, ...]:
    """How these Series stand, in this order; those that do not exist, or have no Points, are left out."""
    asked = (
        reading.series_select()
        .add_columns(L.value, L.low, L.high, L.previous, L.tail, V.outcome, V.effect, V.reason)
        .join(tables.series_latest, L.series_id == S.id)
        .outerjoin(tables.verdict, (V.series_id == L.series_id) & (V.occasion_id == L.judged_in))
        .where(S.id.in_(ids))
    )
    found = {row.id: row for row in connection.execute(asked)}
    return tuple(_line(found[one]) for one in ids if one in found)


def unmoved(connection: Connection) -> NDArray[np.int64]:
    """Compiled counts and resources of Kernels of which neither the last Point nor the last Verdict says that they moved.

    Each Kernel has dozens, and in a list they would bury everything else.
    """
    still = or_(L.previous.is_(None), L.previous == L.value)
    asked = _standing(select(S.id)).where(
        W["class"] == WorkloadClass.KERNEL.value,
        M.kind != MetricKind.SPEED.value,
        func.coalesce(L.outcome, "").not_in(MOVED),
        or_(M.kind != MetricKind.STATIC.value, still),
    )
    return np.array(connection.execute(asked).scalars().all(), dtype=np.int64)


def _standing(asked: Select[Any]) -> Select[Any]:
    """The question over all Series that have Points, with the tables that name their parts."""
    return (
        asked.select_from(tables.series)
        .join(tables.subject, tables.subject.c.id == S.subject_id)
        .join(tables.workload, W.id == S.workload_id)
        .join(tables.suite, tables.suite.c.id == W.suite_id)
        .join(tables.metric, M.id == S.metric_id)
        .join(tables.series_latest, L.series_id == S.id)
    )


def _line(row: AnyRow) -> SeriesLine:
    return SeriesLine(
        info=reading.as_series(row),
        value=row.value,
        interval=None if row.low is None else (row.low, row.high),
        previous=row.previous,
        outcome=None if row.outcome is None else Outcome(row.outcome),
        effect=row.effect,
        reason=row.reason or "",
        values=tuple(row.tail),
    )


def _lines() -> Select[Any]:
    """Every Series that has Points, with its row of series_latest and its last Verdict."""
    verdict = [V[name] for name in ("outcome", "reason", "detector", "n", "effect", "low", "high", "bar", "q", "noise", "mde")]
    return (
        reading.series_select()
        .add_columns(L.run_id, L.previous_run_id, L.tail, L.change_id, *verdict)
        .join(tables.series_latest, L.series_id == S.id)
        .outerjoin(tables.verdict, (V.series_id == L.series_id) & (V.occasion_id == L.judged_in))
    )


def _rows(connection: Connection, asked: Select[Any]) -> tuple[SeriesRow, ...]:
    found = connection.execute(asked).all()
    ends = _ends(connection, [row.id for row in found])
    return tuple(_row(row, ends) for row in found)


def _row(row: AnyRow, ends: dict[tuple[int, int], PointRow]) -> SeriesRow:
    return SeriesRow(
        info=reading.as_series(row),
        latest=ends[row.id, row.run_id],
        previous=None if row.previous_run_id is None else ends[row.id, row.previous_run_id],
        verdict=None if row.outcome is None else reading.as_verdict(row),
        values=tuple(row.tail),
        change_id=row.change_id,
    )


def _ends(connection: Connection, ids: list[int]) -> dict[tuple[int, int], PointRow]:
    """By Series and Run: the last Point of each Series, and the one before."""
    last = (L.series_id == P.series_id) & P.run_id.in_((L.run_id, L.previous_run_id))
    asked = reading.point_select().join(tables.series_latest, last).where(L.series_id.in_(ids))
    return {(row.series_id, row.run_id): reading.as_point(row) for row in connection.execute(asked)}
