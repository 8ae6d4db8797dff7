"""A forge on paper: keeps what it is given as GitHub would, finds it again by its mark, and knows merge bases by git."""

import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from perfd.domain.forge import Check, Comment, ForgeError, MergeBase, Permission, Trouble
from perfd.forge import Posted


@dataclass
class PaperForge:
    repository: Path
    permissions: dict[str, Permission] = field(default_factory=dict)
    comments: dict[str, Comment] = field(default_factory=dict)
    """By mark, in the order in which they were made."""
    checks: dict[str, Check] = field(default_factory=dict)
    edits: int = 0
    files: int = 300
    """How many a comparison lists."""
    broken: Exception | None = None
    unread: ForgeError | None = None
    """Why it compares nothing."""
    asked: int = 0
    """How often somebody's permission was."""

    def put_comment(self, comment: Comment, marker: str, known: int | None = None) -> Posted:  # noqa: ARG002
        self._fail()
        self.edits += marker in self.comments
        self.comments[marker] = comment
        return Posted(list(self.comments).index(marker) + 1, f"https://forge.example/{comment.slot}")

    def put_check(self, check: Check, marker: str, known: int | None = None) -> Posted:  # noqa: ARG002
        self._fail()
        self.checks[marker] = check
        return Posted(list(self.checks).index(marker) + 1, "https://forge.example/check")

    def permission(self, repository: str, login: str) -> Permission:  # noqa: ARG002
        self._fail()
        self.asked += 1
        return self.permissions.get(login, Permission.NONE)

    def merge_base(self, repository: str, base: str, head: str) -> MergeBase:  # noqa: ARG002
        self._fail()
        if self.unread is not None:
            raise self.unread
        try:
            commit = self._git("merge-base", base, head)
        except subprocess.CalledProcessError:
            raise ForgeError(Trouble.NOT_FOUND, f"GitHub finds no common history of {base[:12]} and {head[:12]}") from None
        title, at = self._git("log", "-1", "--format=%s%n%cI", commit).split("\n")
        named = self._git("diff-tree", "-r", "-z", "--no-renames", "--name-only", commit, head).split("\0")
        files = tuple(name for name in named if name)
        complete = len(files) < self.files
        return MergeBase(commit, datetime.fromisoformat(at).astimezone(UTC), title, files[: self.files], complete)

    def _fail(self) -> None:
        if self.broken is not None:
            raise self.broken

    def _git(self, *words: str) -> str:
        command = ["git", "-C", str(self.repository), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
