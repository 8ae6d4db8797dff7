"""What the judge reads and writes: histories of Series, Verdicts and Changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, Select, select

from perfd.domain.history import History
from perfd.domain.occasion import Occasion
from perfd.domain.past import Past
from perfd.domain.run import Point
from perfd.domain.verdict import Judgement, RegressionState, Verdict
from perfd.store import occasions, reading, tables, tracks
from perfd.store.past import pasts
from perfd.store.records import ChangeRow, SeriesInfo, SeriesJudgement
from perfd.store.verdicts import write_judgements
from perfd.store.writing import among

P = tables.point.c
C = tables.change.c
Occ = tables.occasion.c


@dataclass(frozen=True)
class Judgements:
    """Questions that the judge asks."""

    engine: Engine

    def touched(self, occasion: Occasion) -> tuple[SeriesInfo, ...]:
        """Every Series that got a Point from the occasion."""
        with self.engine.begin() as connection:
            touched = select(P.series_id).where(P.occasion_id == occasions.id_of(connection, occasion))
            asked = reading.series_select().where(tables.series.c.id.in_(touched)).order_by(tables.series.c.id)
            return tuple(reading.as_series(row) for row in connection.execute(asked).all())

    def history(self, series_id: int, last: int = 500) -> tuple[Point, ...]:
        """The last Points of the Series in order (by commit, then by occasion), oldest first."""
        with self.engine.begin() as connection:
            return tuple(row.point for row in reading.point_rows(connection, series_id, last))

    def histories(self, series: Sequence[int], last: int) -> dict[int, History]:
        """By Series, what `history` answers, in columns."""
        with self.engine.begin() as connection:
            return tracks.histories(connection, series, last)

    def pasts(self, series: Sequence[int], last: int) -> dict[int, Past]:
        """By Series, what `history` answers, as far as it is judged by."""
        with self.engine.begin() as connection:
            return pasts(connection, series, last)

    def tracks(self, occasion: Occasion, series: Sequence[int]) -> dict[int, Any]:
        """By Series, the JSON that the judge remembered before the occasion; absent where there is none."""
        with self.engine.begin() as connection:
            return tracks.read_tracks(connection, occasions.id_of(connection, occasion), series)

    def refuted(self, occasion: Occasion, but: str) -> dict[int, frozenset[tuple[str, str]]]:
        """By Series of the occasion, the (Build, occasion) pairs of Changes that were called noise by anyone but `but`."""
        with self.engine.begin() as connection:
            rows = connection.execute(_refuted(occasions.id_of(connection, occasion), but)).all()
        found: dict[int, frozenset[tuple[str, str]]] = {}
        for row in rows:
            found[row.series_id] = found.get(row.series_id, frozenset()) | {(row.digest, row.name)}
        return found

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
            asked = reading.series_select().where(among(tables.series.c.id, {change.series_id for change in found}))
            series = {row.id: reading.as_series(row) for row in connection.execute(asked)}
        return tuple((series[change.series_id], change) for change in found)

    def write(self, series_id: int, occasion: Occasion, points: Sequence[Point], judgement: Judgement, now: datetime) -> None:
        """As `write_all`, for one Series, with nothing to be remembered."""
        self.write_all(occasion, [SeriesJudgement(series_id, Past.of(points), judgement)], now)

    def write_all(self, occasion: Occasion, judged: Sequence[SeriesJudgement], now: datetime) -> None:
        """Verdicts, Changes and what is to be remembered stand, of all these Series or of none.

        Writing the same twice changes nothing. A Change that moved by a few Points keeps its id; one that is no longer seen is
        marked as gone, unless its place lies before the history that was judged.
        """
        with self.engine.begin() as connection:
            write_judgements(connection, occasions.id_of(connection, occasion), judged, now)

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

    def standing(self, series: Sequence[int]) -> dict[int, tuple[ChangeRow, ...]]:
        """By Series, what `changes` answers."""
        with self.engine.begin() as connection:
            found = reading.changes(connection, among(C.series_id, series), C.gone_at.is_(None))
        by_series: dict[int, tuple[ChangeRow, ...]] = dict.fromkeys(series, ())
        for change in found:
            by_series[change.series_id] += (change,)
        return by_series


def _refuted(occasion_id: int, but: str) -> Select[Any]:
    """Changes of the occasion's Series whose Regression is noise; what went away by itself may come again."""
    regression, member, event = tables.regression.c, tables.regression_member.c, tables.regression_event.c
    by_whom = (
        select(event.actor)
        .where(event.regression_id == regression.id, event.to_state == RegressionState.NOISE.value)
        .order_by(event.at, event.id)
        .limit(1)
        .scalar_subquery()
    )
    return (
        select(C.series_id, tables.build.c.digest, Occ.name)
        .select_from(tables.regression)
        .join(tables.regression_member, member.regression_id == regression.id)
        .join(tables.change, C.id == member.change_id)
        .join(tables.build, tables.build.c.id == C.build_id)
        .join(tables.occasion, Occ.id == C.found_in)
        .where(
            regression.state == RegressionState.NOISE.value,
            C.series_id.in_(select(P.series_id).where(P.occasion_id == occasion_id)),
            by_whom != but,
        )
    )
