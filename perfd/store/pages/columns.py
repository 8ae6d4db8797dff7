"""Points in columns, for charts: JSON that Postgres writes itself, so that no Point becomes a Python object on its way.

A chart reads one index (`ix_point_order` holds its numbers). Where a Series has more Points than were asked for, the lowest
and the highest of every stretch are given, and the first and last of all: no peak is lost, and what is shown is a real Point.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

Whole = NDArray[np.int64]

_COUNT = "SELECT series_id, count(*) AS many FROM point WHERE series_id = ANY(:ids) GROUP BY series_id"
_EVERY = """
    SELECT p.series_id, format('{"id":%s,"total":%s,"from":%s,"data":[%s,%s,%s,%s,%s]}', p.series_id, :total, :start,
        array_to_json(array_agg(x)), array_to_json(array_agg(value)), array_to_json(array_agg(low)),
        array_to_json(array_agg(high)), array_to_json(array_agg(at)))
    FROM (
        SELECT series_id, :start + row_number() OVER () - 1 AS x, value, low, high, at FROM (
            SELECT series_id, value::real, low::real, high::real, extract(epoch FROM measured_at)::bigint AS at
            FROM point WHERE series_id = :id ORDER BY ordinal, measured_at, run_id OFFSET :start LIMIT :many
        ) AS o
    ) AS p GROUP BY p.series_id"""
_BYTES = """
    SELECT string_agg(int8send(run_id), ''::bytea), string_agg(float8send(value), ''::bytea) FROM (
        SELECT run_id, value FROM point WHERE series_id = :id ORDER BY ordinal, measured_at, run_id OFFSET :start LIMIT :many
    ) AS o"""
_SOME = """
    SELECT format('{"id":%s,"total":%s,"from":%s,"data":[%s,%s,%s,%s,%s]}', CAST(:id AS bigint), :total, :start,
        array_to_json(array_agg(x)), array_to_json(array_agg(value)), array_to_json(array_agg(low)),
        array_to_json(array_agg(high)), array_to_json(array_agg(at)))
    FROM (
        SELECT t.x, p.value::real, p.low::real, p.high::real, extract(epoch FROM p.measured_at)::bigint AS at
        FROM unnest(CAST(:runs AS bigint[]), CAST(:places AS int[])) AS t (run_id, x)
        JOIN point AS p ON p.series_id = :id AND p.run_id = t.run_id ORDER BY t.x
    ) AS o"""
_WHOLE = """
    SELECT array_to_json(array[array_to_json(array_agg(x)), array_to_json(array_agg(value)), array_to_json(array_agg(low)),
            array_to_json(array_agg(high))])::text AS data,
        json_build_object('run', array_agg(run), 'build', array_agg(build), 'revision', array_agg(revision),
            'ordinal', array_agg(ordinal), 'title', array_agg(title), 'measured_at', array_agg(at),
            'occasion', array_agg(occasion), 'host', array_agg(host), 'n', array_agg(n))::text AS points,
        coalesce(json_agg(json_build_object('index', x, 'word', word)) FILTER (WHERE word IS NOT NULL), '[]')::text AS epochs
    FROM (
        SELECT t.x, p.value, p.low, p.high, r.key AS run, b.digest AS build, v.name AS revision, p.ordinal, v.title,
            to_char(p.measured_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS at, o.name AS occasion, d.host, p.n,
            CASE WHEN p.hardware_hash <> lag(p.hardware_hash) OVER seen THEN 'other hardware or clocks'
                WHEN p.epoch <> lag(p.epoch) OVER seen THEN 'other driver or libraries' END AS word
        FROM unnest(CAST(:runs AS bigint[]), CAST(:places AS int[])) AS t (run_id, x)
        JOIN point AS p ON p.series_id = :id AND p.run_id = t.run_id
        JOIN run AS r ON r.id = p.run_id JOIN build AS b ON b.id = p.build_id JOIN revision AS v ON v.id = p.revision_id
        JOIN occasion AS o ON o.id = p.occasion_id JOIN device AS d ON d.id = p.device_id
        WINDOW seen AS (ORDER BY t.x)
        ORDER BY t.x
    ) AS q"""


@dataclass(frozen=True)
class Window:
    """Which Points of a Series: places from `start` up to, and without, `stop`, and at most about `most` of them."""

    start: int = 0
    stop: int | None = None
    most: int = 4000

    def many(self, total: int) -> int:
        """How many Points of `total` lie in it."""
        return max(0, min(total, total if self.stop is None else self.stop) - self.start)


@dataclass(frozen=True)
class Columns:
    """Points of one Series in columns, as JSON: all that a chart and its readers ask of each."""

    total: int
    """Points of the whole Series."""
    many: int
    """Points in the window."""
    shown: int
    """Points given: fewer than `many` where the window holds more than was asked for."""
    data: str
    """[[place…], [value…], [low…], [high…]]."""
    points: str
    """What each Point is, in columns of the same length."""
    epochs: str
    """Places where hardware, or driver and libraries, differ from the Point that is given before."""


def charts(connection: Connection, ids: Sequence[int], window: Window) -> list[str]:
    """One JSON object a Series that exists, in the order of `ids`; numbers rounded to single precision, for they are drawn."""
    totals = _totals(connection, ids)
    return [_chart(connection, one, totals[one], window) for one in ids if one in totals]


def whole(connection: Connection, series_id: int, window: Window) -> Columns:
    """The Points of the window with their Runs, Builds, Revisions and occasions."""
    total = _totals(connection, [series_id]).get(series_id, 0)
    many = window.many(total)
    if not many:
        return Columns(total, 0, 0, "[[],[],[],[]]", _NO_POINTS, "[]")
    runs, places = _chosen(connection, series_id, window, many)
    row = connection.execute(text(_WHOLE), {"id": series_id, "runs": runs, "places": places}).one()
    return Columns(total, many, len(runs), row.data, row.points, row.epochs)


def extremes(values: NDArray[np.float64], most: int) -> Whole:
    """Places of at most about `most` values, in order: the first, the last, the least and the greatest of every stretch."""
    stretches = max(1, most // 2)
    size = -(-len(values) // stretches)
    full = len(values) // size * size
    table = values[:full].reshape(-1, size)
    begins = np.arange(0, full, size)
    chosen = [[0, len(values) - 1], begins + table.argmin(axis=1), begins + table.argmax(axis=1)]
    if full < len(values):
        chosen.append([full + int(values[full:].argmin()), full + int(values[full:].argmax())])
    return np.unique(np.concatenate([np.asarray(one, dtype=np.int64) for one in chosen]))


def _totals(connection: Connection, ids: Sequence[int]) -> dict[int, int]:
    return {row.series_id: row.many for row in connection.execute(text(_COUNT), {"ids": list(ids)})}


def _chart(connection: Connection, series_id: int, total: int, window: Window) -> str:
    many = window.many(total)
    asked: dict[str, Any] = {"id": series_id, "total": total, "start": window.start}
    if not many:
        return f'{{"id":{series_id},"total":{total},"from":{window.start},"data":[[],[],[],[],[]]}}'
    if many <= window.most:
        return str(connection.execute(text(_EVERY), asked | {"many": many}).one()[1])
    runs, places = _chosen(connection, series_id, window, many)
    return str(connection.execute(text(_SOME), asked | {"runs": runs, "places": places}).scalar_one())


def _chosen(connection: Connection, series_id: int, window: Window, many: int) -> tuple[list[int], list[int]]:
    """The Runs whose Points are given, and the places of these."""
    asked = {"id": series_id, "start": window.start, "many": many}
    run_bytes, value_bytes = connection.execute(text(_BYTES), asked).one()
    runs = np.frombuffer(run_bytes, dtype=">i8")
    places = np.arange(many)
    if many > window.most:
        places = extremes(np.frombuffer(value_bytes, dtype=">f8").astype(np.float64), window.most)
    return runs[places].tolist(), (places + window.start).tolist()


_NO_POINTS = '{"run":[],"build":[],"revision":[],"ordinal":[],"title":[],"measured_at":[],"occasion":[],"host":[],"n":[]}'
