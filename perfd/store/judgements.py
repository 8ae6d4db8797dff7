"""What the judge reads and writes: histories of Series, Verdicts and Changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Select, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.metric import Better
from perfd.domain.occasion import Occasion
from perfd.domain.run import Point
from perfd.domain.verdict import Change, ChangeStatus, Judgement, Verdict
from perfd.errors import PerfdError
from perfd.store import occasions, reading, tables
from perfd.store.records import ChangeRow, SeriesInfo
from perfd.store.writing import AnyRow, clean

P = tables.point.c
C = tables.change.c
Occ = tables.occasion.c
NEAR = 3
"""A Change whose place moves by at most so many Points (with the same direction) is the same Change."""


@dataclass(frozen=True)
class Judgements:
    """Questions that the judge asks."""

    engine: Engine

    def touched(self, occasion: Occasion) -> tuple[SeriesInfo, ...]:
        """Every Series that got a Point from the occasion."""
        with self.engine.begin() as connection:
            touched = select(P.series_id).where(P.occasion_id == occasions.id_of(connection, occasion))
            asked = reading.series_select().where(tables.series.c.id.in_(touched)).order_by(tables.series.c.id)
            return tuple(reading.as_series(row) for row in connection.execute(asked))

    def history(self, series_id: int, last: int = 500) -> tuple[Point, ...]:
        """The last Points of the Series in order (by commit, then by occasion), oldest first."""
        with self.engine.begin() as connection:
            return tuple(row.point for row in reading.point_rows(connection, series_id, last))

    def noise(self, occasion: Occasion) -> dict[int, float]:
        """By Series, the night-to-night relative standard deviation that the occasion's Verdicts told."""
        V = tables.verdict.c  # noqa: N806  # columns
        with self.engine.begin() as connection:
            asked = select(V.series_id, V.noise).where(
                V.occasion_id == occasions.id_of(connection, occasion), V.noise.is_not(None)
            )
            return dict(connection.execute(asked).all())

    def detected_since(self, occasion: Occasion, moment: datetime) -> tuple[tuple[SeriesInfo, ChangeRow], ...]:
        """The Changes of the occasion's Series that stand and were first called detected from that moment on."""
        touched = select(P.series_id).where(P.occasion_id == select(Occ.id).where(Occ.name == occasion.name).scalar_subquery())
        with self.engine.begin() as connection:
            found = reading.changes(connection, C.series_id.in_(touched), C.gone_at.is_(None), C.detected_at >= moment)
            asked = reading.series_select().where(tables.series.c.id.in_({change.series_id for change in found}))
            series = {row.id: reading.as_series(row) for row in connection.execute(asked)}
        return tuple((series[change.series_id], change) for change in found)

    def write(self, series_id: int, occasion: Occasion, points: Sequence[Point], judgement: Judgement, now: datetime) -> None:
        """The Verdict and the Changes stand; `points` is the history that was judged, which `Change.index` counts in.

        Writing the same twice changes nothing. A Change that moved by a few Points keeps its id; one that is no longer seen is
        marked as gone, unless its place lies before the history that was judged.
        """
        with self.engine.begin() as connection:
            occasion_id = occasions.id_of(connection, occasion)
            connection.execute(_only_one_judge(series_id))
            _write_verdict(connection, series_id, occasion_id, judgement.verdict, now)
            _write_changes(connection, (series_id, occasion_id), points, judgement.changes, now)

    def verdict(self, series_id: int, occasion: Occasion) -> Verdict | None:
        """What was said of the Series after the occasion."""
        V = tables.verdict.c  # noqa: N806  # columns
        with self.engine.begin() as connection:
            asked = select(tables.verdict).where(V.series_id == series_id, V.occasion_id == occasions.id_of(connection, occasion))
            row = connection.execute(asked).first()
        return None if row is None else reading.as_verdict(row)

    def changes(self, series_id: int) -> tuple[ChangeRow, ...]:
        """The Changes of the Series that still stand, in order."""
        with self.engine.begin() as connection:
            return reading.changes(connection, C.series_id == series_id, C.gone_at.is_(None))


def _only_one_judge(series_id: int) -> Select[int]:
    """Two judges of one Series write one after the other."""
    return select(tables.series.c.id).where(tables.series.c.id == series_id).with_for_update()


