"""What `perfd.toml` can say, as frozen dataclasses with every default filled in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perfd.config.notify import Notify
from perfd.domain.account import Role
from perfd.domain.area import Area, Gate
from perfd.domain.budget import Budget
from perfd.domain.launch import ModelLaunch
from perfd.domain.model import Model
from perfd.domain.subject import Engine

KEEP_MONTHS = 13
"""A year, and the month that it is compared with."""


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
    night_minutes: float = 1440.0
    """Device minutes that a night's own Runs may take on each device class; what is not begun by then is told."""
    keep_samples_months: int = KEEP_MONTHS
    """Months of which the raw Samples are kept, the current one included; 0 keeps all."""
    lease_s: float = 90.0
    """A worker that was silent for so many seconds has lost what it had claimed."""


@dataclass(frozen=True)
class DeviceConfig:
    """A device that this machine's worker measures on."""

    name: str
    """"cpu", or a GPU's index or UUID."""
    threads: int = 1
    """CPU threads that an engine may use; one is far less noisy than two on a small machine."""
    hottest_c: float = 85.0
    """A Run does not begin while the device is hotter, in degrees Celsius; 0 asks nothing."""
    busiest_cores: float = 0.0
    """Nor while others use more cores of the host; 0 asks nothing."""
    busiest_percent: float = 10.0
    """Nor while a GPU is busy for more of the time; 0 asks nothing."""
    neighbours: int = 0
    """Nor while more foreign processes are on a GPU."""
    patience_minutes: float = 60.0
    """How long a night in the foreground waits for a device that is refused before its Runs are missing."""


@dataclass(frozen=True)
class GitHubRepository:
    """A repository whose pull requests are answered."""

    name: str
    """owner/name."""
    engine: str
    """The Engine that is built from it."""
    authors: tuple[str, ...] = ()
    """Logins whose pull requests run without being asked; everybody else's wait for a maintainer's command."""
    suites: tuple[str, ...] = ()
    """What is measured; empty: the suites of the engine."""
    areas: tuple[Area, ...] = ()
    """What a change can affect, by its paths; a file in no area may affect everything."""
    gates: tuple[Gate, ...] = (Gate(),)
    """Series whose slowdown fails the check; none: perfd only tells."""
    documentation: tuple[str, ...] = ()
    """Patterns of files that no Engine reads; empty: perfd's own list."""
    most_minutes: float = 30.0
    """Device minutes that one answer may take."""
    deadline_hours: float = 12.0
    """A check that is not over by then is ended as neutral, with the reason."""


@dataclass(frozen=True)
class GitHub:
    """The forge, and who perfd is there."""

    url: str = "https://api.github.com"
    """Of its API; GitHub Enterprise Server: https://HOST/api/v3."""
    site: str = ""
    """Where people reach perfd's own pages; empty: comments hold no links."""
    repositories: tuple[GitHubRepository, ...] = ()
    app_id: str | None = None
    """PERFD_GITHUB_APP_ID."""
    private_key_file: Path | None = None
    """PERFD_GITHUB_PRIVATE_KEY_FILE."""
    webhook_secret: str | None = field(default=None, repr=False)
    """PERFD_GITHUB_WEBHOOK_SECRET."""

    def repository(self, name: str) -> GitHubRepository | None:
        """The repository of that name, whatever its case; absent where its pull requests are not answered."""
        return next((one for one in self.repositories if one.name.casefold() == name.casefold()), None)


@dataclass(frozen=True)
class SiteConfig:
    """Who may read the site, how people are known, and which role each has."""

    public: bool = True
    """Whether everybody who reaches the port may read; without it, only a viewer, triager, maintainer or admin."""
    loopback: bool = True
    """Whether a request from this machine itself, passed on by nobody, is the admin's: one person's perfd asks for no login."""
    proxies: tuple[str, ...] = ()
    """Addresses and networks of reverse proxies that name the visitor; no header of anybody else is believed."""
    proxy_header: str = "X-Forwarded-User"
    """The header in which they do."""
    everybody: str = ""
    """The role of whoever is logged in and not named in `people`; empty: none."""
    people: Mapping[str, Role] = field(default_factory=dict)
    """Roles by person, github:LOGIN or proxy:NAME in small letters."""
    github_client_id: str | None = None
    """PERFD_GITHUB_CLIENT_ID."""
    github_client_secret: str | None = field(default=None, repr=False)
    """PERFD_GITHUB_CLIENT_SECRET."""

    def role(self, person: str) -> Role | None:
        """The role of github:LOGIN or proxy:NAME; absent where they have none."""
        return self.people.get(person.casefold()) or (Role(self.everybody) if self.everybody else None)


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
    github: GitHub = field(default_factory=GitHub)
    """Whose pull requests are answered."""
    site: SiteConfig = field(default_factory=SiteConfig)
    """Who may do what on the site."""
    notify: Notify = field(default_factory=Notify)
    """Who is told of alarms and Regressions."""
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
