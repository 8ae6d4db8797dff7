"""A Build: a subject at one Revision, made with one toolchain and one dependency set, all named."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from perfd.domain.identity import digest


class BuildState(StrEnum):
    """Where a Build stands; `failed` is a result that is shown, not an accident that is hidden."""

    QUEUED = "queued"
    BUILDING = "building"
    BUILT = "built"
    FAILED = "failed"


@dataclass(frozen=True)
class BuildSpec:
    """Everything that decides what a Build contains; its digest is the Build's natural key."""

    subject: str
    revision: str
    recipe: str
    recipe_hash: str
    """sha256 of the recipe's own text and options, so that a changed recipe is another Build."""
    toolchain: Mapping[str, str]
    """Tools that shape the result and their versions: compiler, CMake, Python, triton, torch …"""
    dependencies: Mapping[str, str]
    """Every package that ends up beside the artifact, with its version."""

    @property
    def digest(self) -> str:
        """The content address: 64 hexadecimal digits, equal for equal ingredients."""
        return digest(
            {
                "subject": self.subject,
                "revision": self.revision,
                "recipe": self.recipe,
                "recipe_hash": self.recipe_hash,
                "toolchain": dict(self.toolchain),
                "dependencies": dict(self.dependencies),
            }
        )


@dataclass(frozen=True)
class BuildOutcome:
    """What came of building: an artifact, or a failure with the tail of its log."""

    spec: BuildSpec
    artifact: Path | None
    """The folder that holds the result; absent when the build failed."""
    log: Path
    log_tail: str
    seconds: float
    cached: bool = False
    """True when an earlier Build with this digest was found and nothing was compiled."""
    passing: bool = False
    """True when it failed for something that is nobody's doing and may pass, such as a package index that did not answer."""

    @property
    def state(self) -> BuildState:
        """`built` exactly when there is an artifact."""
        return BuildState.BUILT if self.artifact is not None else BuildState.FAILED
