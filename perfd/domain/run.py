"""Runs, Samples, Points and Series."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from perfd.domain.identity import digest


class RunState(StrEnum):
    """`queued → claimed → done | failed | void`."""

    QUEUED = "queued"
    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"
    VOID = "void"


TERMINAL = frozenset({RunState.DONE, RunState.FAILED, RunState.VOID})


class FailureKind(StrEnum):
    """Why a Run has no Samples. The kind decides whether it is tried again."""

    BUILD = "build"
    """The Build it needs could not be made."""
    NOT_READY = "not_ready"
    """The engine never answered on its readiness path."""
    DIED = "died"
    """The engine or the measuring child ended by itself."""
    TIMEOUT = "timeout"
    """The Workload's time limit passed."""
    NONSENSE = "nonsense"
    """The engine answered something that is no answer: wrong form, no tokens."""
    DEVICE = "device"
    """The device was busy, hot, throttled or gone."""
    HARNESS = "harness"
    """perfd's own fault."""
    LOST = "lost"
    """Its worker died too often while it ran."""
    MISSING = "missing"
    """Planned, and never measured: nothing had claimed it when its occasion was closed."""
    SUPERSEDED = "superseded"
    """Cancelled before anybody claimed it: newer work answers the same question."""
    BUDGET = "budget"
    """Not begun: its night's device minutes were spent."""


class OccasionKind(StrEnum):
    """Why Runs are made. Only nights, checkpoints, backfills and imports enter Series."""

    NIGHT = "night"
    CHECKPOINT = "checkpoint"
    COMPARE = "compare"
    AA = "aa"
    BACKFILL = "backfill"
    """A Baseline that was missing."""
    IMPORT = "import"

    @property
    def enters_series(self) -> bool:
        """Runs for comparisons and A/A never enter a Series."""
        return self not in {OccasionKind.COMPARE, OccasionKind.AA}


class Arm(StrEnum):
    """Which side of a comparison a Run belongs to; a Run outside comparisons has arm `only`."""

    ONLY = "only"
    BASE = "base"
    HEAD = "head"


@dataclass(frozen=True)
class RunKey:
    """The natural key of a Run: one Workload on one Build on one device class, on one occasion, once."""

    build: str
    """Digest of the Build."""
    workload: str
    """Identity of the Workload."""
    model: str
    """Name of the Model, "" for kernels."""
    quantisation: str
    parallelism: str
    device_class: str
    occasion: str
    """The name of the night, Checkpoint or comparison: "night:2026-11-29T02:00:00Z"."""
    arm: Arm = Arm.ONLY
    block: int = 0
    """Place in the ABBA order of a comparison, from 0."""

    @property
    def digest(self) -> str:
        """64 hexadecimal digits; the same Run planned twice has the same key."""
        return digest(
            {
                "build": self.build,
                "workload": self.workload,
                "model": self.model,
                "quantisation": self.quantisation,
                "parallelism": self.parallelism,
                "device_class": self.device_class,
                "occasion": self.occasion,
                "arm": self.arm.value,
                "block": self.block,
            }
        )


@dataclass(frozen=True)
class SeriesKey:
    """What makes a Series one Series: everything but the commit, the occasion and the host."""

    subject: str
    branch: str
    workload: str
    """Identity of the Workload."""
    metric: str
    model: str
    quantisation: str
    parallelism: str
    device_class: str

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits."""
        return digest(
            {
                "subject": self.subject,
                "branch": self.branch,
                "workload": self.workload,
                "metric": self.metric,
                "model": self.model,
                "quantisation": self.quantisation,
                "parallelism": self.parallelism,
                "device_class": self.device_class,
            }
        )


@dataclass(frozen=True)
class Point:
    """A Run's Samples of one Metric, reduced."""

    run: str
    """Digest of the Run's key."""
    build: str
    revision: str
    ordinal: int
    """The Revision's place on the tracked branch."""
    occasion: str
    measured_at: datetime
    value: float
    """The median, or the mean where the Metric says so."""
    interval: tuple[float, float] | None
    """95 % interval of `value`; absent with too few Samples to give one."""
    n: int
    hardware_hash: str
    """Points with different hardware or clock policy are not comparable."""
    epoch: str = ""
    """Hash of driver, library and engine dependency versions; a new epoch is judged, and named as a suspect."""
