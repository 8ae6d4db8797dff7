"""A real git repository in a folder, made commit by commit."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Repository:
    path: Path

    def git(self, *words: str) -> str:
        # No configuration of this machine or user: hooks, signing and default branches differ between them.
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            "GIT_AUTHOR_DATE": "2026-01-02T03:04:05+01:00",
            "GIT_COMMITTER_DATE": "2026-01-02T03:04:05+01:00",
        }
        done = subprocess.run(["git", *words], cwd=self.path, env=environment, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, title: str, **files: str) -> str:
        """The commit's hash; files are named by keyword, with `__` for a dot."""
        for name, text in files.items():
            (self.path / name.replace("__", ".")).write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", title)
        return self.git("rev-parse", "HEAD")


def new_repository(path: Path) -> Repository:
    path.mkdir(parents=True)
    made = Repository(path)
    made.git("init", "--quiet", "--initial-branch=main")
    return made
