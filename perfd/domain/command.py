"""Commands: what a comment on a pull request can ask of perfd, one a line."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class RunSuites:
    """`/perfd run [suite…]`: measure this head; whoever may say so has thereby approved it."""

    suites: tuple[str, ...] = ()
    """Empty: what the change can affect."""


@dataclass(frozen=True)
class CompareWith:
    """`/perfd compare REF`: measure this head against that commit, branch or tag instead of the merge base."""

    ref: str


@dataclass(frozen=True)
class Rerun:
    """`/perfd rerun`: the same again, with fresh blocks."""


@dataclass(frozen=True)
class Acknowledge:
    """`/perfd ack N reason`: Regression N is accepted, for that reason."""

    regression: int
    reason: str


@dataclass(frozen=True)
class Bisect:
    """`/perfd bisect`: which commit of this pull request did it."""


@dataclass(frozen=True)
class Help:
    """`/perfd help`, and everything that is no command."""

    why: str = ""
    """What was wrong with the line; empty where help was asked for."""


Command: TypeAlias = RunSuites | CompareWith | Rerun | Acknowledge | Bisect | Help

USAGE: tuple[tuple[str, str], ...] = (
    ("/perfd run [suite…]", "measure this head (and approve it), all that it can affect or these suites"),
    ("/perfd compare REF", "measure it against another commit, branch or tag"),
    ("/perfd rerun", "measure it again, with fresh blocks"),
    ("/perfd ack N reason", "accept regression N"),
    ("/perfd bisect", "find the commit of this pull request that did it"),
    ("/perfd help", "this list"),
)
"""Each command with what it does; perfd's own comments show it, and docs/pull_requests.md."""
