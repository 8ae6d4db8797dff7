"""Launches of `perfd.toml` against the rest of it: what they name is there, once, and can be rehearsed where they ask for it."""

from collections.abc import Collection, Sequence

from perfd.config.lines import Place
from perfd.config.table import Mistakes, meant
from perfd.domain.launch import ModelLaunch
from perfd.domain.model import Model
from perfd.domain.subject import Engine


def check_launches(
    mistakes: Mistakes,
    launches: Sequence[ModelLaunch | None],
    known: tuple[Sequence[Engine], Sequence[Model]],
    suites: Collection[str],
) -> None:
    """Every Launch that names what is not there, stands there twice, or rehearses without shapes, is told with its line."""
    engines, models = {one.name for one in known[0]}, {one.name: one for one in known[1]}
    first: dict[str, int] = {}
    for index, launch in enumerate(launches):
        if launch is None:
            continue
        place: Place = ("launches", index)
        if launch.engine and launch.engine not in engines:
            told = f'a launch is on the engine "{launch.engine}", which is not there{meant(launch.engine, engines)}'
            mistakes.add((*place, "engine"), told)
        if launch.model and launch.model not in models:
            told = f'a launch is of the model "{launch.model}", which is not there{meant(launch.model, models)}'
            mistakes.add((*place, "model"), told)
        elif launch.model:
            _check_days(mistakes, place, launch, models[launch.model])
        for name in launch.suites if suites else ():
            if name not in suites:
                mistakes.add((*place, "suites"), f'a launch runs the suite "{name}", which is not there{meant(name, suites)}')
        if launch.name in first:
            mistakes.add(place, f"the launch of {launch.name} is there twice, first on line {first[launch.name]}")
        first.setdefault(launch.name, mistakes.lines.get(place, 1))


def _check_days(mistakes: Mistakes, place: Place, launch: ModelLaunch, model: Model) -> None:
    if min(launch.days) < 0 and not model.shape:
        mistakes.add((*place, "days"), no_shapes(launch, model.name))


def no_shapes(launch: ModelLaunch, model: str) -> str:
    """Why a Model cannot be rehearsed."""
    return (
        f'day {min(launch.days)} rehearses on random weights of the announced shapes, and the model "{model}" has none: '
        "give it models.shape, a file like config.json"
    )
