"""Launches: declared by a person or by perfd.toml, each Checkpoint opened once when it is due, and what it is to measure."""

from dataclasses import dataclass, replace
from typing import Any

from perfd import builders
from perfd.config import Config
from perfd.config.launches import no_shapes
from perfd.domain.launch import Checkpoint, ModelLaunch
from perfd.domain.model import Model
from perfd.domain.occasion import Finding, Occasion
from perfd.domain.subject import Engine
from perfd.errors import BadInputError, PerfdError
from perfd.rules.launches import due, is_owed, late_by, refuse_past
from perfd.stages.context import Context
from perfd.stages.subjects import kernels, of_kernel
from perfd.store.launch_rows import LaunchRow
from perfd.store.launches import Declared

REHEARSAL = "-rehearsal"
"""Ends the name of the Model of a rehearsal, so that random weights never enter the Series of real ones."""


@dataclass(frozen=True)
class Scope:
    """What a Checkpoint measures on its Engine."""

    suites: tuple[str, ...]
    model: Model


def declare(context: Context, launch: ModelLaunch) -> Declared:
    """The Launch stands in the database.

    Raises BadInputError for an unknown Model, Engine or suite, for days that have passed, and for a rehearsal that cannot be.
    """
    model, engine = _known(context.config, launch)
    for name in launch.suites:
        if name not in suite_names(context.config):
            raise BadInputError(f"there is no suite {name!r}; there is {', '.join(suite_names(context.config))}")
    if min(launch.days) < 0:
        _refuse_rehearsal(launch, model, engine)
    now = context.now()
    standing = next(iter(context.store.launches.find(launch.model, launch.engine)), None)
    new = tuple(day for day in launch.days if not _stands(standing, launch, day))
    if new:
        refuse_past(replace(launch, days=new), now)
    return context.store.launches.declare(launch, frozenset(launch.days), now)


def _known(config: Config, launch: ModelLaunch) -> tuple[Model, Engine]:
    model, engine = config.model(launch.model), config.engine(launch.engine)
    if model is None:
        known = ", ".join(one.name for one in config.models)
        raise BadInputError(f"there is no model {launch.model!r}; the configuration has {known}")
    if engine is None:
        known = ", ".join(one.name for one in config.engines)
        raise BadInputError(f"there is no engine {launch.engine!r}; the configuration has {known}")
    return model, engine


def _refuse_rehearsal(launch: ModelLaunch, model: Model, engine: Engine) -> None:
    if not model.shape:
        raise BadInputError(no_shapes(launch, model.name))
    why = builders.why_no_random_weights(engine)
    if why:
        raise BadInputError(why)
    builders.read_shape(model)


def _stands(standing: LaunchRow | None, launch: ModelLaunch, day: int) -> bool:
    one = None if standing is None else standing.day(day)
    return one is not None and (one.occasion is not None or one.due_at == launch.due_at(day))


def open_due_checkpoints(context: Context) -> tuple[Occasion, ...]:
    """Launches of perfd.toml stand in the database, and every Checkpoint that is due was opened, just now or before.

    However late, each owed Checkpoint is opened once; answers those that were opened just now.
    """
    declare_configured(context)
    now = context.now()
    opened = [
        (one, context.store.launches.open(row.launch, one.day, now))
        for row in context.store.launches.every()
        for one in due(row.checkpoints, now)
    ]
    return tuple(_told(context, one, occasion) for one, occasion in opened if occasion is not None)


def declare_configured(context: Context) -> None:
    """The Launches of perfd.toml stand in the database; one that cannot be changed any more is told."""
    for launch in context.config.launches:
        _declare_configured(context, launch)


def _declare_configured(context: Context, launch: ModelLaunch) -> None:
    """A Launch of the file stands there; the days that had passed when it was first seen are not owed."""
    standing = context.store.launches.find(launch.model, launch.engine)
    if standing and standing[0].launch == launch:
        return  # also where a person has dropped it since
    now = context.now()
    owed = frozenset(day for day in launch.days if is_owed(launch, day, now))
    try:
        done = context.store.launches.declare(launch, owed, now)
    except BadInputError as error:
        context.tell.say("clock", error.message)
        return
    if done is not Declared.SAME:
        context.tell.say("clock", f"the launch of {launch.name} is {done}")


def _told(context: Context, one: Checkpoint, occasion: Occasion) -> Occasion:
    late = late_by(replace(one, opened_at=context.now()))
    told = "" if late is None else f", {late.total_seconds() / 3600:.1f} hours late"
    context.tell.say("clock", f"day {one.day} of {one.launch} is due{told}")
    return occasion


def suite_names(config: Config) -> tuple[str, ...]:
    """Every suite of the suites folder."""
    return tuple(sorted(path.stem for path in config.suites_folder.glob("*.toml")))


def scope_of(context: Context, occasion: Occasion) -> Scope:
    """What a Checkpoint measures; raises BadInputError where its Launch is unknown, or its Model cannot be served."""
    found = context.store.launches.of(occasion)
    if found is None:
        raise BadInputError(f"{occasion.name} belongs to no launch that is known here")
    row, one = found
    model, engine = _known(context.config, row.launch)
    return Scope(row.launch.suites or suite_names(context.config), _weights_of(row.launch, one.day, model, engine))


def _weights_of(launch: ModelLaunch, day: int, model: Model, engine: Engine) -> Model:
    if day >= 0:
        if model.is_announced:
            raise BadInputError(f"the weights of {model.name} are not there on day {day}: give models.file and models.sha256")
        return model
    _refuse_rehearsal(launch, model, engine)
    sha256 = builders.random_weights_hash(model)
    return replace(model, name=model.name + REHEARSAL, package="", version="", file="", sha256=sha256)


def begin(context: Context, occasion: Occasion) -> None:
    """How the Engine is started at this Checkpoint is remembered; an Engine that is gone from perfd.toml is a finding."""
    found = context.store.launches.of(occasion)
    engine = None if found is None else context.config.engine(found[0].launch.engine)
    if found is None or engine is None:
        sentence = f"{occasion.label}: the configuration has no such engine any more; nothing can be measured"
        context.store.occasions.note(occasion, Finding("plan", occasion.label, sentence), context.now())
        return
    try:
        model = scope_of(context, occasion).model
    except PerfdError:
        return  # planning says why
    context.store.launches.remember(occasion, _launched_with(context, engine, model))


def _launched_with(context: Context, engine: Engine, model: Model) -> dict[str, Any]:
    config, latest = context.config, context.store.subjects.latest
    subjects = [of_kernel(one, config.kernels_folder) for one in kernels(config.kernels_folder)] if config.kernels else []
    seen = {one.name: latest(one.name, one.source.branch) for one in subjects}
    return {
        "command": list(engine.launch.command),
        "environment": dict(engine.launch.environment),
        "model": {name: getattr(model, name) for name in ("sha256", "quantisation", "parallelism")},
        "kernels": {name: revision.name for name, revision in seen.items() if revision is not None},
    }
