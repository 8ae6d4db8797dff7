"""The words of bisection: a path of Builds between a good end and a bad one, what was asked on it, and how it ended."""

from dataclasses import dataclass
from enum import StrEnum

from perfd.domain.verdict import Outcome


class BisectEnd(StrEnum):
    """The four ways in which a bisection ends; each with its reason."""

    COMMIT = "commit"
    """One commit brought the difference."""
    DEPENDENCIES = "dependencies"
    """The commit is the same on both sides: toolchain, recipe or dependency set brought it."""
    RANGE = "range"
    """It lies between two commits, and could not be narrowed further."""
    NOT_REPRODUCED = "not reproduced"
    """The two ends do not differ, or could not be measured."""


class StepKind(StrEnum):
    """What one step of a bisection asks for."""

    BUILD = "build"
    COMPARE = "compare"


@dataclass(frozen=True)
class Place:
    """One Build on the path from good to bad."""

    revision: str
    title: str = ""
    build: str = ""
    """Digest of a Build that was made earlier and is used as it is; empty: the Revision, built as things are today."""


@dataclass(frozen=True)
class Target:
    """What is compared: a Workload, a Model and a device class, and the Metric that decides."""

    workload: str
    """The Workload's name."""
    model: str
    device_class: str
    metric: str


@dataclass(frozen=True)
class Answer:
    """A comparison of two places that is over."""

    base: int
    head: int
    outcome: Outcome
    pairs: int
    reason: str = ""
    effect: float | None = None
    interval: tuple[float, float] | None = None
    final: bool = True
    """False where more pairs could have told more: the comparison was cut short."""

    def __post_init__(self) -> None:
        """Refuse a decided answer without its size."""
        if self.outcome in {Outcome.WORSE, Outcome.BETTER} and self.effect is None:
            raise ValueError(f"an answer that is {self.outcome} has an effect")


class StepOutcome(StrEnum):
    """What came of a step: a Build's outcome, or a comparison's."""

    BUILT = "built"
    BROKEN = "broken"
    """A place could not be built, or not be measured."""
    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNSURE = "unsure"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class Wanted:
    """What a bisection may be decided by; empty parts are left open, and the comparison of the ends chooses."""

    workload: str = ""
    """The Workload's name."""
    model: str = ""
    device_class: str = ""
    metric: str = ""
