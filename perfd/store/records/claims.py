"""Work that was claimed, and what becomes of what it hands in."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from perfd.domain.build import BuildSpec
from perfd.domain.model import Model
from perfd.domain.occasion import Occasion
from perfd.domain.run import Arm
from perfd.domain.subject import SubjectKind
from perfd.domain.suite import Workload


class Reduced(Protocol):
    """Samples of one Metric, reduced; `perfd.stats.reduce.Reduced` is one."""

    @property
    def value(self) -> float:
        """The median or mean."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its 95 % interval."""

    @property
    def n(self) -> int:
        """How many Samples."""


class Written(StrEnum):
    """What became of results that were handed in."""

    STORED = "stored"
    ALREADY = "already"
    """The same results stood there; nothing was changed."""
    REFUSED = "refused"
    """The results were no good: the Run is failed as nonsense, and says why."""
    STALE = "stale"
    """Another worker has claimed the Run since, or it was ended; nothing was changed."""


@dataclass(frozen=True)
class Taken:
    """What became of results that came from elsewhere."""

    run: str
    """Key digest of the Run; "" where it was refused because its key belongs to another one."""
    written: Written


@dataclass(frozen=True)
class ClaimedBuild:
    """A Build that this worker, and nobody else, is to make."""

    id: int
    token: int
    spec: BuildSpec
    kind: SubjectKind
    attempts: int


@dataclass(frozen=True)
class ClaimedRun:
    """A Run that this worker, and nobody else, is to measure."""

    id: int
    key: str
    """Digest of the Run's key."""
    token: int
    spec: BuildSpec
    kind: SubjectKind
    artifact: Path
    """The Build's folder."""
    workload: Workload
    model: Model | None
    device_class: str
    occasion: Occasion
    arm: Arm
    block: int
    attempts: int
    """Counted from 1, this one included."""
