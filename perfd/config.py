"""The configuration: `perfd.toml` as frozen dataclasses; without a file the defaults serve.

Every mistake in the file is reported at once, each with its line. Secrets come from the environment, never from the file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from perfd.domain.model import Model
from perfd.domain.subject import Engine


@dataclass(frozen=True)
class Schedule:
    """When the clock fires."""

    nightly: str = "02:00"
    """Local time of day, HH:MM."""
    timezone: str = "UTC"


@dataclass(frozen=True)
class DeviceConfig:
    """A device that this machine's worker measures on."""

    name: str
    """"cpu", or a GPU's index or UUID."""
    threads: int = 1
    """CPU threads that an engine may use; one is far less noisy than two on a small machine."""


@dataclass(frozen=True)
class Config:
    """Everything that perfd.toml can say, with its defaults filled in."""

    path: Path | None
    """The file it came from; absent when there was none."""
    state: Path
    """The folder of perfd's state: database, builds, models, logs."""
    engines: tuple[Engine, ...]
    models: tuple[Model, ...]
    devices: tuple[DeviceConfig, ...]
    schedule: Schedule
    kernels: bool = True
    """Whether a night rebuilds and checks kernels/."""
    kernels_folder: Path = Path("kernels")
    suites_folder: Path = Path("suites")
    database_url: str | None = None
    """PERFD_DATABASE_URL; absent means the embedded Postgres."""
    gates: Mapping[str, float] | None = None
