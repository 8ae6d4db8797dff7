"""Describe, then build: a Build is named by its ingredients before anything is made, and never made twice."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic

from perfd.builders import artifact, checkout, folder, index
from perfd.builders.kernel import KernelSnapshot
from perfd.builders.llamacpp_source import LlamaCppSource
from perfd.builders.process import BuildError, Workshop, os_sentence
from perfd.builders.recipe import Ingredients, Recipe, recipe_hash
from perfd.builders.released import Released
from perfd.builders.script import Script
from perfd.builders.words import Enclose, Progress, quiet
from perfd.domain.build import BuildOutcome, BuildSpec
from perfd.domain.subject import Kernel, Revision, Source, SourceKind
from perfd.errors import BadInputError, PerfdError

TIME_LIMIT_S = 3600.0
RECIPES: Mapping[str, Recipe] = {recipe.name: recipe for recipe in (Released(), LlamaCppSource(), Script(), KernelSnapshot())}


def revisions(source: Source, state: Path, progress: Progress = quiet) -> tuple[Revision, ...]:
    """The Revisions of a source, oldest first; never empty.

    Raises BadInputError where there is nothing to find; PerfdError, not permanent, where a repository or the index is silent.
    """
    if source.kind is SourceKind.GIT:
        return checkout.revisions(source, state, progress)
    if source.kind is SourceKind.INDEX:
        return index.revisions(source, state, progress)
    return folder.revisions(source, state)


def kernel_source(kernel: Kernel, folder_path: Path) -> Source:
    """Where the Revisions of a Kernel come from: its file in the kernels folder."""
    return Source(SourceKind.FOLDER, str((folder_path / kernel.path).absolute()))


def describe(  # noqa: PLR0917  (the six ingredients of a Build, in the order of the sentence that names it)
    subject: str, source: Source, revision: Revision | str, recipe: str, options: Mapping[str, str], state: Path
) -> BuildSpec:
    """What the Build would be: toolchain and dependency set are resolved, nothing is built yet."""
    chosen = _recipe(recipe)
    name = revision if isinstance(revision, str) else revision.name
    ingredients = Ingredients(subject, source, name, dict(options), state.absolute())
    return BuildSpec(
        subject=subject,
        revision=name,
        recipe=recipe,
        recipe_hash=recipe_hash(chosen, options),
        toolchain=dict(chosen.toolchain(ingredients)),
        dependencies=dict(chosen.dependencies(ingredients)),
    )


def build(
    spec: BuildSpec,
    source: Source,
    options: Mapping[str, str],
    state: Path,
    progress: Progress = quiet,
    *,
    time_limit_s: float = TIME_LIMIT_S,
    enclose: Enclose | None = None,
) -> BuildOutcome:
    """The Build: found where its digest is there and whole, else made. A failed one has no artifact, and the tail of its log.

    With `enclose`, every step that runs code of the source runs in a cage, without network; what was to be fetched must be there.
    Raises only where nothing could be tried: no permission to write the state folder, an unknown recipe.
    """
    chosen = _recipe(spec.recipe)
    if recipe_hash(chosen, options) != spec.recipe_hash:
        raise BadInputError(f"the recipe {spec.recipe} or its options changed since {spec.subject} was planned: plan it again")
    if enclose is not None and source.kind is SourceKind.INDEX:
        raise BadInputError(
            f"the recipe {spec.recipe} fetches packages while it builds, and untrusted code is built without network: "
            f"{spec.subject} from a package index is refused"
        )
    ingredients = Ingredients(spec.subject, source, spec.revision, dict(options), state.absolute())
    try:
        found = artifact.find(spec, state)
        return found or _make(spec, chosen, ingredients, progress, time_limit_s, enclose)
    except OSError as error:
        raise PerfdError(f"{spec.subject} cannot be built: {os_sentence(error)}", permanent=False) from error


def is_whole(spec: BuildSpec, state: Path) -> bool:
    """Whether the Build is there and nothing of it is missing."""
    return artifact.find(spec, state) is not None


def _make(  # noqa: PLR0917  (what a Build is made of, and how)
    spec: BuildSpec, recipe: Recipe, ingredients: Ingredients, progress: Progress, time_limit_s: float, enclose: Enclose | None
) -> BuildOutcome:
    state = ingredients.state
    with artifact.making(spec, state, progress) as folder_path:
        # Another process may have made it while this one waited for the lock.
        found = artifact.find(spec, state)
        if found:
            return found
        began = monotonic()
        workshop = Workshop(folder_path / "build.log", began + time_limit_s, enclose)
        trouble = _try(recipe, ingredients, folder_path / "artifact", workshop, progress)
        if trouble is None:
            return artifact.keep(spec, folder_path, state, monotonic() - began)
        workshop.note(f"perfd: {trouble.message}")
        return replace(artifact.keep_failure(spec, folder_path, state, monotonic() - began), passing=not trouble.permanent)


def _try(recipe: Recipe, ingredients: Ingredients, into: Path, workshop: Workshop, progress: Progress) -> PerfdError | None:
    """None when the artifact is made, else why it is not."""
    try:
        recipe.make(ingredients, into, workshop, progress)
    except PerfdError as error:
        return error
    except OSError as error:
        return BuildError(os_sentence(error))
    return None


def _recipe(name: str) -> Recipe:
    if name not in RECIPES:
        raise BadInputError(f'there is no recipe "{name}"; there is {", ".join(sorted(RECIPES))}')
    return RECIPES[name]
