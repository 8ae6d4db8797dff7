"""The sections of `perfd.toml`, each read into its words. A later section is one more function here, one more field of Config."""

import re
import zoneinfo
from pathlib import Path

from perfd.config.secrets import refuse_address_with_password
from perfd.config.table import Table, meant
from perfd.config.words import DeviceConfig, Schedule
from perfd.domain.budget import Budget
from perfd.domain.launch import DAYS, ModelLaunch
from perfd.domain.metric import METRICS
from perfd.domain.model import Model
from perfd.domain.subject import Engine, Launch, Source, SourceKind
from perfd.domain.suite import WorkloadClass

RECIPES = ("released", "llamacpp-source", "script")
DIALECTS = ("openai", "llamacpp")
PLACEHOLDERS = frozenset({"artifact", "python", "host", "port", "weights", "threads"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PACKAGE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/]+:")
_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")
_DEVICE = re.compile(r"cpu|[0-9]{1,3}|(?:GPU|MIG)-[0-9A-Za-z/-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def schedule(table: Table) -> Schedule:
    """When the clock fires; a time that does not exist and an unknown time zone are told."""
    nightly = table.text("nightly", "02:00")
    if not _TIME.fullmatch(nightly):
        table.wrong("nightly", f'schedule.nightly must be a time of day such as "02:00", not "{nightly}"')
    timezone = table.text("timezone", "UTC")
    if not _zone_exists(timezone):
        table.wrong("timezone", f'schedule.timezone "{timezone}" is no time zone{_zone_meant(timezone)}')
    made = Schedule(
        nightly,
        timezone,
        aa=table.flag("aa", default=True),
        confirm_minutes=table.number("confirm_minutes", 20.0, 0.0),
        bisect=table.flag("bisect", default=False),
        night_minutes=table.number("night_minutes", 1440.0, 0.0),
        keep_samples_months=table.whole("keep_samples_months", Schedule.keep_samples_months, 0),
        lease_s=table.number("lease_s", 90.0, 1.0),
    )
    table.close()
    return made


def budget(table: Table) -> Budget:
    """What an Engine may lose against a pinned Revision; for one Metric, one class of Workloads, or all."""
    made = Budget(
        engine=table.text("engine"),
        revision=table.text("revision"),
        share=table.number("share", 0.05, 0.0),
        metric=table.text("metric", ""),
        workload_class=table.text("class", ""),
    )
    if made.metric and made.metric not in METRICS:
        table.wrong("metric", f'budgets.metric "{made.metric}" is no Metric of perfd{meant(made.metric, METRICS)}')
    if made.workload_class and made.workload_class not in set(WorkloadClass):
        table.wrong("class", f'budgets.class cannot be "{made.workload_class}"{meant(made.workload_class, WorkloadClass)}')
    table.close()
    return made


def launch(table: Table) -> ModelLaunch | None:
    """A Model's release on an Engine; absent where its time or its days were no good, which is told."""
    words = {"model": table.text("model"), "engine": table.text("engine")}
    at, days = table.moment("at"), table.wholes("days", DAYS)
    suites = table.texts("suites", ())
    minutes = table.number("compare_minutes", ModelLaunch.compare_minutes, 0.0)
    table.close()
    if at is None or days is None:
        return None
    try:
        return ModelLaunch(**words, at=at, days=tuple(sorted(days)), suites=suites, compare_minutes=minutes)
    except ValueError as error:
        table.wrong("at" if "zone" in str(error) else "days", f"launches: {error}")
        return None


def device(table: Table) -> DeviceConfig:
    """A device of this machine."""
    made = DeviceConfig(
        name=table.text("name"),
        threads=table.whole("threads", 1, 1),
        hottest_c=table.number("hottest_c", 85.0, 0.0),
        busiest_cores=table.number("busiest_cores", 0.0, 0.0),
        busiest_percent=table.number("busiest_percent", 10.0, 0.0),
        neighbours=table.whole("neighbours", 0, 0),
        patience_minutes=table.number("patience_minutes", 60.0, 0.0),
    )
    if made.name and not _DEVICE.fullmatch(made.name):
        table.wrong("name", f'devices.name must be "cpu", the index of a GPU such as "0", or its UUID, not "{made.name}"')
    table.close()
    return made


def model(table: Table, beside: Path) -> Model:
    """Weights in a package (package, version, file), a file on this machine (file alone), or announced shapes (shape alone)."""
    package = table.text("package", "")
    shape = table.text("shape", "")
    announced = "" if shape and not package and "file" not in table.values else None
    file = table.text("file", announced)
    made = Model(
        name=_name(table),
        package=package,
        version=table.text("version", None if package else ""),
        file=file if package or not file else str((beside / Path(file).expanduser()).absolute()),
        sha256=table.text("sha256", announced),
        quantisation=table.text("quantisation"),
        licence=table.text("licence"),
        parallelism=table.text("parallelism", "1"),
        shape=str((beside / Path(shape).expanduser()).absolute()) if shape else "",
    )
    if made.sha256 and not _SHA256.fullmatch(made.sha256):
        table.wrong("sha256", "models.sha256 must be 64 hexadecimal digits in small letters; `sha256sum FILE` prints them")
    table.close()
    return made


def engine(table: Table, beside: Path) -> Engine:
    """An engine: source, recipe, and how its artifact becomes a server. Paths are read from the folder `beside`."""
    made = Engine(
        name=_name(table),
        source=_source(table.table("source", needed=True), beside),
        recipe=table.choice("recipe", RECIPES),
        launch=_launch(table.table("launch", needed=True)),
        suites=table.texts("suites"),
        models=table.texts("models"),
        recipe_options=table.mapping("recipe_options"),
        nightly=table.flag("nightly", default=True),
    )
    table.close()
    return made


def kernels(table: Table) -> tuple[bool, str]:
    """Whether a night rebuilds the kernels, and their folder as it was written."""
    made = table.flag("enabled", default=True), table.text("folder", "kernels")
    table.close()
    return made


def suites(table: Table) -> str:
    """The folder of the suites as it was written."""
    folder = table.text("folder", "suites")
    table.close()
    return folder


def _name(table: Table) -> str:
    name = table.text("name")
    if name and not _NAME.fullmatch(name):
        table.wrong(
            "name", f'the name "{name}" may hold letters, digits, ".", "_" and "-" only, since it becomes part of addresses'
        )
    return name


def _source(table: Table, beside: Path) -> Source:
    kind = table.choice("kind", [member.value for member in SourceKind])
    location = table.text("location")
    made = Source(
        kind=SourceKind(kind) if kind in set(SourceKind) else SourceKind.GIT,
        location=str((beside / Path(location).expanduser()).absolute()) if _is_path(kind, location) else location,
        branch=table.text("branch", "main"),
        version=table.text("version", "latest"),
    )
    if kind == SourceKind.INDEX and location and not _PACKAGE.fullmatch(location):
        table.wrong("location", f'engines.source.location must be the name of a package, not "{location}"')
    refuse_address_with_password(table, "location", location)
    if kind != SourceKind.GIT and "branch" in table.values:
        table.wrong("branch", "engines.source.branch has a meaning for git sources only")
    if kind != SourceKind.INDEX and "version" in table.values:
        table.wrong("version", "engines.source.version has a meaning for index sources only")
    table.close()
    return made


def _is_path(kind: str, location: str) -> bool:
    """Whether the location is a path of this machine; git also knows `scheme://…` and `user@host:path`."""
    return kind == SourceKind.FOLDER or (kind == SourceKind.GIT and location != "" and not _ADDRESS.match(location))


def _launch(table: Table) -> Launch:
    made = Launch(
        command=table.texts("command"),
        dialect=table.choice("dialect", DIALECTS, "openai"),
        ready_path=table.text("ready_path", "/health"),
        ready_timeout_s=table.number("ready_timeout_s", 60.0, 0.1),
        environment=table.mapping("environment"),
    )
    if not made.ready_path.startswith("/"):
        table.wrong("ready_path", f'engines.launch.ready_path must begin with "/", not "{made.ready_path}"')
    _check_command(table, made.command)
    table.close()
    return made


def _check_command(table: Table, command: tuple[str, ...]) -> None:
    used = [(index, name) for index, word in enumerate(command) for name in _PLACEHOLDER.findall(word)]
    for index, name in used:
        if name not in PLACEHOLDERS:
            known = ["{" + each + "}" for each in PLACEHOLDERS]
            told = f"unknown placeholder {{{name}}} in engines.launch.command{meant('{' + name + '}', known)}"
            table.mistakes.add((*table.place, "command", index), told)
    if command and "port" not in {name for _, name in used}:
        table.wrong("command", "engines.launch.command must hand {port} to the server, or perfd cannot find it")


def _zone_exists(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        # ValueError: a name that leaves the database's folder; OSError: one that is a folder, or too long.
        return False
    return True


def _zone_meant(name: str) -> str:
    zones = zoneinfo.available_timezones()
    by_city = [zone for zone in zones if zone.rpartition("/")[2].lower() == name.lower()]
    told = meant(name, by_city or zones)
    return told if "did you mean" in told else '; write one such as "UTC" or "Europe/Zurich"'


def resolved(folder: str, beside: Path) -> Path:
    """`folder` beside the configuration file; where it is not there, the one that perfd's own checkout has."""
    here = (beside / folder).absolute()
    own = Path(__file__).parents[2] / folder
    return own if not here.exists() and own.is_dir() else here
