"""How the service stands: workers, queue, messages."""

from dataclasses import dataclass
from datetime import datetime

from perfd.domain.occasion import Occasion
from perfd.store.records.nights import NightSummary, OccasionRow


@dataclass(frozen=True)
class WorkerRow:
    """A process that claims work."""

    name: str
    host: str
    device_class: str
    doing: str
    started_at: datetime
    seen_at: datetime


@dataclass(frozen=True)
class QueueRow:
    """Work that waits or is under way, of one device class."""

    device_class: str
    queued: int
    claimed: int
    oldest_queued_at: datetime | None


@dataclass(frozen=True)
class WaitingRow:
    """A Run that waits in the queue."""

    key: str
    subject: str
    workload: str
    device_class: str
    occasion: Occasion
    queued_at: datetime


@dataclass(frozen=True)
class UnsentRow:
    """A message that waits in the outbox."""

    kind: str
    key: str
    attempts: int
    last_error: str
    created_at: datetime
    next_at: datetime


@dataclass(frozen=True)
class Status:
    """How the service stands."""

    last_night: NightSummary | None
    """The newest night, reported or not."""
    open_occasions: tuple[OccasionRow, ...]
    queue: tuple[QueueRow, ...]
    builds_queued: int
    builds_building: int
    workers: tuple[WorkerRow, ...]
    outbox_waiting: int
