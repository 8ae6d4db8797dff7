"""Launches: a Model's release on an Engine, its Checkpoints, and the list of what can still be made better."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import OccasionKind
from perfd.domain.subject import Revision

DAYS = (0, 7, 14)
MOST_DAYS = 50
FARTHEST_DAY = 3650


@dataclass(frozen=True)
class ModelLaunch:
    """A Model's release on an Engine; an Engine's own `Launch` is how its process starts.

    Raises ValueError for a time without a zone and for days that are none, too many, too far away or there twice.
    """

    model: str
    engine: str
    at: datetime
    """The moment of day 0."""
    days: tuple[int, ...] = DAYS
    """Days of 24 hours after day 0; negative ones rehearse on random weights of the announced shapes."""
    suites: tuple[str, ...] = ()
    """What a Checkpoint measures; empty: every suite of the suites folder."""
    compare_minutes: float = 120.0
    """Device minutes that a Checkpoint may spend on re-measuring the first day's Build beside its own."""

    def __post_init__(self) -> None:
        if self.at.tzinfo is None:
            raise ValueError(f'the time "{self.at.isoformat()}" has no zone; write it as 2026-12-01T09:00Z or with +01:00')
        if not self.days:
            raise ValueError("a launch needs at least one day")
        if len(self.days) > MOST_DAYS or max(map(abs, self.days)) > FARTHEST_DAY:
            raise ValueError(f"a launch has at most {MOST_DAYS} days, none farther away than {FARTHEST_DAY}")
        twice = sorted({day for day in self.days if self.days.count(day) > 1})
        if twice:
            raise ValueError(f"day {twice[0]} is there twice; name each day once")
        try:
            _ = [self.due_at(day) for day in (min(self.days), max(self.days))]
        except OverflowError:
            raise ValueError(f"the time {self.at:%Y-%m-%d} with these days lies outside the calendar") from None

    @property
    def name(self) -> str:
        """The natural key: one Launch of a Model on an Engine."""
        return f"{self.model} on {self.engine}"

    @property
    def first_day(self) -> int | None:
        """The day that the others are held against: the first that is no rehearsal; absent where all are."""
        return min((day for day in self.days if day >= 0), default=None)

    def due_at(self, day: int) -> datetime:
        """When the day's Checkpoint is due, in UTC."""
        return (self.at + timedelta(days=day)).astimezone(UTC)

    def occasion(self, day: int) -> Occasion:
        """The day's Checkpoint as an occasion; its label tells which one it is."""
        return Occasion(OccasionKind.CHECKPOINT, self.due_at(day), f"{self.model} on {self.engine} day {day}")


@dataclass(frozen=True)
class Checkpoint:
    """One day of a Launch, as far as it has come."""

    launch: str
    """The Launch's name."""
    day: int
    due_at: datetime
    owed: bool = True
    """False where it was due before perfd knew of the Launch: nobody waits for it."""
    occasion: Occasion | None = None
    """Absent until it was opened."""
    state: OccasionState | None = None
    opened_at: datetime | None = None
    closed_at: datetime | None = None
    comparison: Occasion | None = None
    """The first day's Build beside this day's; absent until it is opened, and where there is none."""
    why_no_comparison: str = ""
    launched_with: dict[str, Any] = field(default_factory=dict)
    """The Engine's command and environment, the Model and the Kernels' Revisions, as they were when it was planned."""


class TodoState(StrEnum):
    """How far an optimisation is."""

    OPEN = "open"
    DOING = "doing"
    DONE = "done"
    DROPPED = "dropped"


@dataclass(frozen=True)
class Todo:
    """An optimisation that a Launch can still use, with what it was measured to bring."""

    number: int
    """0 until it is stored."""
    launch: str
    title: str
    area: str
    """kv cache, attention kernels, quantisation, routing, or any other word."""
    owner: str
    state: TodoState
    note: str
    opened_at: datetime
    moved_at: datetime
    change: int | None = None
    """The Change that shows its effect."""
    comparison: str = ""
    """The name of the comparison that shows its effect."""


@dataclass(frozen=True)
class Effect:
    """A Change in a Series of a Launch: what one Build brought."""

    change: int
    series: int
    workload: str
    workload_class: str
    metric: str
    worse: bool
    status: str
    effect: float
    interval: tuple[float, float] | None
    build: str
    revision: str
    title: str
    ordinal: int
    regression: int | None


@dataclass(frozen=True)
class LaunchFacts:
    """Everything that is stored of one Launch."""

    number: int
    launch: ModelLaunch
    checkpoints: tuple[Checkpoint, ...]
    reports: dict[int, dict[str, Any]] = field(default_factory=dict)
    """By day, what its Checkpoint reported; absent until then."""
    runs: dict[int, dict[str, int]] = field(default_factory=dict)
    """By day, how many Runs are in which state; absent until it was opened."""
    effects: tuple[Effect, ...] = ()
    """Changes of the Launch's Series that stand."""
    revisions: tuple[Revision, ...] = ()
    """Of the Engine, on its tracked branch."""
    todos: tuple[Todo, ...] = ()
    comparisons: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By name, what the comparisons of the list reported."""
