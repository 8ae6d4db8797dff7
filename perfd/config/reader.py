"""From a file and an environment to a Config, or to one error that lists every mistake."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from perfd.config import sections
from perfd.config.github import check_github, github
from perfd.config.launches import check_launches
from perfd.config.lines import Place, lines_of
from perfd.config.notify import notify
from perfd.config.secrets import drop_secrets, refuse_secrets
from perfd.config.site import site
from perfd.config.table import Mistakes, Table, meant
from perfd.config.words import Config, Schedule
from perfd.domain.model import Model
from perfd.domain.subject import Engine
from perfd.errors import BadInputError

FILE_NAME = "perfd.toml"
LARGEST_BYTES = 1_000_000
"""A hundred engines take a tenth of it; TOML of 50 MB takes 6 GB of memory to read."""
_DATABASE = re.compile(r"postgres(?:ql)?(?:\+[a-z0-9_]+)?://")
_SYNTAX = re.compile(r"(?P<what>.*) \(at line (?P<line>\d+), column (?P<column>\d+)\)")


def load_config(path: Path | None, environ: Mapping[str, str]) -> Config:
    """The configuration in `path`; without one, in `perfd.toml` of the current folder; without that, the defaults.

    A section that the file lacks is taken from the defaults. Raises BadInputError with one line for each mistake.
    """
    chosen = path or (Path(FILE_NAME) if Path(FILE_NAME).exists() else None)
    text = _text(chosen) if chosen else ""
    document = _parse(text, str(chosen or FILE_NAME))
    mistakes = Mistakes(str(chosen or FILE_NAME), lines_of(text))
    refuse_secrets(mistakes, document)
    config = _read(mistakes, drop_secrets(document), chosen, environ)
    _check_database(mistakes, config.database_url)
    if mistakes.told:
        raise BadInputError(str(mistakes))
    return config


def default_text() -> str:
    """The packaged default configuration, with its comments."""
    return resources.files("perfd.config").joinpath("default.toml").read_text(encoding="utf-8")


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_BYTES + 1)
        if len(text) > LARGEST_BYTES:
            raise BadInputError(f"{path}: has more than {LARGEST_BYTES:,} bytes; is this really perfd's configuration?")
        return text.decode("utf-8").replace("\r\n", "\n")
    except FileNotFoundError:
        raise BadInputError(
            f"{path}: there is no such file; write one, or leave the option away and the defaults serve"
        ) from None
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: byte {error.start} is no UTF-8; TOML files are UTF-8 text") from None
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}") from None


def _parse(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise BadInputError(f"{file}: lists or tables are nested too deeply for a configuration") from None
    except tomllib.TOMLDecodeError as error:
        told = _SYNTAX.fullmatch(str(error))
        if told:
            raise BadInputError(f"{file}:{told['line']}:{told['column']}: no valid TOML: {told['what']}") from None
        lines = text.split("\n")
        what = str(error).removesuffix(" (at end of document)")
        raise BadInputError(f"{file}:{len(lines)}:{len(lines[-1]) + 1}: no valid TOML: {what} at the end of the file") from None


def _read(mistakes: Mistakes, document: dict[str, Any], path: Path | None, environ: Mapping[str, str]) -> Config:
    defaults = tomllib.loads(default_text())
    root = Table(mistakes, (), defaults | document)
    beside = path.parent if path else Path()
    engines = tuple(sections.engine(table, beside) for table in root.tables("engines"))
    models = tuple(sections.model(table, beside) for table in root.tables("models"))
    devices = tuple(sections.device(table) for table in root.tables("devices"))
    enabled, kernels_folder = sections.kernels(root.table("kernels", needed=False))
    suites_folder = sections.resolved(sections.suites(root.table("suites", needed=False)), beside)
    schedule: Schedule = sections.schedule(root.table("schedule", needed=False))
    budgets = tuple(sections.budget(table) for table in root.tables("budgets"))
    launches = tuple(sections.launch(table) for table in root.tables("launches"))
    forge = github(root.table("github", needed=False), environ)
    access = site(root.table("site", needed=False), environ)
    told = notify(root.table("notify", needed=False), environ, forge.site)
    root.close()
    for kind, names in (("engines", engines), ("models", models), ("devices", devices)):
        _check_names(mistakes, kind, [each.name for each in names])
    _check_references(mistakes, engines, models, suites_folder)
    for index, one in enumerate(budgets):
        if one.engine:
            known = {engine.name for engine in engines}
            _check_known(mistakes, ("budgets", index, "engine"), (one.engine,), known, "a budget is for the engine")
    _check_kernel_names(mistakes, engines, sections.resolved(kernels_folder, beside))
    check_launches(mistakes, launches, (engines, models), _suite_names(suites_folder))
    check_github(mistakes, forge, engines, _suite_names(suites_folder))
    state = Path(environ.get("PERFD_STATE") or ".perfd").absolute()
    return Config(
        path=path,
        state=state,
        engines=engines,
        models=models,
        devices=devices,
        schedule=schedule,
        budgets=budgets,
        launches=tuple(one for one in launches if one is not None),
        github=forge,
        notify=told,
        site=access,
        kernels=enabled,
        kernels_folder=sections.resolved(kernels_folder, beside),
        suites_folder=suites_folder,
        database_url=environ.get("PERFD_DATABASE_URL") or None,
    )


def _check_names(mistakes: Mistakes, kind: str, names: list[str]) -> None:
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if name and name in first:
            line = mistakes.lines.get((kind, first[name]), 1)
            mistakes.add((kind, index, "name"), f'[[{kind}]] "{name}" is there twice, first on line {line}; give it another name')
        first.setdefault(name, index)


def _check_references(mistakes: Mistakes, engines: Iterable[Engine], models: Iterable[Model], suites_folder: Path) -> None:
    model_names = {model.name for model in models}
    suite_names = _suite_names(suites_folder)
    written = ("engines",) in mistakes.lines
    for index, engine in enumerate(engines):
        place: Place = ("engines", index)
        title = f'engine "{engine.name}"' if written else f'the default engine "{engine.name}" (the file has no [[engines]])'
        _check_known(
            mistakes, (*place, "models") if written else ("models",), engine.models, model_names, f"{title} serves the model"
        )
        # Without the folder nothing is known of suites; the reader of suites tells that it is missing.
        if suite_names:
            _check_known(
                mistakes, (*place, "suites") if written else ("suites",), engine.suites, suite_names, f"{title} runs the suite"
            )


def _check_kernel_names(mistakes: Mistakes, engines: Iterable[Engine], folder: Path) -> None:
    kernels = {path.stem for path in folder.glob("*.py")}
    for index, engine in enumerate(engines):
        if engine.name in kernels:
            mistakes.add(("engines", index, "name"), f'engine "{engine.name}" has the name of a kernel; give it another')


def _check_known(mistakes: Mistakes, place: Place, names: Iterable[str], known: set[str], told: str) -> None:
    for index, name in enumerate(names):
        if name not in known:
            mistakes.add((*place, index), f'{told} "{name}", which is not there{meant(name, known)}')


def _suite_names(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.toml")}


def _check_database(mistakes: Mistakes, url: str | None) -> None:
    # The address holds a password: it is never repeated in the sentence.
    if url and not _DATABASE.match(url):
        raise BadInputError(
            "PERFD_DATABASE_URL must be the address of a Postgres, postgresql://user:password@host:port/name; "
            "unset it and perfd starts a Postgres of its own" + (f"\n{mistakes}" if mistakes.told else ""),
        )
