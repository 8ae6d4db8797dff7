"""Recipe `kernel`: the Build is one op file of kernels/ with the helpers that it imports, under one torch and one Triton."""

from collections.abc import Mapping
from pathlib import Path

from perfd.builders import folder, toolchain
from perfd.builders.process import Workshop
from perfd.builders.recipe import Ingredients
from perfd.builders.words import Progress


class KernelSnapshot:
    """The files as they were when the night began, so that an edit during the night changes nothing."""

    name = "kernel"
    options: frozenset[str] = frozenset()

    def files(self, options: Mapping[str, str]) -> tuple[Path, ...]:
        """None."""
        del options
        return ()

    def toolchain(self, ingredients: Ingredients) -> Mapping[str, str]:
        """Triton compiles it, torch and numpy run beside it."""
        del ingredients
        return toolchain.versions("python", "platform", "torch", "triton", "numpy")

    def dependencies(self, ingredients: Ingredients) -> Mapping[str, str]:
        """None beyond the toolchain."""
        del ingredients
        return {}

    def make(self, ingredients: Ingredients, into: Path, workshop: Workshop, progress: Progress) -> None:
        """`into` holds the op file and its helpers, side by side as in kernels/."""
        del progress
        folder.check_out(ingredients.source, ingredients.revision, into)
        workshop.note(f"copied {', '.join(sorted(path.name for path in into.iterdir()))}")
