"""Bisections with their steps."""

from dataclasses import dataclass
from datetime import datetime

from perfd.domain.bisect import BisectEnd, Place, StepKind, StepOutcome, Target, Wanted
from perfd.domain.occasion import Occasion
from perfd.domain.subject import SubjectKind


@dataclass(frozen=True)
class BisectStep:
    """One step of a bisection: a Build that is made, or two places that are compared."""

    number: int
    """Counted from 1."""
    kind: StepKind
    base: int
    head: int
    why: str
    occasion: Occasion
    opened_at: datetime
    outcome: StepOutcome | None = None
    """Absent while it is open."""
    broken: int | None = None
    """The place that could not be built or measured."""
    pairs: int = 0
    effect: float | None = None
    interval: tuple[float, float] | None = None
    final: bool = True
    """Whether more pairs could not have told more."""
    reason: str = ""
    settled_at: datetime | None = None


@dataclass(frozen=True)
class BisectEnded:
    """How a bisection ended: the difference came after `good`, at or before `bad` (places of its path)."""

    end: BisectEnd
    good: int
    bad: int
    reason: str
    at: datetime
    patch: str = ""
    """The file that takes the commit back."""
    proposal: str = ""
    """What a person can do about it."""


@dataclass(frozen=True)
class BisectRow:
    """A bisection with its steps."""

    subject: str
    kind: SubjectKind
    branch: str
    path: tuple[Place, ...]
    wanted: Wanted
    most_builds: int
    most_minutes: float
    opened_at: datetime
    regression: int | None = None
    target: Target | None = None
    """What decides; absent until the ends were compared."""
    ended: BisectEnded | None = None
    """Absent while it goes on."""
    steps: tuple[BisectStep, ...] = ()
    id: int = 0
    """0 until it is stored."""
