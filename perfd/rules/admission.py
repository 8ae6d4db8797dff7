"""Who may run what: code of a pull request runs for allowed authors, or on a maintainer's word for the very head that was seen.

Pure. Only permissions that the forge itself tells count: of the one who speaks, never of the author, nor a label that anyone set.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from perfd.domain.command import Bisect, Command, Help
from perfd.domain.forge import Permission
from perfd.domain.pull import Approval, PullRequest

NEEDED = Permission.WRITE
"""What whoever lets code run, or accepts a Regression, must be allowed to do in the repository itself."""

GRACE = timedelta(seconds=60)
"""So long a head of somebody who is not allowed must have stood there before a comment can speak of it: whoever pushes while
a maintainer reads has it approved unread. The button on the check knows no such doubt, since it names its commit."""


@dataclass(frozen=True)
class HeadSeen:
    """A head of a pull request, and since when it was that, by the forge's clock."""

    commit: str
    at: datetime


def may_run(author: str, allowed: Collection[str], head: str, approvals: Iterable[Approval]) -> bool:
    """Whether code of this head may run: who brought it is allowed, or somebody approved this very head."""
    return is_allowed(author, allowed) or any(one.head == head for one in approvals)


def is_allowed(login: str, allowed: Collection[str]) -> bool:
    """Whether the account's code runs without being asked, and without a cage; nobody's (an empty name) never does."""
    return bool(login) and login.casefold() in {name.casefold() for name in allowed}


def brought_by(pull: PullRequest, pushed_by: str, allowed: Collection[str]) -> str:
    """Who answers for the head: the author, unless it lies in another repository and somebody who is not allowed pushed it.

    Anybody may open a pull request from anybody's fork, and whoever may push to that fork chooses what it holds from then on.
    In the repository itself only those push who may write to it.
    """
    return pull.author if not pull.fork or is_allowed(pushed_by, allowed) else pushed_by


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


def is_fresh(head: str, seen: Iterable[HeadSeen], said_at: datetime) -> bool:
    """Whether the head came so shortly before the comment that its writer may have read another one; a first head is no swap."""
    heads = tuple(seen)
    return any(one.commit != head for one in heads) and any(
        one.commit == head and said_at - GRACE < one.at <= said_at for one in heads
    )


def refusal(command: Command, permission: Permission) -> str | None:
    """Why the commenter may not say this, as a sentence with its remedy; absent where they may."""
    if permission.covers(needs(command)):
        return None
    return f"this needs permission to write in the repository, and yours is “{permission}”: ask a maintainer to say it"
