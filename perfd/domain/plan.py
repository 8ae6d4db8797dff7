"""What an occasion owes: Builds to make and Runs to measure."""

from dataclasses import dataclass

from perfd.domain.build import BuildSpec
from perfd.domain.model import Model
from perfd.domain.run import Arm
from perfd.domain.subject import Revision, SubjectKind
from perfd.domain.suite import Workload


@dataclass(frozen=True)
class PlannedBuild:
    """A Build that must exist before its Runs can be measured."""

    spec: BuildSpec
    kind: SubjectKind
    revision: Revision
    branch: str


@dataclass(frozen=True)
class PlannedRun:
    """A Run that is owed."""

    build: BuildSpec
    workload: Workload
    device_class: str
    model: Model | None = None
    """Absent for kernels."""
    arm: Arm = Arm.ONLY
    block: int = 0


@dataclass(frozen=True)
class Plan:
    """All that one occasion owes, builds before the Runs that need them."""

    builds: tuple[PlannedBuild, ...]
    runs: tuple[PlannedRun, ...]
