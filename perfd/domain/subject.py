"""What perfd measures: an Engine (a server, by source) or a Kernel (a function, by file), at one Revision."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

_HASH = re.compile("[0-9a-f]{40,64}")


def brief(revision: str, length: int = 12) -> str:
    """A hash by its first letters; a version whole, since half of it would be the name of another."""
    return revision[:length] if _HASH.fullmatch(revision) else revision


class SubjectKind(StrEnum):
    """A subject is an Engine or a Kernel; tables and pages need one word for "either"."""

    ENGINE = "engine"
    KERNEL = "kernel"


class SourceKind(StrEnum):
    """Where the Revisions of a subject come from."""

    GIT = "git"
    """Commits of a git repository, along the first parents of its tracked branch."""
    INDEX = "index"
    """Released versions of a Python package (a wheel, or an sdist that is unpacked and built)."""
    FOLDER = "folder"
    """Files in a folder, read by path; a Revision is the hash of their content. Kernels use this."""


@dataclass(frozen=True)
class Source:
    """A place that Revisions come from."""

    kind: SourceKind
    location: str
    """A git URL or path, a package name, or a folder."""
    branch: str = "main"
    """The tracked branch (git); Series follow it and nothing else."""
    version: str = "latest"
    """The pinned version (index), or "latest" to follow releases."""


@dataclass(frozen=True)
class Launch:
    """How an Engine's artifact becomes a server that answers.

    `command` holds placeholders that are replaced at launch: {artifact} (the Build's folder), {python} (the Build's own
    interpreter, or ours where it has none), {host}, {port}, {weights}, {threads}.
    """

    command: tuple[str, ...]
    dialect: str
    """Which variant of the OpenAI API the server speaks: "openai" or "llamacpp"."""
    ready_path: str = "/health"
    ready_timeout_s: float = 60.0
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Engine:
    """A server that perfd measures."""

    name: str
    source: Source
    recipe: str
    """The name of a recipe of perfd/builders: "released", "llamacpp-source" or "script"."""
    launch: Launch
    suites: tuple[str, ...]
    models: tuple[str, ...]
    recipe_options: Mapping[str, str] = field(default_factory=dict)
    nightly: bool = True
    """False for an engine that only `perfd nightly --engine NAME` measures."""


@dataclass(frozen=True)
class Kernel:
    """A function that perfd measures: one file of kernels/."""

    name: str
    path: str


@dataclass(frozen=True)
class Revision:
    """A commit of a subject's source, a released version, or the hash of a file's content."""

    name: str
    """The full commit hash, the version, or the content hash."""
    ordinal: int
    """Its place on the tracked branch, counted from the oldest; Series are ordered by it."""
    committed_at: datetime | None = None
    """When it was committed or released, in UTC; absent where the source does not tell."""
    title: str = ""
    parent: str | None = None
    """The first parent's name; absent for the oldest."""
