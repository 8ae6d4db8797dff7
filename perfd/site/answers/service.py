"""How the service stands: nights, queue, workers, devices, Kernels."""

from typing import Any

from perfd.domain.device import Released
from perfd.domain.environment import Device
from perfd.domain.occasion import Finding
from perfd.site.answers.common import Answer, Counts, Page, free
from perfd.site.sheets.kernels import KernelLine
from perfd.site.sheets.service import DeviceLine, FailedBuild, NightLine, NotPosted, UseLine, WaitingLine, WorkerLine
from perfd.store.records import RunRow, UnsentRow


class Kernels(Page):
    """Numbers of Kernels."""

    kernels: list[KernelLine]


class Devices(Page):
    """Devices, by host and name."""

    devices: list[DeviceLine]


class CauseWords(Answer):
    """Why a device is not trusted."""

    reason: str
    since: str
    evidence: dict[str, Any] = free("What was seen: facts, Runs, comparisons.")


class QuarantineWords(Answer):
    """A span in which the device measured nothing."""

    id: int
    device: Device
    cause: CauseWords
    actor: str
    opened_at: str
    released: Released | None
    voided: int
    """How many Runs became void by it."""
    again: str
    """The occasion in which they are measured again."""


class OneDevice(Answer):
    """One device with its quarantines and what it did lately."""

    id: int
    name: str
    host: str
    device_class: str
    state: str
    why: str
    since: str | None
    looked_at: str | None
    good_at: str | None
    quarantines: list[QuarantineWords]
    voided: list[RunRow]
    """Runs that became void by it."""
    runs: list[RunRow]
    """Its last ones."""


class Nights(Page):
    """Nights, the newest first."""

    nights: list[NightLine]


class Unmeasured(Answer):
    """A Run without a result."""

    run: str
    state: str
    reason: str


class LastNight(Answer):
    """The last night."""

    name: str
    due_at: str
    state: str
    closed_at: str | None
    runs: Counts
    unmeasured: int
    missing: list[Unmeasured]
    verdicts: Counts
    findings: list[Finding]
    failed_builds: list[FailedBuild]


class Queue(Answer):
    """What waits."""

    runs: int
    claimed: int
    builds: int
    messages: int
    oldest: str | None


class AlarmWords(Answer):
    """What is late."""

    kind: str
    key: str
    since: str
    sentence: str
    remedy: str


class Status(Answer):
    """Last night and next night, queue, workers."""

    now: str
    sentence: str
    alarms: list[AlarmWords]
    last_night: LastNight | None
    next_night: str
    queue: Queue
    waiting: list[WaitingLine]
    """The first of the queue."""
    outbox: list[UnsentRow]
    """The first of the messages on their way out."""
    unposted: list[NotPosted]
    """What the forge does not take."""
    workers: list[WorkerLine]
    use: list[UseLine]
    """How busy devices were in the last 24 hours."""
    nights: list[NightLine]
    """The last ones."""
    regressions_open: int
