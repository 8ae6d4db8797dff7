"""Points in columns, for charts: JSON that Postgres writes itself, so that no Point becomes a Python object on its way.

A chart reads one index (`ix_point_order` holds its numbers). Where a Series has more Points than were asked for, the lowest
and the highest of every stretch are given, and the first and last of all: no peak is lost, and what is shown is a real Point.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from perfd.store.writing import AnyRow

Whole = NDArray[np.int64]

_COUNT = "SELECT series_id, count(*) AS many FROM point WHERE series_id = ANY(:ids) GROUP BY series_id"
_NAMES = "value, low, high, n, hardware_mark, epoch_mark, build_id, revision_id, occasion_id, device_id"
_EACH = """
    SELECT :start + row_number() OVER () - 1 AS x, o.* FROM (
        SELECT ordinal, measured_at, run_id, <names>
        FROM point WHERE series_id = :id ORDER BY ordinal, measured_at, run_id OFFSET :start LIMIT :many
    ) AS o""".replace("<names>", _NAMES)
"""Every Point of a stretch with its place, from the index alone."""
_CHOSEN = """
    SELECT t.x, p.ordinal, p.measured_at, p.run_id, <names>
    FROM unnest(CAST(:places AS int[]), CAST(:ordinals AS int[]), CAST(:moments AS bigint[]), CAST(:runs AS bigint[]))
        AS t (x, ordinal, moment, run_id)
    JOIN point AS p ON p.series_id = :id AND p.ordinal = t.ordinal AND p.run_id = t.run_id
        AND p.measured_at = timestamptz '2000-01-01 00:00:00+00' + t.moment * interval '1 microsecond'
    ORDER BY t.x""".replace("<names>", _NAMES)
"""Those that were chosen: the whole key of the index is asked for, so that the table is not read."""
_KEYS = """
    SELECT string_agg(float8send(value), ''::bytea), string_agg(int4send(ordinal), ''::bytea),
        string_agg(timestamptz_send(measured_at), ''::bytea), string_agg(int8send(run_id), ''::bytea)
    FROM (
        SELECT value, ordinal, measured_at, run_id
        FROM point WHERE series_id = %(id)s ORDER BY ordinal, measured_at, run_id OFFSET %(start)s LIMIT %(many)s
    ) AS o"""
_REAL = "string_agg(coalesce(CASE WHEN abs({0}) BETWEEN 1e-37 AND 3e38 THEN {0}::real::text ELSE {0}::text END, 'null'), ',')"
"""A column in single precision; what that has no room for is given as it is, where a cast would be an error."""
_DRAWN = f"""{_REAL.format("value")} AS values, {_REAL.format("low")} AS lows, {_REAL.format("high")} AS highs,
    string_agg((date_part('epoch', measured_at)::bigint)::text, ',') AS moments"""
"""What is drawn, in columns: as text, for JSON of arrays takes twice as long."""
_FEW = f"SELECT string_agg(x::text, ',') AS places, {_DRAWN} FROM (<points>) AS p"  # noqa: S608  # no word of others in it
_SIDE_BY_SIDE = f"""
    SELECT a.id, c.* FROM unnest(CAST(:ids AS bigint[])) AS a (id)
    CROSS JOIN LATERAL (
        SELECT count(*) AS many, {_DRAWN} FROM (
            SELECT value, low, high, measured_at FROM point WHERE series_id = a.id
            ORDER BY ordinal, measured_at, run_id OFFSET :start LIMIT :many
        ) AS p
    ) AS c"""  # noqa: S608  # likewise
"""Points of a stretch of each Series: one journey to the database, however many Series there are."""
_TOLD = """
    SELECT count(*) AS shown, array_to_json(array[array_to_json(array_agg(x)), array_to_json(array_agg(value)),
            array_to_json(array_agg(low)), array_to_json(array_agg(high))])::text AS data,
        json_build_object('run', array_agg(run_id), 'build', array_agg(build), 'revision', array_agg(revision),
            'ordinal', array_agg(ordinal), 'title', array_agg(title), 'measured_at', array_agg(at),
            'occasion', array_agg(occasion), 'host', array_agg(host), 'n', array_agg(n))::text AS points,
        coalesce(json_agg(json_build_object('index', x, 'word', word)) FILTER (WHERE word IS NOT NULL), '[]')::text AS epochs
    FROM (
        SELECT p.x, p.value, p.low, p.high, p.run_id, b.digest AS build, v.name AS revision, p.ordinal, v.title,
            to_char(p.measured_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS at, o.name AS occasion, d.host, p.n,
            CASE WHEN p.hardware_mark <> lag(p.hardware_mark) OVER seen THEN 'other hardware or clocks'
                WHEN p.epoch_mark <> lag(p.epoch_mark) OVER seen THEN 'other driver or libraries' END AS word
        FROM (<points>) AS p
        JOIN build AS b ON b.id = p.build_id JOIN revision AS v ON v.id = p.revision_id
        JOIN occasion AS o ON o.id = p.occasion_id JOIN device AS d ON d.id = p.device_id
        WINDOW seen AS (ORDER BY p.x)
        ORDER BY p.x
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


@dataclass(frozen=True)
class Chosen:
    """Which Points of a window are given where it holds too many: those with the lowest and highest values of each stretch."""

    total: int
    """Points of the whole Series."""
    keys: Mapping[str, list[int]]
    """Their places, and their keys in the index that orders a Series, in columns."""


def choose(connection: Connection, series_id: int, window: Window, total: int) -> Chosen:
    """The Points to be given of a Series of `total`, whose window holds more than `most`. Reads one index entry a Point of it."""
    return Chosen(total, _chosen(connection, _stretch(series_id, window, total), window.most))


def chart(connection: Connection, series_id: int, window: Window, chosen: Chosen) -> str:
    """The same as `charts` gives of this Series, when it is known already which of its Points are given."""
    row = _told_of(connection, _FEW, _stretch(series_id, window, chosen.total), chosen.keys)
    return _object(series_id, chosen.total, window, _joined(tuple(row)))


def charts(connection: Connection, ids: Sequence[int], window: Window) -> list[str]:
    """One JSON object a Series that exists, in the order of `ids`; numbers rounded to single precision, for they are drawn."""
    stretch = min(window.many(sys.maxsize), window.most + 1)  # one more than is given says that there are more
    asked = {"ids": list(ids), "start": window.start, "many": stretch}
    rows = {row.id: row for row in connection.execute(text(_SIDE_BY_SIDE), asked)}
    from_first_to_last = window.start == 0 and window.stop is None
    totals = {one: row.many for one, row in rows.items() if from_first_to_last and row.many <= window.most}
    if len(totals) < len(rows):
        totals |= _totals(connection, rows.keys() - totals.keys())
    drawn = [(one, totals[one], _drawn(connection, rows[one], window, totals[one])) for one in ids if totals.get(one)]
    return [_object(one, total, window, data) for one, total, data in drawn]


def _object(series_id: int, total: int, window: Window, data: str) -> str:
    return f'{{"id":{series_id},"total":{total},"from":{window.start},"data":{data}}}'


def whole(connection: Connection, series_id: int, window: Window, chosen: Chosen | None = None) -> Columns:
    """The Points of the window with their Runs, Builds, Revisions and occasions; of `chosen` where they were chosen before."""
    total = chosen.total if chosen else _totals(connection, [series_id]).get(series_id, 0)
    many = window.many(total)
    if not many:
        return Columns(total, 0, 0, "[[],[],[],[]]", _NO_POINTS, "[]")
    row = (
        _told_of(connection, _TOLD, _stretch(series_id, window, total), chosen.keys)
        if chosen
        else _ask(connection, _TOLD, series_id, window, total)
    )
    return Columns(total, many, row.shown, row.data, row.points, row.epochs)


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


def _totals(connection: Connection, ids: Collection[int]) -> dict[int, int]:
    return {row.series_id: row.many for row in connection.execute(text(_COUNT), {"ids": list(ids)})}


def _drawn(connection: Connection, row: AnyRow, window: Window, total: int) -> str:
    """The columns of one Series: those of the row, or of the lowest and highest of each stretch where there are more Points."""
    if window.many(total) <= window.most:
        columns = (_places(window.start, row.many), row.values, row.lows, row.highs, row.moments)
    else:
        columns = tuple(_ask(connection, _FEW, row.id, window, total))
    return _joined(columns)


def _joined(columns: Sequence[str | None]) -> str:
    return "[" + ",".join(f"[{one or ''}]" for one in columns) + "]"


@lru_cache(maxsize=100)  # most Series beside each other are of one length
def _places(start: int, many: int) -> str:
    return ",".join(map(str, range(start, start + many)))


def _ask(connection: Connection, question: str, series_id: int, window: Window, total: int) -> AnyRow:
    """The answer about every Point of the window, or about the lowest and highest of each stretch where it holds too many."""
    asked = _stretch(series_id, window, total)
    if window.many(total) <= window.most:
        return connection.execute(text(question.replace("<points>", _EACH)), asked).one()
    return _told_of(connection, question, asked, _chosen(connection, asked, window.most))


def _told_of(connection: Connection, question: str, asked: Mapping[str, Any], keys: Mapping[str, list[int]]) -> AnyRow:
    """The answer about the Points with these places and keys."""
    return connection.execute(text(question.replace("<points>", _CHOSEN)), {**asked, **keys}).one()


def _stretch(series_id: int, window: Window, total: int) -> dict[str, Any]:
    return {"id": series_id, "start": window.start, "many": window.many(total)}


def _chosen(connection: Connection, asked: Mapping[str, Any], most: int) -> dict[str, list[int]]:
    """Places and keys of the Points to be given."""
    cursor = connection.connection.cursor(binary=True)  # as text, these megabytes take longer to read than to choose from
    cursor.execute(_KEYS, asked)
    values, *keys = cursor.fetchall()[0]
    places = extremes(np.frombuffer(values, dtype=">f8").astype(np.float64), most)
    kinds = {"ordinals": ">i4", "moments": ">i8", "runs": ">i8"}
    found = {name: np.frombuffer(key, dtype=kind)[places] for (name, kind), key in zip(kinds.items(), keys, strict=True)}
    return {name: column.tolist() for name, column in (found | {"places": places + asked["start"]}).items()}


_NO_POINTS = '{"run":[],"build":[],"revision":[],"ordinal":[],"title":[],"measured_at":[],"occasion":[],"host":[],"n":[]}'
