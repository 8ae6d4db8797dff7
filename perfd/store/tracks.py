"""Tracks and the histories that they go on from, read for many Series at once."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Double, Select, case, cast, func, select, true

from perfd.domain.history import History
from perfd.store import tables
from perfd.store.writing import AnyRow, among, put_all

P = tables.point.c
T = tables.track.c


def read_tracks(connection: Connection, occasion_id: int, series: Sequence[int]) -> dict[int, Any]:
    """By Series, what was remembered before the occasion; absent where nothing was."""
    asked = select(T.series_id, _before(occasion_id).label("before")).where(among(T.series_id, series))
    return {row.series_id: row.before for row in connection.execute(asked).all() if row.before is not None}


def write_tracks(connection: Connection, occasion_id: int, memories: Mapping[int, Any]) -> None:
    """What is remembered after the occasion stands there, beside what was remembered before it."""
    rows = [{"series_id": key, "occasion_id": occasion_id, "memory": memory} for key, memory in memories.items()]
    put_all(connection, tables.track, ("series_id",), rows, {"before": _before(occasion_id)})


def _before(occasion_id: int) -> ColumnElement[Any]:
    """What was remembered before the occasion, as a row tells it that may be of the occasion already."""
    return case((T.occasion_id == occasion_id, T.before), else_=T.memory)


def histories(connection: Connection, series: Sequence[int], last: int) -> dict[int, History]:
    """By Series, its last Points in order (by commit, then by occasion), oldest first; a Series without any is empty."""
    rows = connection.execute(_recent(series, last)).all()
    names = {
        "runs": _names(connection, tables.run.c.key, {key for row in rows for key in row.runs}),
        "builds": _names(connection, tables.build.c.digest, {key for row in rows for key in row.builds}),
        "revisions": _names(connection, tables.revision.c.name, {key for row in rows for key in row.revisions}),
        "occasions": _names(connection, tables.occasion.c.name, {key for row in rows for key in row.occasions}),
    }
    found = {row.id: _as_history(row, names) for row in rows}
    return {key: found.get(key, History.of(())) for key in series}


def _recent(series: Sequence[int], last: int) -> Select[Any]:
    """A row a Series with an array a column, newest first: a row a Point costs twenty times as much to read."""
    order = (P.ordinal.desc(), P.measured_at.desc(), P.run_id.desc())
    here = select(tables.point).where(P.series_id == tables.series.c.id).correlate(tables.series)
    newest = here.order_by(*order).limit(last).lateral("newest")
    p = newest.c
    arrays = (
        select(
            func.array_agg(p.run_id).label("runs"),
            func.array_agg(p.build_id).label("builds"),
            func.array_agg(p.revision_id).label("revisions"),
            func.array_agg(p.ordinal).label("ordinals"),
            func.array_agg(p.occasion_id).label("occasions"),
            func.array_agg(cast(func.extract("epoch", p.measured_at), Double)).label("seconds"),
            func.array_agg(p.value).label("values"),
            _even(p.low, "lows"),
            _even(p.high, "highs"),
            _even(p.n, "counts"),
            _even(p.hardware_hash, "hardware"),
            _even(p.epoch, "epochs"),
        )
        .select_from(newest)
        .lateral("arrays")
    )
    return (
        select(tables.series.c.id, arrays)
        .join(arrays, true())
        .where(among(tables.series.c.id, series), arrays.c.runs.is_not(None))
    )


def _even(column: ColumnElement[Any], name: str) -> ColumnElement[Any]:
    """All values of a column, or one where they are all the same."""
    # Never count(DISTINCT …) here: Postgres would sort the Points for it, and every array beside it would come in that order.
    same = func.min(column).is_not_distinct_from(func.max(column)) & func.count(column).in_([0, func.count()])
    return case((same, func.array_agg(column)[1:1]), else_=func.array_agg(column)).label(name)


def _names(connection: Connection, name: ColumnElement[str], ids: Collection[int]) -> dict[int, str]:
    """By id, the name of a row of the column's table."""
    rows = name.table
    asked = select(rows.c.id, name).where(among(rows.c.id, ids))
    return dict(connection.execute(asked).all())


def _as_history(row: AnyRow, names: Mapping[str, Mapping[int, str]]) -> History:
    n = len(row.runs)
    named: dict[str, Any] = {column: [known[key] for key in reversed(getattr(row, column))] for column, known in names.items()}
    kept = {column: getattr(row, column)[::-1] for column in ("ordinals", "seconds", "values")}
    even = {column: _spread(getattr(row, column), n) for column in ("lows", "highs", "counts", "hardware", "epochs")}
    return History(**named, **kept, **even)


def _spread(values: Sequence[Any], n: int) -> Sequence[Any]:
    return [values[0]] * n if len(values) == 1 else values[::-1]
