"""The checkout that somebody works in: where its repository begins, and which commits its names mean."""

from datetime import datetime
from pathlib import Path

from perfd.builders.checkout import when
from perfd.builders.process import AskError, ask, git_environment
from perfd.errors import BadInputError

DEEPEN = "fetch its whole history first (actions/checkout: fetch-depth: 0)"


def top_of(folder: Path) -> Path:
    """The top folder of the git checkout that the folder lies in; raises BadInputError where it lies in none."""
    try:
        return Path(_git(folder, "rev-parse", "--show-toplevel"))
    except AskError as error:
        hint = "; git distrusts its owner: git config --global --add safe.directory" if "dubious" in error.said else ""
        raise BadInputError(f"{folder} is no git checkout: start in the engine's own repository{hint}") from None


def commit_of(folder: Path, ref: str) -> str:
    """The full hash of what the name means in the checkout; raises BadInputError where it means nothing there."""
    for name in (ref, f"origin/{ref}"):
        try:
            return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except AskError:
            continue
    raise BadInputError(f"{ref!r} is no branch, tag or commit of {folder}{_shallow(folder)}")


def merge_base_of(folder: Path, base: str, head: str) -> str:
    """The newest commit that both have in their history, as the checkout knows it."""
    try:
        return _git(folder, "merge-base", base, head)
    except AskError:
        raise BadInputError(f"{base[:12]} and {head[:12]} share no history in {folder}{_shallow(folder)}") from None


def paths_between(folder: Path, base: str, head: str) -> tuple[str, ...]:
    """Every path that differs between the two commits; of a renamed file both names."""
    said = _git(folder, "diff-tree", "-r", "-z", "--no-renames", "--name-only", base, head, "--")
    return tuple(name for name in said.split("\0") if name)


def told(folder: Path, commit: str) -> tuple[str, datetime | None]:
    """The first line of the commit's message, and when it was committed, in UTC; absent where its date cannot be one."""
    at, title = _git(folder, "log", "--max-count=1", "--format=%cI%x00%s", commit, "--").split("\0", 1)
    return title, when(at)


def ahead_of(folder: Path, commit: str, tip: str) -> int:
    """How many commits the tip has that the commit has not in its history."""
    return int(_git(folder, "rev-list", "--count", f"{commit}..{tip}", "--"))


def _shallow(folder: Path) -> str:
    return f", which is shallow: {DEEPEN}" if _git(folder, "rev-parse", "--is-shallow-repository") == "true" else ""


def _git(folder: Path, *words: str) -> str:
    return ask(["git", "-C", folder, *words], environment=git_environment()).strip()
