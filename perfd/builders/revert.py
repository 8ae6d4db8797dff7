"""A patch that takes one commit back: made in a scratch work tree, read from there, and applied by nobody but a person."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from perfd.builders.mirror import tracked, with_commit
from perfd.builders.process import AskError, ask, git_environment
from perfd.domain.subject import Source

CHECKOUT_LIMIT_S = 1800.0
PLAIN = {"user.name": "perfd", "user.email": "perfd@localhost", "core.hooksPath": "/dev/null", "core.autocrlf": "false"}
"""An identity is asked for even where nothing is committed; hooks and filters of this machine have no say in the patch."""


@dataclass(frozen=True)
class Revert:
    """What `git revert` gave: a patch on top of `onto`, or the files in which it conflicts."""

    onto: str
    patch: Path | None
    """Absent where it conflicts, or where nothing of the commit is left."""
    conflicts: tuple[str, ...] = ()


def revert(source: Source, commit: str, state: Path, patch: Path) -> Revert:
    """The commit taken back on the newest known commit of the tracked branch (a merge, to its first parent), as the file `patch`.

    Nothing of the source, nor of its mirror, is changed. Raises PerfdError where git cannot be used or the commit is unknown.
    """
    mirror = with_commit(source, commit, state)
    scratch = Path(mkdtemp(prefix="revert.", dir=mirror.parent))
    try:
        tree = scratch / "tree"
        # --shared borrows the mirror's objects, and writes into its own folder only.
        _git(scratch, "clone", "--quiet", "--shared", "--no-checkout", str(mirror), str(tree))
        onto = ask(["git", f"--git-dir={mirror}", "rev-parse", tracked(source.branch)], None, git_environment()).strip()
        _git(tree, "checkout", "--quiet", "--detach", onto)
        return _reverted(tree, commit, onto, patch.absolute())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _reverted(tree: Path, commit: str, onto: str, patch: Path) -> Revert:
    parents = _git(tree, "rev-list", "--parents", "--max-count=1", commit).split()[1:]
    mainline = ("--mainline", "1") if len(parents) > 1 else ()
    try:
        _git(tree, "revert", "--no-commit", *mainline, commit)
    except AskError:
        conflicts = _git(tree, "diff", "--name-only", "--diff-filter=U", "-z").split("\0")
        named = tuple(name for name in conflicts if name)
        if not named:
            raise
        return Revert(onto, None, named)
    patch.parent.mkdir(parents=True, exist_ok=True)
    _git(tree, "diff", "--cached", "--binary", f"--output={patch}")
    return Revert(onto, patch if patch.stat().st_size else None)


def _git(folder: Path, *words: str) -> str:
    plain = [word for name, value in PLAIN.items() for word in ("-c", f"{name}={value}")]
    return ask(["git", *plain, *words], folder, git_environment(), time_limit_s=CHECKOUT_LIMIT_S)
