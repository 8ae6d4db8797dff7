"""Recipe `script`: the Build is a checkout of the commit, for engines that need no compiling."""

from collections.abc import Mapping
from pathlib import Path

from perfd.builders import checkout, folder, toolchain
from perfd.builders.process import Workshop
from perfd.builders.recipe import Ingredients
from perfd.builders.words import Progress
from perfd.domain.subject import SourceKind, brief
from perfd.errors import BadInputError


class Script:
    """Files as they are."""

    name = "script"
    options: frozenset[str] = frozenset()

    def files(self, options: Mapping[str, str]) -> tuple[Path, ...]:
        """None."""
        del options
        return ()

    def toolchain(self, ingredients: Ingredients) -> Mapping[str, str]:
        """The interpreter that {python} stands for."""
        del ingredients
        return toolchain.versions("python", "platform")

    def dependencies(self, ingredients: Ingredients) -> Mapping[str, str]:
        """None of its own."""
        del ingredients
        return {}

    def make(self, ingredients: Ingredients, into: Path, workshop: Workshop, progress: Progress) -> None:
        """`into` holds the files of the commit, or of the folder."""
        source = ingredients.source
        progress(f"checking out {ingredients.subject} {brief(ingredients.revision)}")
        if source.kind is SourceKind.GIT:
            checkout.check_out(source, ingredients.revision, into, ingredients.state)
        elif source.kind is SourceKind.FOLDER:
            folder.check_out(source, ingredients.revision, into)
        else:
            raise BadInputError('recipe "script" needs a source of kind "git" or "folder"; packages from an index are "released"')
        workshop.note(f"checked out {source.location} at {ingredients.revision}")
