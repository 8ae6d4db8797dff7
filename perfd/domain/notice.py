"""A notice: what a person outside of perfd is told, whatever carries it there."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from perfd.errors import PerfdError


class Severity(StrEnum):
    """How much it matters."""

    ATTENTION = "worth attention"
    """A Regression: a person has to answer it."""
    ALARM = "alarm"
    """perfd itself is silent where something was owed."""
    NEWS = "over"
    """What was told before is over."""


@dataclass(frozen=True)
class Notice:
    """One message to people. Its texts may hold words from outside; whoever carries it makes them harmless."""

    key: str
    """The dedupe key: the same notice, sent twice after a crash, has the same one."""
    severity: Severity
    title: str
    text: str
    """What more there is to say; "" where the title says it all."""
    url: str = ""
    """Where to look; "" where perfd does not know its own address."""


@dataclass(frozen=True)
class Figure:
    """A picture that goes with a letter."""

    name: str
    png: bytes


@dataclass(frozen=True)
class Letter:
    """A text of many lines with its figures, for e-mail alone: the report of a week. Its texts are harmless already."""

    key: str
    """The dedupe key: the same letter, sent twice after a crash, has the same one."""
    title: str
    text: str
    figures: tuple[Figure, ...] = ()


class NotSentError(PerfdError):
    """Somebody did not take a notice; permanent where trying again would end the same."""

    def __init__(self, message: str, *, permanent: bool = False, again_at: datetime | None = None) -> None:
        super().__init__(message, permanent=permanent)
        self.again_at = again_at
        """Not to be tried before then; absent where nobody said."""
