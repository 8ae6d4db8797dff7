"""Tracks and the histories that they go on from, read for many Series at once."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, Subquery, select, true
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.run import Point
from perfd.store import tables
from perfd.store.writing import AnyRow

T = tables.track.c
_SHARED = ("build", "revision", "occasion", "hardware_hash", "epoch")
"""Words that many Points share, kept in memory once."""


def read_tracks(connection: Connection, occasion_id: int, series: Sequence[int]) -> dict[int, Any]:
    """By Series, what was remembered before the occasion; absent where nothing was."""
    rows = connection.execute(select(tables.track).where(T.series_id.in_(series)))
    found = {row.series_id: row.before if row.occasion_id == occasion_id else row.memory for row in rows}
    return {key: memory for key, memory in found.items() if memory is not None}


def write_tracks(connection: Connection, occasion_id: int, memories: Mapping[int, Any]) -> None:
    """What is remembered after the occasion stands there, beside what was remembered before it."""
    if not memories:
        return
    before = read_tracks(connection, occasion_id, list(memories))
    rows = [
        {"series_id": key, "occasion_id": occasion_id, "memory": memory, "before": before.get(key)}
        for key, memory in memories.items()
    ]
    written = insert(tables.track)
    new = written.excluded
    values = {"occasion_id": new.occasion_id, "memory": new.memory, "before": new.before}
    connection.execute(written.on_conflict_do_update(index_elements=["series_id"], set_=values), rows)


def histories(connection: Connection, series: Sequence[int], last: int) -> dict[int, tuple[Point, ...]]:
    """By Series, its last Points in order (by commit, then by occasion), oldest first."""
    found: dict[int, list[Point]] = {key: [] for key in series}
    words: dict[str, str] = {}
    for row in connection.execute(_recent(series, last)):
        found[row.series_id].append(_as_point(row, words))
    return {key: tuple(points) for key, points in found.items()}


def _recent(series: Sequence[int], last: int) -> Select[Any]:
    newest = _newest(last)
    p = newest.c
    return (
        select(
            newest,
            tables.run.c.key.label("run"),
            tables.build.c.digest.label("build"),
            tables.revision.c.name.label("revision"),
            tables.occasion.c.name.label("occasion"),
        )
        .select_from(tables.series)
        .join(newest, true())
        .join(tables.run, tables.run.c.id == p.run_id)
        .join(tables.build, tables.build.c.id == p.build_id)
        .join(tables.revision, tables.revision.c.id == p.revision_id)
        .join(tables.occasion, tables.occasion.c.id == p.occasion_id)
        .where(tables.series.c.id.in_(series))
        .order_by(p.series_id, p.ordinal, p.measured_at, p.run_id)
    )


def _newest(last: int) -> Subquery:
    P = tables.point.c  # noqa: N806  # columns
    order = (P.ordinal.desc(), P.measured_at.desc(), P.run_id.desc())
    return select(tables.point).where(P.series_id == tables.series.c.id).order_by(*order).limit(last).lateral("newest")


def _as_point(row: AnyRow, words: dict[str, str]) -> Point:
    shared = {name: words.setdefault(getattr(row, name), getattr(row, name)) for name in _SHARED}
    return Point(
        run=row.run,
        ordinal=row.ordinal,
        measured_at=row.measured_at,
        value=row.value,
        interval=None if row.low is None else (row.low, row.high),
        n=row.n,
        **shared,
    )
