"""What an occasion is about: the Engines of the configuration, and the Kernels of the kernels folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from perfd import builders
from perfd.config import Config
from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind
from perfd.domain.subject import Engine, Kernel, Source, SubjectKind
from perfd.errors import BadInputError

KERNEL_RECIPE = "kernel"


@dataclass(frozen=True)
class Chosen:
    """A subject with all that watching and building it needs."""

    name: str
    kind: SubjectKind
    source: Source
    recipe: str
    options: dict[str, str]
    engine: Engine | None = None
    """Absent for kernels."""


@dataclass(frozen=True)
class Wanted:
    """What a night is for; it stands in the night's label, so that any worker can go on with it."""

    engines: tuple[str, ...] = ()
    """Empty: all nightly ones."""
    suites: tuple[str, ...] = ()
    """Empty: each Engine's own nightly suites, and the Kernels."""

    @property
    def label(self) -> str:
        """The label of the occasion: "llamacpp+tasks,agentic"; "" for an ordinary night."""
        return ",".join(self.engines) + ("+" + ",".join(self.suites) if self.suites else "")


def wanted(occasion: Occasion) -> Wanted:
    """What an occasion is for, from its label; a Checkpoint's Launch knows its suites."""
    if occasion.kind is OccasionKind.CHECKPOINT:
        return Wanted((occasion.label.split()[2],))
    if occasion.kind is not OccasionKind.NIGHT:
        return Wanted()
    engines, _, suites = occasion.label.partition("+")
    return Wanted(tuple(filter(None, engines.split(","))), tuple(filter(None, suites.split(","))))


def chosen(config: Config, occasion: Occasion) -> Iterator[Chosen]:
    """The subjects of an occasion: the Engines that it names, else every nightly one; and Kernels, unless it names suites.

    A Checkpoint is about its Engine alone.
    """
    asked = wanted(occasion)
    for engine in config.engines:
        if engine.name in asked.engines or (not asked.engines and engine.nightly):
            yield of_engine(engine)
    if config.kernels and not asked.suites and occasion.kind is not OccasionKind.CHECKPOINT:
        for kernel in kernels(config.kernels_folder):
            yield of_kernel(kernel, config.kernels_folder)


def by_name(config: Config, name: str) -> Chosen:
    """The subject of that name; raises BadInputError where the configuration has none."""
    engine = config.engine(name)
    if engine is not None:
        return of_engine(engine)
    for kernel in kernels(config.kernels_folder):
        if kernel.name == name:
            return of_kernel(kernel, config.kernels_folder)
    known = ", ".join([engine.name for engine in config.engines] + [kernel.name for kernel in kernels(config.kernels_folder)])
    raise BadInputError(f"there is no engine or kernel called {name!r}; the configuration has {known}")


def of_engine(engine: Engine) -> Chosen:
    """An Engine as a subject."""
    return Chosen(engine.name, SubjectKind.ENGINE, engine.source, engine.recipe, dict(engine.recipe_options), engine)


def kernels(folder: Path) -> tuple[Kernel, ...]:
    """One Kernel a file of the folder; files that begin with an underscore help others."""
    return tuple(Kernel(path.stem, path.name) for path in sorted(folder.glob("[!_]*.py")))


def of_kernel(kernel: Kernel, folder: Path) -> Chosen:
    """A Kernel of a folder as a subject."""
    return Chosen(kernel.name, SubjectKind.KERNEL, builders.kernel_source(kernel, folder), KERNEL_RECIPE, {})