def _write_verdict(connection: Connection, series_id: int, occasion_id: int, verdict: Verdict, now: datetime) -> None:
    low, high = verdict.interval or (None, None)
    values = {
        "outcome": verdict.outcome.value,
        "reason": clean(verdict.reason),
        "detector": verdict.detector,
        "n": verdict.n,
        "effect": verdict.effect,
        "low": low,
        "high": high,
        "bar": verdict.bar,
        "q": verdict.q,
        "noise": verdict.noise,
        "mde": {str(nights): effect for nights, effect in verdict.mde.items()},
        "judged_at": now,
    }
    written = insert(tables.verdict).values(series_id=series_id, occasion_id=occasion_id, **values)
    connection.execute(written.on_conflict_do_update(index_elements=["series_id", "occasion_id"], set_=values))


def _write_changes(
    connection: Connection, seen: tuple[int, int], points: Sequence[Point], found: Sequence[Change], now: datetime
) -> None:
    """The Changes of a Series, as seen after an occasion (the ids of both)."""
    series_id, occasion_id = seen
    place = {point.run: index for index, point in enumerate(points)}
    standing = [row for row in connection.execute(_standing(series_id)) if row.key in place]
    kept = _match(found, standing, place)
    every = [row.id for row in standing]  # first all are gone, so that two may swap places; those that are seen come back below
    connection.execute(update(tables.change).where(C.id.in_(every)).values(gone_at=now))
    better = _direction(connection, series_id)
    for index, change in enumerate(found):
        values = _values(connection, points[change.index], change, better)
        _write_change(
            connection, kept.get(index), values | {"series_id": series_id, "seen_in": occasion_id, "gone_at": None}, now
        )


def _standing(series_id: int) -> Select[Any]:
    run = tables.run.c
    return (
        select(C.id, C.effect, run.key)
        .join(tables.run, run.id == C.run_id)
        .where(C.series_id == series_id, C.gone_at.is_(None))
        .order_by(C.id)
        .with_for_update(of=tables.change)
    )


def _match(found: Sequence[Change], standing: Sequence[AnyRow], place: dict[str, int]) -> dict[int, int]:
    """Which found Change (by position) is which that stands (by id): nearest first, same direction, at most NEAR Points away."""
    pairs = sorted(
        (abs(change.index - place[row.key]), index, row.id)
        for index, change in enumerate(found)
        for row in standing
        if (change.effect > 0) == (row.effect > 0)
    )
    kept: dict[int, int] = {}
    for distance, index, change_id in pairs:
        if distance <= NEAR and index not in kept and change_id not in kept.values():
            kept[index] = change_id
    return kept


def _direction(connection: Connection, series_id: int) -> Better:
    asked = select(tables.metric.c.better).join(tables.series).where(tables.series.c.id == series_id)
    return Better(connection.execute(asked).scalar_one())


def _values(connection: Connection, point: Point, change: Change, better: Better) -> dict[str, Any]:
    run = tables.run.c
    row = connection.execute(select(run.id, run.build_id).where(run.key == point.run)).first()
    if row is None:
        raise PerfdError(f"a Change was placed at the Run {point.run[:12]}, which the store does not know")
    low, high = change.interval or (None, None)
    return {
        "build_id": row.build_id,
        "run_id": row.id,
        "kind": change.kind.value,
        "status": change.status.value,
        "before": change.before,
        "after": change.after,
        "effect": change.effect,
        "low": low,
        "high": high,
        "q": change.q,
        "worse": (change.after > change.before) == (better is Better.LOWER),
    }


def _write_change(connection: Connection, change_id: int | None, values: dict[str, Any], now: datetime) -> None:
    detected = values["status"] == ChangeStatus.DETECTED.value
    if change_id is None:
        added = values | {"found_in": values["seen_in"], "detected_at": now if detected else None}
        connection.execute(insert(tables.change).values(**added))
        return
    old = connection.execute(select(C.status, C.detected_at).where(C.id == change_id)).one()
    if old.detected_at is not None:  # what was once detected is not taken back to a suspect: people may have been told
        values = values | {"status": ChangeStatus.DETECTED.value}
    elif detected:
        values = values | {"detected_at": now}
    connection.execute(update(tables.change).where(C.id == change_id).values(**values))
