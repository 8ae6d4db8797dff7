"""What `perfd.toml` can say, as frozen dataclasses with every default filled in."""

from dataclasses import dataclass, field
from pathlib import Path

from perfd.domain.budget import Budget
from perfd.domain.launch import ModelLaunch
from perfd.domain.model import Model
from perfd.domain.subject import Engine


@dataclass(frozen=True)
class Schedule:
    """When the clock fires."""

    nightly: str = "02:00"
    """Local time of day, HH:MM."""
    timezone: str = "UTC"
    """A name of the time zone database, such as "Europe/Zurich"."""
    aa: bool = True
    """Whether a night also compares a Build with itself on each device class, which measures the false-alarm rate."""
    confirm_minutes: float = 20.0
    """Device minutes that a night may spend on re-measuring suspects; 0 re-measures none."""
    bisect: bool = False
    """Whether the commit of a confirmed Regression is searched for without being asked."""


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
    """The folder of perfd's state: database, builds, models, logs. It may not exist yet."""
    engines: tuple[Engine, ...]
    models: tuple[Model, ...]
    devices: tuple[DeviceConfig, ...]
    schedule: Schedule
    budgets: tuple[Budget, ...] = ()
    """What Engines may lose against pinned releases, all steps together."""
    launches: tuple[ModelLaunch, ...] = ()
    """Launches that are declared in the file; `perfd launch add` declares others."""
    kernels: bool = True
    """Whether a night rebuilds and checks kernels/."""
    kernels_folder: Path = Path("kernels")
    suites_folder: Path = Path("suites")
    database_url: str | None = field(default=None, repr=False)
    """PERFD_DATABASE_URL; absent means the embedded Postgres. It holds a password, so no repr and no log shows it."""

    def engine(self, name: str) -> Engine | None:
        """The Engine of that name."""
        return next((engine for engine in self.engines if engine.name == name), None)

    def model(self, name: str) -> Model | None:
        """The Model of that name."""
        return next((model for model in self.models if model.name == name), None)
