"""Occasions, what came of them, and how spans of nights went."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from perfd.domain.occasion import Finding, Occasion, OccasionState
from perfd.domain.run import FailureKind, RunState
from perfd.domain.verdict import Outcome, Verdict
from perfd.store.records.runs import BuildRow, RunRow
from perfd.store.records.series import ChangeRow, PointRow, SeriesInfo


@dataclass(frozen=True)
class OccasionRow:
    """An occasion, how far it has come, and its Runs by state."""

    id: int
    occasion: Occasion
    state: OccasionState
    opened_at: datetime
    closed_at: datetime | None
    runs: Mapping[str, int]
    """Count by state: queued, claimed, done, failed, void."""
    missing: int
    """Of the failed, those that were planned and never measured."""
    report: Mapping[str, Any] | None


@dataclass(frozen=True)
class JudgedSeries:
    """A Series with the Verdict that one occasion gave it."""

    info: SeriesInfo
    verdict: Verdict
    latest: PointRow | None
    """Its Point of that occasion (the last, where there are several)."""


@dataclass(frozen=True)
class OccasionSummary:
    """The final table: what was built, measured and judged, and what is missing."""

    row: OccasionRow
    builds: tuple[BuildRow, ...]
    runs: tuple[RunRow, ...]
    verdicts: tuple[JudgedSeries, ...]
    findings: tuple[Finding, ...]
    changes: tuple[ChangeRow, ...]
    """Changes that were first seen after this occasion."""

    @property
    def verdict_counts(self) -> dict[Outcome, int]:
        """How many Series got each answer; those with none are left out."""
        outcomes = [judged.verdict.outcome for judged in self.verdicts]
        return {outcome: outcomes.count(outcome) for outcome in Outcome if outcome in outcomes}

    @property
    def missing(self) -> tuple[RunRow, ...]:
        """Runs that were planned and never measured."""
        return tuple(run for run in self.runs if run.failure is FailureKind.MISSING)


@dataclass(frozen=True)
class NightCounts:
    """A night in counts, however many Series it judged."""

    row: OccasionRow
    verdict_counts: Mapping[Outcome, int]
    """How many Series got each answer; those with none are left out."""
    lost: tuple[RunRow, ...]
    """Runs without a result, ended ones first; the first of them where there are more. `row.runs` counts all."""


@dataclass(frozen=True)
class NightSummary(NightCounts):
    """The same with what went wrong besides; see OccasionSummary for all of it."""

    failed_builds: tuple[BuildRow, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Span:
    """What came of the nights of some days."""

    days: int
    """Nights that were due."""
    nights: int
    """Nights that began."""
    runs: Mapping[RunState, int]
    changes_better: int
    """Changes that these nights were the first to see, that are detected and still stand."""
    changes_worse: int
    regressions: int
    """Regressions that were opened."""
    regressions_open: int
    """Of those, the ones that someone must still answer."""


@dataclass(frozen=True)
class Movement:
    """Series whose last Point lies beyond their bar from the Point of so many days before, and the others."""

    days: int
    better: int
    worse: int
    within: int
    """Within the bar: neither can be said."""
    unknown: int
    """Not measured lately, not so long ago, on other hardware, or never judged."""
