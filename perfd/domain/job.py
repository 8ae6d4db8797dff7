"""A job: all that a measuring child needs to know, as one JSON file beside it. It holds no secrets and no database."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perfd.domain.environment import Device
from perfd.domain.identity import Json
from perfd.domain.model import Model
from perfd.domain.subject import Launch
from perfd.domain.suite import Workload


@dataclass(frozen=True)
class Job:
    """One Run to be measured, in a process of its own.

    The child is started as `python -m perfd.bench.child JOB RESULTS`, writes RESULTS atomically (`perfd.results/1`) and exits 0
    whenever it could write them, whatever the outcome of the Run.
    """

    subject: str
    revision: str
    build: str
    """Digest of the Build."""
    artifact: Path
    """The Build's folder."""
    workload: Workload
    device: Device
    occasion: str
    """Mixed into the prompts, so that they are fresh in every Run."""
    run: str
    """Digest of the Run's key."""
    work: Path
    """An empty folder of the Run's own for logs and temporary files."""
    threads: int
    launch: Launch | None = None
    """Absent for kernels."""
    model: Model | None = None
    weights: Path | None = None
    """The Model's file, checked against its hash."""
    data: Path | None = None
    """The folder with the Workload's data files."""
    software: Mapping[str, str] = field(default_factory=dict)
    """Toolchain and dependencies of the Build, for the Environment."""
    options: Mapping[str, Json] = field(default_factory=dict)
    caged: bool = False
    """Whether the Build's code is kept apart from this host (docs/cage.md); part of no identity."""
