"""How a Regression stands with people: by when it should be answered, and what was acknowledged. Pure.

Both are told by the events of its life, which are only ever added: nothing here can be changed without a name and a reason.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Protocol

from perfd.domain.verdict import RegressionState

COMMENT, ACKNOWLEDGED = "comment: ", "acknowledged: "
_DUE = re.compile(r"due (\d{4}-\d{2}-\d{2}): ")
PATIENCE = ((0.20, 3), (0.05, 7), (0.0, 14))
"""Largest effect from which on so many days are left to answer, where nobody has set a day."""
UNSIZED_DAYS = 7
"""A limit that is passed has no effect to measure the days by."""


class Event(Protocol):
    """One step of a Regression's life; one that moves nothing has the same state on both sides."""

    @property
    def at(self) -> datetime:
        """When it happened."""

    @property
    def actor(self) -> str:
        """Who did it."""

    @property
    def from_state(self) -> RegressionState | None:
        """Absent for the opening."""

    @property
    def to_state(self) -> RegressionState:
        """What it is from then on."""

    @property
    def reason(self) -> str:
        """Why, in a sentence."""


def due_note(day: date, reason: str) -> str:
    """The words of an event that sets the day by which to answer."""
    return f"due {day.isoformat()}: {reason}"


def due_day(opened_at: datetime, effects: Sequence[float], events: Sequence[Event]) -> tuple[date, bool]:
    """The day by which to answer, and whether a person has set it: the last one that was set, or by the largest effect."""
    for event in reversed(_notes(events)):
        found = _DUE.match(event.reason)
        if found is not None:
            return date.fromisoformat(found[1]), True
    largest = max(map(abs, effects), default=None)
    days = UNSIZED_DAYS if largest is None else next(days for least, days in PATIENCE if largest >= least)
    return (opened_at + timedelta(days=days)).astimezone(UTC).date(), False


def acknowledgement(events: Sequence[Event], last_step: datetime | None) -> Event | None:
    """The last acknowledgement that still holds; one is over once a later step was found in a Series of the Regression.

    So it cannot hide a second step.
    """
    given = next((event for event in reversed(_notes(events)) if event.reason.startswith(ACKNOWLEDGED)), None)
    return None if given is None or (last_step is not None and last_step > given.at) else given


def _notes(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.from_state is event.to_state]
