"""How the service stands: nights, the queue, the outbox, workers, devices, and what went wrong."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from perfd.domain.device import DeviceRow, Quarantine
from perfd.domain.environment import DeviceState
from perfd.domain.purpose import HEAD_START, purpose_of
from perfd.site.sentences import unmeasured
from perfd.store.posts import PostRow
from perfd.store.records import BuildRow, OccasionRow, WaitingRow, WorkerRow
from perfd.store.usage import DeviceUse

GONE_AFTER = timedelta(minutes=10)
"""A worker that was not seen for so long counts as gone."""


@dataclass(frozen=True)
class NightLine:
    """A night and its Runs by state."""

    name: str
    due_at: datetime
    state: str
    opened_at: datetime
    closed_at: datetime | None
    planned: int
    done: int
    failed: int
    void: int
    queued: int
    claimed: int
    unmeasured: int
    """Planned, and without a result."""


@dataclass(frozen=True)
class WaitingLine:
    """A Run that waits."""

    run: str
    subject: str
    workload: str
    device_class: str
    purpose: str
    head_start_s: float
    """How much earlier than its own time it counts as queued, for what it is for."""
    queued_at: datetime


@dataclass(frozen=True)
class FailedBuild:
    """A Build that could not be made."""

    build: str
    subject: str
    revision: str
    title: str
    recipe: str
    seconds: float | None
    log_tail: str


@dataclass(frozen=True)
class NotPosted:
    """A comment or a check that the forge does not take."""

    key: str
    why: str


@dataclass(frozen=True)
class DeviceLine:
    """A device and how it stands."""

    id: int
    name: str
    host: str
    device_class: str
    state: str
    """ready, refused or quarantined."""
    why: str
    since: datetime | None
    """Since when it is refused or in quarantine."""
    looked_at: datetime | None
    good_at: datetime | None
    """Its last good check."""


@dataclass(frozen=True)
class QuarantineLine:
    """A span in which a device measured nothing."""

    id: int
    device: int
    opened_at: datetime
    opened_by: str
    void_since: datetime
    """What it had measured from then on became void."""
    reason: str
    voided: int
    """Runs that became void."""
    measured_again_in: str
    released_at: datetime | None
    released_by: str
    release_reason: str


@dataclass(frozen=True)
class SeenLine:
    """One fact of one look at a device while a Run was measured on it."""

    run: str
    at: datetime
    fact: str
    value: str


@dataclass(frozen=True)
class UseLine:
    """How busy a device was."""

    host: str
    device: str
    device_class: str
    runs: int
    busy_s: float
    span_s: float
    busy: float
    """The share of the span, from 0 to 1."""


@dataclass(frozen=True)
class WorkerLine:
    """A process that claims work."""

    name: str
    host: str
    device_class: str
    doing: str
    started_at: datetime
    seen_at: datetime
    state: str
    """alive or gone."""


def nights(rows: Iterable[OccasionRow]) -> Iterator[NightLine]:
    """Nights as lines."""
    for row in rows:
        yield NightLine(
            name=row.occasion.name,
            due_at=row.occasion.nominal_at,
            state=row.state.value,
            opened_at=row.opened_at,
            closed_at=row.closed_at,
            planned=sum(row.runs.values()),
            done=row.runs.get("done", 0),
            failed=row.runs.get("failed", 0),
            void=row.runs.get("void", 0),
            queued=row.runs.get("queued", 0),
            claimed=row.runs.get("claimed", 0),
            unmeasured=unmeasured(row),
        )


def waiting(rows: Iterable[WaitingRow]) -> Iterator[WaitingLine]:
    """The queue as lines, in its order."""
    for row in rows:
        purpose = purpose_of(row.occasion)
        start_s = HEAD_START[purpose].total_seconds()
        yield WaitingLine(row.key, row.subject, row.workload, row.device_class, purpose.value, start_s, row.queued_at)


def failed_builds(rows: Iterable[BuildRow]) -> Iterator[FailedBuild]:
    """Builds that could not be made as lines."""
    for row in rows:
        yield FailedBuild(row.digest, row.subject, row.revision, row.title, row.recipe, row.seconds, row.log_tail)


def not_posted(rows: Iterable[PostRow]) -> Iterator[NotPosted]:
    """What the forge does not take as lines."""
    return (NotPosted(row.wanted.key, row.trouble) for row in rows)


def device(row: DeviceRow) -> DeviceLine:
    """A device as a line."""
    held = row.quarantine
    why, since = (held.cause.reason, held.opened_at) if held else (row.refusal, row.refused_since)
    words = (row.id, row.device.name, row.device.host, row.device.device_class, row.state)
    return DeviceLine(*words, why, since, row.looked_at, row.good_at)


def quarantines(device_id: int, rows: Iterable[Quarantine]) -> Iterator[QuarantineLine]:
    """The quarantines of a device as lines."""
    for row in rows:
        end = row.released
        ended = (end.at, end.actor, end.reason) if end else (None, "", "")
        opened = (row.opened_at, row.actor, row.cause.since, row.cause.reason)
        yield QuarantineLine(row.id, device_id, *opened, row.voided, row.again, *ended)


def seen(run: str, states: Iterable[DeviceState]) -> Iterator[SeenLine]:
    """Looks at a device as lines, a fact each: which facts there are depends on the machine."""
    for state in states:
        for fact, value in sorted(state.facts.items()):
            yield SeenLine(run, state.at, fact, str(value))


def use(rows: Iterable[DeviceUse]) -> Iterator[UseLine]:
    """How busy devices were as lines."""
    for row in rows:
        yield UseLine(row.host, row.name, row.device_class, row.runs, row.busy_s, row.span_s, row.busy)


def workers(rows: Iterable[WorkerRow], now: datetime) -> Iterator[WorkerLine]:
    """Workers as lines, the one seen last first."""
    for row in sorted(rows, key=lambda one: one.seen_at, reverse=True):
        state = "alive" if now - row.seen_at < GONE_AFTER else "gone"
        yield WorkerLine(row.name, row.host, row.device_class, row.doing, row.started_at, row.seen_at, state)
