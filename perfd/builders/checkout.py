"""Git sources: the tracked branch as Revisions, and the files of one commit."""

from datetime import UTC, datetime
from pathlib import Path

from perfd.builders.mirror import git, ordinals_of, tracked, up_to_date, with_commit
from perfd.builders.ordinals import ordinal, read_shifts
from perfd.builders.process import AskError
from perfd.builders.words import Progress, quiet
from perfd.domain.subject import Revision, Source
from perfd.errors import BadInputError

FORMAT = "--format=%H%x00%P%x00%cI%x00%s"
"""Of a line that `as_revision` reads."""


def revisions(source: Source, state: Path, progress: Progress = quiet) -> tuple[Revision, ...]:
    """The commits along the first parents of the tracked branch, oldest first; ordinals count from 0 and never go back.

    The mirror is brought up to date first. That a branch was rewritten (force-pushed) is told through `progress`; its old commits
    stay buildable.
    """
    mirror = up_to_date(source, state, progress)
    said = git(mirror, "log", "--first-parent", "--reverse", FORMAT, tracked(source.branch), "--")
    shifts = read_shifts(ordinals_of(mirror, source.branch))
    # Commit messages may hold other line ends than \n, which splitlines would take for new commits.
    return tuple(as_revision(ordinal(place, shifts), line) for place, line in enumerate(said.rstrip("\n").split("\n")))


def merge_base(source: Source, one: str, other: str, state: Path) -> str:
    """The newest commit that both have in their history."""
    with_commit(source, one, state)
    mirror = with_commit(source, other, state)
    try:
        return git(mirror, "merge-base", one, other).strip()
    except AskError:
        raise BadInputError(f"{one[:12]} and {other[:12]} share no history in {source.location}") from None


def check_out(source: Source, commit: str, into: Path, state: Path) -> None:
    """`into` holds the files of the commit, export-ignored ones too; no .git beside them, no submodules."""
    mirror = with_commit(source, commit, state)
    into.mkdir(parents=True, exist_ok=True)
    index = into.parent / f".{into.name}.index"
    try:
        # An index of its own: two checkouts of one mirror must not share one.
        git(mirror, "read-tree", commit, index=index)
        git(mirror, f"--work-tree={into.absolute()}", "checkout-index", "--all", "--force", index=index, cwd=into)
    finally:
        index.unlink(missing_ok=True)


def as_revision(place: int, line: str) -> Revision:
    """The Revision that a line of `git log` tells: hash, parents, date and title."""
    name, parents, committed, title = line.split("\0", 3)
    return Revision(
        name=name,
        ordinal=place,
        committed_at=when(committed),
        title=title,
        parent=parents.split(" ")[0] or None,
    )


def when(committed: str) -> datetime | None:
    """A commit's date in UTC; absent where it cannot be one: whoever commits writes any year and time zone into it."""
    try:
        return datetime.fromisoformat(committed).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
