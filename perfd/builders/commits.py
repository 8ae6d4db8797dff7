"""Commits beside the tracked branch: of pull requests, tags and other branches. Each is fetched by its hash and kept."""

import re
from pathlib import Path

from perfd.builders.checkout import FORMAT, as_revision
from perfd.builders.mirror import git, location_of, tracked, up_to_date, with_commit
from perfd.builders.process import AskError, ask, git_environment
from perfd.builders.words import quiet
from perfd.domain.subject import Revision, Source
from perfd.errors import BadInputError

_ABBREVIATED = re.compile(r"[0-9a-f]{7,64}")


def revision(source: Source, commit: str, state: Path) -> Revision:
    """The commit as a Revision that stands on no tracked branch; raises BadInputError where there is none of that hash."""
    mirror = with_commit(source, commit, state)
    return as_revision(0, git(mirror, "log", "--max-count=1", FORMAT, commit, "--").rstrip("\n"))


def between(source: Source, base: str, head: str, state: Path) -> tuple[Revision, ...]:
    """`base`, and the commits after it up to `head` along first parents; raises BadInputError where there is no such way."""
    with_commit(source, base, state)
    mirror = with_commit(source, head, state)
    said = git(mirror, "log", "--first-parent", "--reverse", FORMAT, f"{base}..{head}", "--").rstrip("\n")
    lines = said.split("\n") if said else []
    found = [as_revision(place, line) for place, line in enumerate(lines, 1)]
    if not found or found[0].parent != base:
        raise BadInputError(f"{base[:12]} is not among the first parents of {head[:12]}: there is no straight way to search")
    return (revision(source, base, state), *found)


def changed_paths(source: Source, base: str, head: str, state: Path) -> tuple[str, ...]:
    """Every path that differs between the two commits; of a renamed file both names."""
    with_commit(source, base, state)
    mirror = with_commit(source, head, state)
    said = git(mirror, "diff-tree", "-r", "-z", "--no-renames", "--name-only", base, head, "--")
    return tuple(name for name in said.split("\0") if name)


def behind(source: Source, commit: str, state: Path) -> int:
    """How many commits the tracked branch has that the commit has not in its history."""
    with_commit(source, commit, state)
    mirror = up_to_date(source, state, quiet)
    return int(git(mirror, "rev-list", "--count", f"{commit}..{tracked(source.branch)}", "--"))


def is_tracked(source: Source, commit: str, state: Path) -> bool:
    """Whether the tracked branch has the commit in its history: whoever may merge there let it in."""
    with_commit(source, commit, state)
    mirror = up_to_date(source, state, quiet)
    return int(git(mirror, "rev-list", "--count", f"{tracked(source.branch)}..{commit}", "--")) == 0


def resolve(source: Source, ref: str, state: Path) -> str:
    """The full hash of a branch, a tag or the beginning of a commit's hash; raises BadInputError where nothing has that name."""
    names = (f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/tags/{ref}^{{}}")
    said = ask(["git", "ls-remote", "--", location_of(source), *names], environment=git_environment())
    found = {name: commit for commit, name in (line.split("\t") for line in said.splitlines())}
    for name in reversed(names):  # a tag's commit before the tag itself, and tags before branches, as git has it
        if name in found:
            return found[name]
    mirror = up_to_date(source, state, quiet)
    if _ABBREVIATED.fullmatch(ref):
        try:
            return git(mirror, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").strip()
        except AskError:
            pass
    raise BadInputError(f"there is no branch, tag or commit {ref!r} in {source.location}; push it, or give a full hash")
