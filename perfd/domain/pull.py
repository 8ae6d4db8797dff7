"""The words of pull requests: what a forge told us, the pull request itself, and the job of answering one of its heads."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Repository:
    """A repository of a forge, as it was last seen."""

    name: str
    """owner/name, as it is today."""
    key: int
    """The forge's own number, which a renaming keeps."""
    installation: int | None = None
    """The installation of the App that may act there; absent where no event named one."""
    default_branch: str = ""
    archived: bool = False


@dataclass(frozen=True)
class PullRequest:
    """A pull request, as it was last seen."""

    repository: str
    """owner/name of the base repository."""
    number: int
    title: str
    author: str
    """Login of its author."""
    head: str
    """The commit that would be merged."""
    head_branch: str
    head_repository: str
    """owner/name of where the head lies; empty when that repository was deleted."""
    base: str
    """The tip of the base branch, as the forge told it."""
    base_branch: str
    is_open: bool
    is_draft: bool
    updated_at: datetime
    """The forge's own time of the last change; of two events that arrive in the wrong order the later one counts."""

    @property
    def fork(self) -> bool:
        """Whether the head comes from another repository, a deleted one included."""
        return self.head_repository != self.repository


class PullAction(StrEnum):
    """What happened to a pull request."""

    OPENED = "opened"
    """Opened, reopened, or no longer a draft."""
    PUSHED = "pushed"
    """It has another head."""
    CLOSED = "closed"
    CHANGED = "changed"
    """Something that asks for no measuring: a label, a title."""
    REBASED = "rebased"
    """Its base branch is another."""


@dataclass(frozen=True)
class PullSeen:
    """Something happened to a pull request."""

    action: PullAction
    repository: Repository
    pull: PullRequest
    sender: str
    """Login of who did it."""


@dataclass(frozen=True)
class CommentMade:
    """Somebody wrote a new comment on a pull request; edits are no event for us."""

    repository: Repository
    number: int
    comment: int
    """The forge's number of the comment."""
    author: str
    body: str
    at: datetime


@dataclass(frozen=True)
class CheckAsked:
    """Somebody pressed a button on a check: run again, or one of our own."""

    repository: Repository
    head: str
    slot: str
    """The check's slot; empty for one that is not ours by its number."""
    button: str
    """"rerun", or the identifier of our own button."""
    sender: str
    at: datetime | None = None


@dataclass(frozen=True)
class BranchPushed:
    """A branch has another tip."""

    repository: Repository
    branch: str
    before: str
    after: str
    """The new tip; empty when the branch was deleted."""
    forced: bool


@dataclass(frozen=True)
class InstallationSeen:
    """The App was installed, changed or removed."""

    installation: int
    gone: bool
    """Whether it was removed or suspended: nothing can be posted there."""
    added: tuple[Repository, ...]
    removed: tuple[Repository, ...]


@dataclass(frozen=True)
class ComparisonAsked:
    """A pipeline asks for a comparison of two commits of an Engine's source; no pull request is known here."""

    engine: str
    base: str
    head: str
    label: str
    """Of the comparison that was promised."""
    at: datetime
    """When that comparison is due by its name."""
    suites: tuple[str, ...] = ()


Event: TypeAlias = PullSeen | CommentMade | CheckAsked | BranchPushed | InstallationSeen | ComparisonAsked
EVENTS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (PullSeen, CommentMade, CheckAsked, BranchPushed, InstallationSeen, ComparisonAsked)
}
"""By the name under which a delivery keeps it."""


@dataclass(frozen=True)
class Delivery:
    """One webhook that was verified."""

    forge: str
    delivery: str
    """The forge's name for it. It is not signed, so that a replay may carry another one."""
    digest: str
    """sha256 of the signed body: what a replay cannot change."""
    event: Event


class JobState(StrEnum):
    """`waiting → queued → running → done | failed | superseded | expired`."""

    WAITING = "waiting"
    """For a maintainer's approval; nothing of its code has run."""
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    """It has a Verdict, which may be unsure, or there was nothing to measure."""
    FAILED = "failed"
    """No Verdict could be had, and `reason` says why."""
    SUPERSEDED = "superseded"
    """The pull request has another head, was closed, or the same head is asked again."""
    EXPIRED = "expired"
    """It was not over at its deadline."""


OPEN_JOBS = frozenset({JobState.WAITING, JobState.QUEUED, JobState.RUNNING})


@dataclass(frozen=True)
class Asked:
    """What a job is asked for; nothing given means what the configuration says."""

    by: str
    """Login of who asked; the author where nobody did."""
    why: str
    """What asked: "opened", "pushed", or the command as it was read."""
    suites: tuple[str, ...] = ()
    against: str = ""
    """A ref to compare with; empty: the merge base."""
    comment: int | None = None
    """The comment that holds the command."""


@dataclass(frozen=True)
class Approval:
    """Somebody who may do so let the code of one head run; a later head needs another."""

    by: str
    head: str
    at: datetime
