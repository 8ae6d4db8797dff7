"""Mirrors of git repositories in the state folder.

git never prompts, never runs longer than its limit, and a repository that is empty, moved or rewritten is told in one sentence.
"""

import re
from hashlib import sha256
from pathlib import Path

from perfd.builders.locks import held
from perfd.builders.ordinals import after_rewrite, read_shifts, write_shifts
from perfd.builders.process import AskError, ask, git_environment
from perfd.builders.words import Progress
from perfd.domain.subject import Source
from perfd.errors import BadInputError, PerfdError

FETCH_LIMIT_S = 1800.0
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/\\]+@[^/\\]+:|[A-Za-z0-9.-]+:(?!\\)")
_DENIED = (
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "Permission denied (",
    "terminal prompts disabled",
)
_NOT_THERE = ("not a git repository", "does not appear to be a git repository", "does not exist", "not found")


def up_to_date(source: Source, state: Path, progress: Progress) -> Path:
    """The mirror, in which `tracked(source.branch)` is where the repository has the branch now."""
    mirror = _mirror(source, state)
    with held(mirror.with_suffix(".lock")):
        _unlock(mirror)
        _update(mirror, source, progress)
    return mirror


def _update(mirror: Path, source: Source, progress: Progress) -> None:
    location = location_of(source)
    heads = _heads(source, location)
    if not heads:
        raise BadInputError(f"{source.location} has no commits yet: push one to {source.branch}")
    if source.branch not in heads:
        known = ", ".join(sorted(heads)[:8])
        raise BadInputError(f"{source.location} has no branch {source.branch} (any more); it has {known}: change source.branch")
    if not (mirror / "HEAD").exists():
        progress(f"cloning {source.location}")
        _init(mirror)
    before = _tip(mirror, source.branch)
    if before == heads[source.branch]:
        return
    incoming = f"refs/perfd/incoming/{source.branch}"
    _fetch(mirror, location, f"+refs/heads/{source.branch}:{incoming}", source)
    if before is not None:
        _mind_rewriting(mirror, source, before, incoming, progress)
    # Moved last: a kill before this line makes the next fetch do it all again.
    git(mirror, "update-ref", tracked(source.branch), incoming)


def _unlock(mirror: Path) -> None:
    """No lock of a git that was killed is left; only who holds our own lock of the mirror writes into it."""
    for stale in [*mirror.glob("*.lock"), *(mirror / "refs").rglob("*.lock")]:
        stale.unlink()


def _mind_rewriting(mirror: Path, source: Source, before: str, incoming: str, progress: Progress) -> None:
    """A branch that lost its old tip is told, its old commits are kept, and its ordinals go on behind them."""
    old, new = _first_parents(mirror, before), _first_parents(mirror, incoming)
    if before in new:
        return
    # Without a name git would collect the old commits, and Builds of them could not be made again.
    git(mirror, "update-ref", f"refs/perfd/kept/{before}", before)
    path = ordinals_of(mirror, source.branch)
    write_shifts(path, after_rewrite(old, new, read_shifts(path)))
    progress(f"{source.branch} of {source.location} was rewritten: {before[:12]} is no longer on it; its old commits are kept")


def _first_parents(mirror: Path, tip: str) -> list[str]:
    return git(mirror, "rev-list", "--first-parent", "--reverse", tip, "--").split()


def ordinals_of(mirror: Path, branch: str) -> Path:
    """Where the branch's ordinals are kept, beside its mirror."""
    return mirror.with_name(f"{mirror.stem}-{sha256(branch.encode()).hexdigest()[:12]}.ordinals.json")


def with_commit(source: Source, commit: str, state: Path) -> Path:
    """The mirror, which has the commit; fetched by its hash where the tracked branch does not have it."""
    if not _COMMIT.fullmatch(commit):
        raise BadInputError(f'"{commit}" is no full commit hash of {source.location}')
    mirror = _mirror(source, state)
    with held(mirror.with_suffix(".lock")):
        if not (mirror / "HEAD").exists():
            _init(mirror)
        if not _has(mirror, commit):
            _unlock(mirror)
            _fetch_commit(mirror, source, commit)
    return mirror


def _fetch_commit(mirror: Path, source: Source, commit: str) -> None:
    try:
        _fetch(mirror, location_of(source), f"+{commit}:refs/perfd/kept/{commit}", source)
    except PerfdError as error:
        raise BadInputError(f"{source.location} has no commit {commit[:12]}: {error.message}") from None


def _has(mirror: Path, commit: str) -> bool:
    try:
        git(mirror, "cat-file", "-e", f"{commit}^{{commit}}")
    except AskError:
        return False
    return True


def _tip(mirror: Path, branch: str) -> str | None:
    try:
        return git(mirror, "rev-parse", "--verify", "--quiet", tracked(branch)).strip()
    except AskError:
        return None


def _heads(source: Source, location: str) -> dict[str, str]:
    try:
        said = ask(["git", "ls-remote", "--heads", "--", location], environment=git_environment())
    except AskError as error:
        raise _explained(source, error) from None
    pairs = (line.split("\t") for line in said.splitlines())
    return {name.removeprefix("refs/heads/"): commit for commit, name in pairs}


def _fetch(mirror: Path, location: str, refspec: str, source: Source) -> None:
    command = ["git", f"--git-dir={mirror}", "fetch", "--quiet", "--no-tags", "--update-shallow", "--", location, refspec]
    try:
        ask(command, environment=git_environment(), time_limit_s=FETCH_LIMIT_S)
    except AskError as error:
        raise _explained(source, error) from None


def _explained(source: Source, error: AskError) -> PerfdError:
    if any(word in error.said for word in _DENIED):
        return PerfdError(f"{source.location} wants credentials: give git a credential helper or an SSH key for this user")
    if any(word in error.said for word in _NOT_THERE):
        return BadInputError(f"there is no git repository at {source.location} that this user can read: check source.location")
    return PerfdError(f"{source.location} could not be fetched: {error.message}", permanent=False)


def git(mirror: Path, *words: str, index: Path | None = None, cwd: Path | None = None) -> str:
    """What git prints when asked in the mirror, with an index of its own where one is given."""
    environment = git_environment() | ({"GIT_INDEX_FILE": str(index.absolute())} if index else {})
    return ask(["git", f"--git-dir={mirror}", *words], cwd, environment, time_limit_s=FETCH_LIMIT_S)


def _init(mirror: Path) -> None:
    ask(["git", "init", "--quiet", "--bare", mirror], environment=git_environment())


def tracked(branch: str) -> str:
    """The ref that stands for the tracked branch in a mirror."""
    return f"refs/perfd/tracked/{branch}"


def _mirror(source: Source, state: Path) -> Path:
    """The mirror's folder; the name shows the repository, the hash keeps two of one name apart."""
    location = location_of(source)
    name = re.sub(r"[^A-Za-z0-9_-]", "-", location.rstrip("/").rpartition("/")[2].removesuffix(".git"))
    folder = state.absolute() / "sources"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}-{sha256(location.encode()).hexdigest()[:12]}.git"


def location_of(source: Source) -> str:
    """A URL as it is, a path made absolute: git runs in other folders than the one that the path was written for."""
    return source.location if _URL.match(source.location) else str(Path(source.location).expanduser().absolute())
