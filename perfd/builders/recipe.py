"""What a recipe is: how Revisions of one kind of source become something that can be launched or measured.

A new recipe is a file here with a class of this shape, and a line in `perfd/builders/build.py`. docs/engines.md shows one.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from perfd.builders.process import Workshop
from perfd.builders.words import Progress
from perfd.domain.identity import digest
from perfd.domain.subject import Source
from perfd.errors import BadInputError


@dataclass(frozen=True)
class Ingredients:
    """What a Build is made of."""

    subject: str
    source: Source
    revision: str
    options: Mapping[str, str]
    state: Path


class Recipe(Protocol):
    """One way to make Builds."""

    @property
    def name(self) -> str:
        """What perfd.toml calls it."""

    @property
    def options(self) -> frozenset[str]:
        """The names that `recipe_options` may hold."""

    def files(self, options: Mapping[str, str]) -> tuple[Path, ...]:
        """Files beside the recipe's own that end in the Build, such as launchers; their text is part of the recipe's."""

    def toolchain(self, ingredients: Ingredients) -> Mapping[str, str]:
        """Tools that shape the result, with their versions; known before anything is built."""

    def dependencies(self, ingredients: Ingredients) -> Mapping[str, str]:
        """Every package that will lie beside the artifact, with its version; known before anything is built."""

    def make(self, ingredients: Ingredients, into: Path, workshop: Workshop, progress: Progress) -> None:
        """`into` holds the artifact. Raises BuildError where it cannot be made."""


def recipe_hash(recipe: Recipe, options: Mapping[str, str]) -> str:
    """sha256 of the recipe's text, the files that it adds, and the options: change one, and it is another Build."""
    unknown = sorted(set(options) - recipe.options)
    if unknown:
        known = ", ".join(sorted(recipe.options)) or "none"
        raise BadInputError(f'recipe "{recipe.name}" has no option "{unknown[0]}" (recipe_options); it has {known}')
    own = Path(inspect.getfile(type(recipe)))
    texts = [sha256(path.read_bytes()).hexdigest() for path in (own, *recipe.files(options))]
    return digest({"texts": texts, "options": dict(options)})
