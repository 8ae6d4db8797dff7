"""Occasions: a night, a Checkpoint, a comparison. Each goes through the stages once."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from perfd.domain.run import OccasionKind


class OccasionState(StrEnum):
    """How far an occasion has come. Each stage moves it by a conditional update, so that doing it twice is harmless.

    Between `planned` and `judged` the build and measure stages work off what was planned.
    """

    DUE = "due"
    WATCHED = "watched"
    PLANNED = "planned"
    JUDGED = "judged"
    REPORTED = "reported"


@dataclass(frozen=True)
class Occasion:
    """Why Runs are made, and when."""

    kind: OccasionKind
    nominal_at: datetime
    """When it was due, in UTC; a night that was caught up keeps its nominal time."""
    label: str = ""
    """Tells occasions of one kind and time apart: a Launch's name and day, or the two sides of a comparison."""

    @property
    def name(self) -> str:
        """The natural key: "night:2026-11-29T02:00:00Z"."""
        moment = self.nominal_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return f"{self.kind}:{moment}" + (f":{self.label}" if self.label else "")


@dataclass(frozen=True)
class Finding:
    """Something that went wrong and belongs to no Run or Build: a source that did not answer, a recipe that is unknown."""

    stage: str
    subject: str
    sentence: str
    log_tail: str = ""
