"""doctor: the machine's checks together with those of Postgres, the engines' tools and the weights."""

import socket
from collections.abc import Iterator
from pathlib import Path

from perfd.bench.cage.refuse import refusal
from perfd.bench.doctor import Check, Level, examine
from perfd.config import Config
from perfd.domain.model import Model
from perfd.domain.subject import Engine, SourceKind
from perfd.errors import PerfdError
from perfd.store import open_store

NEEDS = {"llamacpp-source": ("cc", "c++")}
"""Tools that a recipe takes from the machine; whatever else it needs comes with its packages."""


def examine_all(config: Config) -> tuple[Check, ...]:
    """Every check, machine first; Postgres is really opened, and weights are really looked for."""
    threads = max(device.threads for device in config.devices)
    tools = sorted({tool for engine in config.engines if engine.nightly for tool in _tools(engine)})
    weights = {model.name: _weights(model, config.state) for model in config.models if not model.is_announced}
    devices = [device.name for device in config.devices]
    return (*examine(config.state, threads, tools, weights, devices), *_cage(config), *_postgres(config))


def _tools(engine: Engine) -> Iterator[str]:
    yield from NEEDS.get(engine.recipe, ())
    if engine.source.kind is SourceKind.GIT:
        yield "git"


def _weights(model: Model, state: Path) -> Path | None:
    """Where the weights lie; absent where they have not been fetched yet."""
    path = state / "models" / model.sha256 / model.file if model.package else Path(model.file)
    return path if path.exists() else None


def _cage(config: Config) -> Iterator[Check]:
    """Only where pull requests are answered: elsewhere nobody's code needs one."""
    if not config.github.repositories:
        return
    if refusal():
        remedy = "Mend it, or answer on this host only pull requests of allowed authors."
        yield Check("cage", Level.BAD, refusal(), remedy)
    else:
        yield Check("cage", Level.OK, "code that nobody vouches for can be kept apart")


def _postgres(config: Config) -> Iterator[Check]:
    which = "embedded" if config.database_url is None else "outside, from PERFD_DATABASE_URL"
    try:
        with open_store(config) as store:
            store.pages.ping()
            lasting = [row for row in store.devices.rows() if row.quarantine and row.device.host == socket.gethostname()]
    except PerfdError as error:
        yield Check("postgres", Level.BAD, error.message, "Do what the sentence says, then run `perfd doctor` again.")
        return
    yield Check("postgres", Level.OK, f"{which}, answers, at this perfd's schema")
    for row in lasting:
        why = row.quarantine.cause.reason if row.quarantine else ""
        remedy = f"Mend it, then run `perfd device release {row.id} --reason TEXT`."
        yield Check(f"device {row.device.name}", Level.BAD, f"in quarantine: {why}", remedy)
