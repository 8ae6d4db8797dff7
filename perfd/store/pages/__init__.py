"""What pages and reports show; reads only."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, Text, func, select

from perfd.domain.occasion import Occasion
from perfd.domain.results import MetricSamples
from perfd.domain.run import OccasionKind
from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import RegressionState
from perfd.store import occasions as asking
from perfd.store import tables
from perfd.store.pages import (
    across,
    chosen,
    columns,
    comparing,
    latest_columns,
    marking,
    news,
    nights,
    occasions,
    one_series,
    origins,
    related,
    run_list,
    runs,
    series,
    status,
    triage,
    weeks,
)
from perfd.store.pages.across import PARTS
from perfd.store.pages.chosen import UNJUDGED, SeriesFilter, Version
from perfd.store.pages.columns import Chosen, Columns, Window
from perfd.store.pages.comparing import Apart, Question, Sorting
from perfd.store.pages.latest_columns import Names
from perfd.store.pages.occasions import OccasionFilter
from perfd.store.pages.one_series import Extent
from perfd.store.pages.related import Daily, Pinned, Sibling
from perfd.store.pages.triage import Commits
from perfd.store.records import (
    ArmSamples,
    BuildPage,
    ChangeRow,
    DifferingList,
    Movement,
    NightCounts,
    OccasionRow,
    OccasionSummary,
    OpenRegression,
    RegressionRow,
    RunPage,
    RunRow,
    SeriesInfo,
    SeriesLine,
    SeriesOrder,
    SeriesPage,
    SeriesRow,
    Side,
    Span,
    Status,
    UnsentRow,
    WaitingRow,
)
from perfd.store.regressions import Regressions

__all__ = [
    "PARTS",
    "UNJUDGED",
    "Apart",
    "BuildPage",
    "Chosen",
    "Columns",
    "Commits",
    "Daily",
    "Extent",
    "OccasionFilter",
    "Pages",
    "Pinned",
    "Question",
    "SeriesFilter",
    "Sibling",
    "Sorting",
    "Version",
    "Window",
]
Occ = tables.occasion.c


@dataclass(frozen=True)
class Pages:
    """Questions that pages and reports ask; they only read."""

    engine: Engine

    def ping(self) -> None:
        """The database answers; whatever the driver raises where it does not is left to the caller."""
        with self.engine.begin() as connection:
            connection.execute(select(1))

    def series_rows(self, wanted: SeriesFilter | None = None) -> tuple[SeriesRow, ...]:
        """Every Series that matches, with latest and previous Point, last Verdict and the values of a sparkline."""
        with self.engine.begin() as connection:
            return series.rows(connection, wanted or SeriesFilter())

    def series_order(self, wanted: SeriesFilter, classes: Sequence[WorkloadClass]) -> SeriesOrder:
        """Every Series that matches and has Points, by class in that order; the same while the same Series have Points."""
        with self.engine.begin() as connection:
            return series.order(connection, wanted, classes)

    def series_lines(self, ids: Sequence[int]) -> tuple[SeriesLine, ...]:
        """The Series with these ids that have Points, in this order, each with the numbers that a list shows."""
        with self.engine.begin() as connection:
            return series.lines(connection, ids)

    def unmoved(self) -> NDArray[np.int64]:
        """Series that a list may fold away, because they are many and nothing has changed in them; see `series.unmoved`."""
        with self.engine.begin() as connection:
            return series.unmoved(connection)

    def some_rows(self, ids: Sequence[int]) -> tuple[SeriesRow, ...]:
        """The Series with these ids that have Points, in this order, with all about their last two Points and Verdict."""
        with self.engine.begin() as connection:
            return series.some_rows(connection, ids)

    def choices(self) -> dict[str, tuple[str, ...]]:
        """For every part of `SeriesFilter`: the values that some Series has."""
        with self.engine.begin() as connection:
            return chosen.choices(connection)

    def series_page(self, series_id: int, last: int | None = None, extent: Extent | None = None) -> SeriesPage | None:
        """The Series with its (last) Points, its Changes that stand, and its last Verdict; its extent where that is known."""
        with self.engine.begin() as connection:
            return one_series.page(connection, series_id, last, extent)

    def extent(self, series_id: int) -> Extent:
        """How many Points the Series has, and between which values they lie."""
        with self.engine.begin() as connection:
            return one_series.extent(connection, series_id)

    def siblings(self, series_id: int) -> tuple[Sibling, ...]:
        """Series that differ from this one in one part of the key, by that part; a few dozen at most."""
        with self.engine.begin() as connection:
            return related.siblings(connection, series_id)

    def pinned(self, series_id: int, revision: str) -> Pinned | None:
        """What the Series last measured at a Revision whose name begins so; absent where it did not."""
        with self.engine.begin() as connection:
            return related.pinned(connection, series_id, revision)

    def marked(self, series_id: int, name: str) -> marking.Marked | None:
        """What the Series knows of the Build whose Revision or digest begins so; absent where it knows none."""
        with self.engine.begin() as connection:
            return marking.marked(connection, series_id, name)

    def daily(self, ids: Sequence[int]) -> dict[int, Daily]:
        """By Series: one value a day, for formulas over several."""
        with self.engine.begin() as connection:
            return related.daily(connection, ids)

    def series_columns(self, series_id: int, window: Window, chosen: Chosen | None = None) -> Columns:
        """Points of one Series with their Runs, Builds and Revisions, in columns of JSON; of `chosen` where that is known."""
        with self.engine.begin() as connection:
            return columns.whole(connection, series_id, window, chosen)

    def choose(self, series_id: int, window: Window, total: int) -> Chosen:
        """Which Points of a window that holds too many are given: the lowest and highest of each stretch."""
        with self.engine.begin() as connection:
            return columns.choose(connection, series_id, window, total)

    def chart(self, series_id: int, window: Window, chosen: Chosen) -> str:
        """The chosen Points of a Series to be drawn, one JSON object."""
        with self.engine.begin() as connection:
            return columns.chart(connection, series_id, window, chosen)

    def charts(self, ids: Sequence[int], window: Window) -> list[str]:
        """Points of these Series to be drawn, one JSON object each; Series that do not exist are left out."""
        with self.engine.begin() as connection:
            return columns.charts(connection, ids, window)

    def latest_columns(self, wanted: SeriesFilter) -> str:
        """The last value of every Series that matches, in columns: one JSON object."""
        with self.engine.begin() as connection:
            return latest_columns.latest(connection, wanted)

    def latest_names(self) -> Names:
        """What the Series are that have Points: the same as long as the same ones have."""
        with self.engine.begin() as connection:
            return latest_columns.names(connection)

    def latest_of_all(self, known: Names) -> str | None:
        """As `latest_columns`, of all Series with their names known; absent where these are not those that have Points."""
        with self.engine.begin() as connection:
            return latest_columns.latest_of_all(connection, known)

    def run_list(self, wanted: run_list.RunFilter, offset: int, limit: int) -> tuple[int, tuple[RunRow, ...]]:
        """How many Runs match, and one page of them, the one that was planned last first."""
        with self.engine.begin() as connection:
            return run_list.listed(connection, wanted, offset, limit)

    def version(self, ids: Sequence[int] | None = None) -> Version:
        """What stands about these Series (about all) is the same as long as this is."""
        with self.engine.begin() as connection:
            return chosen.version(connection, ids)

    def snapshot(self) -> str:
        """Nothing at all was written in the database as long as this is the same."""
        with self.engine.begin() as connection:
            return str(connection.execute(select(func.pg_current_snapshot().cast(Text))).scalar_one())

    def side(self, name: str) -> Side | None:
        """The night, the last night of a day, or the Build that an address names; absent where there is none."""
        with self.engine.begin() as connection:
            return comparing.side(connection, name)

    def origin(self, series_id: int, side: Side | None = None, before: str = "") -> str | None:
        """Key digest of the Run that a number of a Series comes from: its last Point, or that of a side, or before a Build."""
        with self.engine.begin() as connection:
            return origins.origin(connection, series_id, side, before)

    def paired(self, part: str) -> tuple[str, ...]:
        """The engines, devices, … that can be held against another one; `part` is one of PARTS."""
        with self.engine.begin() as connection:
            return across.paired(connection, part)

    def differing(self, question: Question) -> DifferingList:
        """One page of the Series that two nights or two Builds measured, and how all of them lie apart."""
        with self.engine.begin() as connection:
            return comparing.differing(connection, question)

    def samples_between(self, question: Question, series_id: int) -> tuple[MetricSamples, MetricSamples] | None:
        """The raw Samples behind both Points of one Series that two sides measured; absent where one side has none."""
        with self.engine.begin() as connection:
            return comparing.samples(connection, question, series_id)

    def found_between(self, start: datetime, stop: datetime) -> tuple[tuple[SeriesInfo, ChangeRow], ...]:
        """Steps and drifts that stand and were found in nights of that span, the largest effect first."""
        with self.engine.begin() as connection:
            return weeks.changes(connection, start, stop)

    def nights_between(self, start: datetime, stop: datetime) -> tuple[OccasionRow, ...]:
        """The nights of that span with their Runs counted, newest first."""
        with self.engine.begin() as connection:
            return weeks.nights(connection, start, stop)

    def results_since(self, moment: datetime) -> int:
        """How many Runs were done after that moment."""
        with self.engine.begin() as connection:
            return news.results_since(connection, moment)

    def spans(self, since: Mapping[int, datetime]) -> dict[int, Span]:
        """What came of the nights from those moments on, by how many nights were due since each."""
        with self.engine.begin() as connection:
            return nights.spans(connection, since)

    def movements(self, now: datetime) -> tuple[Movement, Movement]:
        """How many Series stand better or worse than 7 and 30 days before."""
        with self.engine.begin() as connection:
            return nights.movements(connection, now)

    def waiting(self) -> tuple[WaitingRow, ...]:
        """The Runs that are first in the queue, in its order."""
        with self.engine.begin() as connection:
            return status.waiting(connection)

    def unsent(self) -> tuple[UnsentRow, ...]:
        """Messages that are not sent yet, oldest first."""
        with self.engine.begin() as connection:
            return status.unsent(connection)

    def of_floor(self, run_ids: Collection[int]) -> dict[int, float]:
        """By Run of a timed Kernel: the share of its roofline, where that is known."""
        with self.engine.begin() as connection:
            return runs.of_floor(connection, run_ids)

    def quarantined(self) -> tuple[tuple[int, str, str], ...]:
        """Number, name and reason of every device in quarantine."""
        with self.engine.begin() as connection:
            return status.quarantined(connection)

    def unanswered(self) -> tuple[OpenRegression, ...]:
        """Every Regression that someone must answer in a line, the newest first."""
        with self.engine.begin() as connection:
            return nights.unanswered(connection)

    def last_night(self, most_lost: int) -> NightCounts | None:
        """The night that was due last, with at most so many Runs that have no result."""
        with self.engine.begin() as connection:
            newest = nights.newest(connection)
            return None if newest is None else nights.counts(connection, newest, most_lost)

    def queued(self) -> int:
        """How many Runs wait."""
        with self.engine.begin() as connection:
            return status.queued(connection)

    def last_steps(self, regressions: Collection[int]) -> dict[int, datetime]:
        """By Regression: when a step of one of its Series was last found, that of its members included."""
        with self.engine.begin() as connection:
            return triage.last_steps(connection, regressions)

    def commits(self, change: int) -> Commits | None:
        """The Revisions in which a Change came; absent where nothing was measured before it."""
        with self.engine.begin() as connection:
            return triage.commits(connection, change)

    def run_page(self, key: str) -> RunPage | None:
        """All about the Run with that key digest, or that number."""
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

    def occasion_list(
        self, wanted: OccasionFilter, offset: int, limit: int, *, whole: bool = False
    ) -> tuple[int, tuple[OccasionRow, ...]]:
        """How many occasions match, and one page of them, newest first; unless `whole`, a report is its Verdict alone."""
        with self.engine.begin() as connection:
            return occasions.listed(connection, wanted, offset, limit, whole=whole)

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
