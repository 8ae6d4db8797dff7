"""What perfd says to a forge (GitHub today) and asks of one, and the ways in which a forge refuses; in no forge's own words."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from perfd.errors import PerfdError


class Permission(StrEnum):
    """What an account may do in a repository, from least to most."""

    NONE = "none"
    READ = "read"
    TRIAGE = "triage"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"

    def covers(self, wanted: "Permission") -> bool:
        """Whether it is as much as `wanted`, or more."""
        order = list(Permission)
        return order.index(self) >= order.index(wanted)


class Conclusion(StrEnum):
    """How a check ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"
    ACTION_REQUIRED = "action_required"


class CheckStatus(StrEnum):
    """How far a check has come."""

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Level(StrEnum):
    """How loudly an annotation speaks."""

    NOTICE = "notice"
    WARNING = "warning"
    FAILURE = "failure"


MOST_ANNOTATIONS = 50
LONGEST_COMMENT = 60_000
"""Characters of a comment; GitHub takes 65,536."""
LONGEST_TEXT = 60_000
"""Characters of a check's summary, and of its text; GitHub takes 65,535."""


@dataclass(frozen=True)
class Annotation:
    """A remark at some lines of a file of the head commit."""

    path: str
    line: int
    level: Level
    message: str
    title: str = ""


@dataclass(frozen=True)
class Button:
    """A button on a check; whoever may write to the repository can press it."""

    name: str
    """What a press tells us: at most 20 characters."""
    label: str
    """At most 20 characters."""
    description: str
    """At most 40 characters."""

    def __post_init__(self) -> None:
        if max(len(self.name), len(self.label)) > 20 or len(self.description) > 40:
            raise ValueError("a button has a name and a label of 20 characters, and a description of 40")


@dataclass(frozen=True)
class Comment:
    """A comment on a pull request; one with the same slot is edited in place."""

    repository: str
    """owner/name."""
    number: int
    """The pull request's number."""
    slot: str
    """Tells perfd's comments on one pull request apart: "1", and "2" once the Verdict has become worse."""
    body: str
    """Markdown, without the hidden marker, which is added when it is sent."""

    def __post_init__(self) -> None:
        if len(self.body) > LONGEST_COMMENT:
            raise ValueError(f"a comment of {len(self.body)} characters; at most {LONGEST_COMMENT} are sent")

    @property
    def key(self) -> str:
        """What it is told apart by, for ever."""
        return f"comment:{self.repository}#{self.number}:{self.slot}"


@dataclass(frozen=True)
class Check:
    """A check of a head commit; one with the same slot is updated in place."""

    repository: str
    """owner/name."""
    head: str
    """The commit that it stands at."""
    slot: str
    """Tells perfd's checks of one commit apart: the number of the job."""
    status: CheckStatus
    title: str
    summary: str
    """Markdown."""
    conclusion: Conclusion | None = None
    """There exactly when the check is completed."""
    text: str = ""
    """Markdown, shown below the summary."""
    annotations: tuple[Annotation, ...] = ()
    """Sent with the completed check, once; an update adds to them at the forge."""
    buttons: tuple[Button, ...] = ()
    """Three at most."""
    details_url: str = ""
    name: str = "perfd"

    def __post_init__(self) -> None:
        if (self.status is CheckStatus.COMPLETED) != (self.conclusion is not None):
            raise ValueError("a check has a conclusion exactly when it is completed")
        if max(len(self.summary), len(self.text)) > LONGEST_TEXT or len(self.annotations) > MOST_ANNOTATIONS:
            raise ValueError(f"a check takes {LONGEST_TEXT} characters and {MOST_ANNOTATIONS} annotations")

    @property
    def key(self) -> str:
        """What it is told apart by, for ever."""
        return f"check:{self.repository}@{self.head}:{self.slot}"


@dataclass(frozen=True)
class MergeBase:
    """Where a pull request left its base branch, and what it changes since."""

    commit: str
    committed_at: datetime
    title: str
    """The first line of its message."""
    files: tuple[str, ...]
    """Paths that head changes against it; of a renamed file, both names."""
    complete: bool
    """Whether these are all files: a forge may list only some of many, and then any path may be among the changed ones."""
    behind: int = 0
    """Commits that the base branch has and head lacks."""


class Trouble(StrEnum):
    """Why a forge did not do what it was asked."""

    UNAUTHORISED = "unauthorised"
    """It does not know who asks: a wrong key, a token that was taken back, a clock that is wrong."""
    FORBIDDEN = "forbidden"
    """It knows, and does not allow it: a permission is missing, or the repository is archived or locked."""
    LIMITED = "limited"
    """Too many requests; it says when to come again."""
    NOT_FOUND = "not found"
    """There is no such thing, or it may not be seen."""
    CONFLICT = "conflict"
    """It was changed at the same moment."""
    GONE = "gone"
    """It was there once: issues switched off, or a comment that was deleted."""
    INVALID = "invalid"
    """It understood the request and cannot do it: a commit that was force-pushed away."""
    BROKEN = "broken"
    """The forge's own fault."""
    SILENT = "silent"
    """No answer, or half of one; the request may have been done or not."""


class ForgeError(PerfdError):
    """A forge did not do what it was asked; the sentence names the remedy.

    With `again_at` the same request may succeed then, and `permanent` is false. Without it, asking again is useless.
    """

    def __init__(self, trouble: Trouble, message: str, again_at: datetime | None = None) -> None:
        super().__init__(message, permanent=again_at is None)
        self.trouble = trouble
        self.again_at = again_at
