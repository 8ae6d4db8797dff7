"""Who may run what: code of a pull request runs for allowed authors, or on a maintainer's word for the very head that was seen.

Pure. Only permissions that the forge itself tells count: of the one who speaks, never of the author, nor a label that anyone set.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from perfd.domain.command import Bisect, Command, Help
from perfd.domain.forge import Permission
from perfd.domain.pull import Approval

NEEDED = Permission.WRITE
"""What whoever lets code run, or accepts a Regression, must be allowed to do in the repository itself."""


@dataclass(frozen=True)
class HeadSeen:
    """A head of a pull request, and since when it was that, by the forge's clock."""

    commit: str
    at: datetime


def may_run(author: str, allowed: Collection[str], head: str, approvals: Iterable[Approval]) -> bool:
    """Whether code of this head may run: its author is allowed, or somebody approved this very head."""
    return author.casefold() in {name.casefold() for name in allowed} or any(one.head == head for one in approvals)


def needs(command: Command) -> Permission:
    """What the commenter must be allowed to do."""
    return Permission.NONE if isinstance(command, Help) else NEEDED


def approves(command: Command) -> bool:
    """Whether saying it lets the code of the head run."""
    return not isinstance(command, Help | Bisect)


def bound_head(seen: Iterable[HeadSeen], said_at: datetime) -> str | None:
    """The head that a comment of that moment speaks of; absent where that cannot be told, and nothing is approved.

    A head that came in the very second of the comment may be one that its writer never saw: the forge's clock has seconds.
    """
    heads = sorted(seen, key=lambda one: one.at)
    before = [one for one in heads if one.at < said_at]
    in_doubt = any(one.at == said_at for one in heads)
    return None if in_doubt or not before else before[-1].commit


def refusal(command: Command, permission: Permission) -> str | None:
    """Why the commenter may not say this, as a sentence with its remedy; absent where they may."""
    if permission.covers(needs(command)):
        return None
    return f"this needs permission to write in the repository, and yours is “{permission}”: ask a maintainer to say it"
