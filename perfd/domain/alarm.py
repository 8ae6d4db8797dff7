"""Alarms: something that was owed and did not come, and what is known of everything that is owed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from perfd.domain.launch import Checkpoint
from perfd.domain.occasion import Occasion


class AlarmKind(StrEnum):
    """What is silent."""

    NIGHT = "night"
    CHECKPOINT = "checkpoint"
    BASELINE = "baseline"
    COMPARISON = "comparison"
    BISECTION = "bisection"
    WORKER = "worker"
    DEVICE = "device"
    MESSAGE = "message"
    CLOCK = "clock"


@dataclass(frozen=True)
class Alarm:
    """One thing that is late."""

    kind: AlarmKind
    key: str
    """The natural key: the same lateness has the same key at every look."""
    since: datetime
    """When it was due."""
    sentence: str
    remedy: str


@dataclass(frozen=True)
class OpenOccasion:
    """An occasion that was opened and is not reported."""

    occasion: Occasion
    opened_at: datetime


@dataclass(frozen=True)
class OpenBisection:
    """A bisection that has not ended."""

    id: int
    subject: str
    opened_at: datetime
    most_minutes: float
    """Device minutes that it may measure."""


@dataclass(frozen=True)
class Waiting:
    """Runs of a device class that could begin, and who was seen there."""

    device_class: str
    """"" for Builds, which need no device."""
    count: int
    since: datetime
    """Since when the one that has waited longest could have begun, or lost its worker."""
    seen_at: datetime | None
    """When a worker that serves the class was last seen; absent where none ever was."""
    quarantined: Sequence[tuple[str, datetime]] = ()
    """Devices of the class that are in quarantine, with since when."""
    ready: int = 0
    """How many devices of the class are in none."""


@dataclass(frozen=True)
class Stuck:
    """Messages of one kind that were not delivered."""

    kind: str
    count: int
    since: datetime
    """When the oldest of them was written."""
    reason: str
    """Why the last try failed; "" where none was made."""
    given_up: bool


@dataclass(frozen=True)
class Standing:
    """What is owed, and how far it has come."""

    began_at: datetime | None = None
    """When a clock of perfd first ran on this database; absent before that."""
    clock_at: datetime | None = None
    """When the clock last looked; absent before it did."""
    last_night: datetime | None = None
    """When the newest night was due."""
    occasions: Sequence[OpenOccasion] = ()
    checkpoints: Sequence[Checkpoint] = ()
    bisections: Sequence[OpenBisection] = ()
    waiting: Sequence[Waiting] = ()
    stuck: Sequence[Stuck] = ()
