"""What pages and reports show; reads only."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Engine, select

from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind
from perfd.domain.verdict import RegressionState
from perfd.store import occasions as asking
from perfd.store import tables
from perfd.store.pages import occasions, runs, series, status
from perfd.store.pages.series import SeriesFilter
from perfd.store.records import (
    ArmSamples,
    BuildPage,
    OccasionRow,
    OccasionSummary,
    RegressionRow,
    RunPage,
    SeriesPage,
    SeriesRow,
    Status,
)
from perfd.store.regressions import Regressions

__all__ = ["BuildPage", "Pages", "SeriesFilter"]
Occ = tables.occasion.c


@dataclass(frozen=True)
class Pages:
    """Questions that pages and reports ask; each is one transaction that only reads."""

    engine: Engine

    def ping(self) -> None:
        """The database answers; whatever the driver raises where it does not is left to the caller."""
        with self.engine.begin() as connection:
            connection.execute(select(1))

    def series_rows(self, wanted: SeriesFilter | None = None) -> tuple[SeriesRow, ...]:
        """Every Series that matches, with latest and previous Point, last Verdict and the values of a sparkline."""
        with self.engine.begin() as connection:
            return series.rows(connection, wanted or SeriesFilter())

    def choices(self) -> dict[str, tuple[str, ...]]:
        """For every part of `SeriesFilter`: the values that some Series has."""
        with self.engine.begin() as connection:
            return series.choices(connection)

    def series_page(self, series_id: int, last: int | None = None) -> SeriesPage | None:
        """The Series with its (last) Points, its Changes that stand, and its last Verdict."""
        with self.engine.begin() as connection:
            return series.page(connection, series_id, last)

    def run_page(self, key: str) -> RunPage | None:
        """All about the Run with that key digest."""
        with self.engine.begin() as connection:
            return runs.page(connection, key)

    def build_page(self, digest: str) -> BuildPage | None:
        """All about the Build with that digest."""
        with self.engine.begin() as connection:
            return runs.build_page(connection, digest)

    def occasion(self, occasion: Occasion) -> OccasionSummary:
        """The final table of an occasion; raises PerfdError where it was never opened."""
        with self.engine.begin() as connection:
            return occasions.summary(connection, asking.id_of(connection, occasion))

    def occasion_named(self, name: str) -> OccasionSummary | None:
        """The same, by the occasion's natural name; absent where there is none."""
        with self.engine.begin() as connection:
            found = connection.execute(select(Occ.id).where(Occ.name == name)).scalar()
            return None if found is None else occasions.summary(connection, found)

    def occasions(self, kind: OccasionKind | None = None, last: int = 50) -> tuple[OccasionRow, ...]:
        """The newest occasions (of a kind) with their Runs counted, newest first."""
        with self.engine.begin() as connection:
            where = () if kind is None else (Occ.kind == kind.value,)
            return occasions.rows(connection, *where, last=last)

    def nights(self, last: int = 30) -> tuple[OccasionRow, ...]:
        """The newest nights, newest first."""
        return self.occasions(OccasionKind.NIGHT, last)

    def blocks(self, occasion: Occasion) -> tuple[ArmSamples, ...]:
        """Every Run of a comparison with its raw Samples, by Workload and block."""
        with self.engine.begin() as connection:
            return runs.blocks(connection, asking.id_of(connection, occasion))

    def status(self) -> Status:
        """How the service stands."""
        with self.engine.begin() as connection:
            return status.status(connection)

    def regressions(self, states: Collection[RegressionState] | None = None) -> tuple[RegressionRow, ...]:
        """All Regressions (in these states), oldest first."""
        return Regressions(self.engine).every(states)

    def regression(self, regression_id: int) -> RegressionRow | None:
        """The Regression with its members and events."""
        return Regressions(self.engine).read(regression_id)
