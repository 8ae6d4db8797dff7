"""Recipe `released`: a version of a Python package in a virtual environment of its own, with exactly what it resolved to."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from perfd.builders import toolchain
from perfd.builders.index import resolve
from perfd.builders.process import Workshop
from perfd.builders.recipe import Ingredients
from perfd.builders.venv import install, make_venv
from perfd.builders.words import Progress
from perfd.domain.subject import SourceKind
from perfd.errors import BadInputError

LAUNCHERS = Path(__file__).parent / "launchers"


class Released:
    """A venv, and beside it a launcher where the package brings no server command of its own."""

    name = "released"
    options: frozenset[str] = frozenset({"launcher", "extras"})

    def files(self, options: Mapping[str, str]) -> tuple[Path, ...]:
        """The launcher, one of perfd/builders/launchers."""
        return (_launcher(options["launcher"]),) if "launcher" in options else ()

    def toolchain(self, ingredients: Ingredients) -> Mapping[str, str]:
        """The Python that the environment is made of."""
        del ingredients
        return toolchain.versions("python", "platform")

    def dependencies(self, ingredients: Ingredients) -> Mapping[str, str]:
        """The package and all that it resolves to."""
        return {pin.name: pin.version for pin in resolve(_requirement(ingredients), ingredients.state)}

    def make(self, ingredients: Ingredients, into: Path, workshop: Workshop, progress: Progress) -> None:
        """`into` holds venv/ and the launcher."""
        pins = resolve(_requirement(ingredients), ingredients.state)
        progress(
            f"installing {ingredients.source.location} {ingredients.revision} ({len(pins)} packages) into its own environment"
        )
        python = make_venv(into / "venv", workshop)
        install(python, [pin.requirement for pin in pins], workshop)
        for launcher in self.files(ingredients.options):
            shutil.copy2(launcher, into / launcher.name)


def _requirement(ingredients: Ingredients) -> str:
    source = ingredients.source
    if source.kind is not SourceKind.INDEX:
        raise BadInputError(f'recipe "released" needs a source of kind "index", not "{source.kind}"')
    extras = ingredients.options.get("extras", "")
    return f"{source.location}{f'[{extras}]' if extras else ''}=={ingredients.revision}"


def _launcher(name: str) -> Path:
    known = {path.name: path for path in LAUNCHERS.glob("*.py") if path.name != "__init__.py"}
    if name not in known:
        raise BadInputError(f'there is no launcher "{name}" (recipe_options.launcher); there is {", ".join(sorted(known))}')
    return known[name]
