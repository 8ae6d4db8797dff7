"""When Checkpoints are due, late or missed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from perfd.domain.launch import Checkpoint, ModelLaunch
from perfd.domain.occasion import OccasionState
from perfd.errors import BadInputError

PATIENCE = timedelta(minutes=15)
"""A Checkpoint that was opened later than this after its due time is late; one that was not opened by then is missed."""
ENDS_WITHIN = timedelta(hours=24)
"""A Checkpoint that is not reported by then has not ended: its Runs are closed as missing after twelve hours in the queue."""


@dataclass(frozen=True)
class Missed:
    """A Checkpoint that is an alarm."""

    checkpoint: Checkpoint
    since: datetime
    """When it should have begun, or ended."""
    sentence: str


def refuse_past(launch: ModelLaunch, now: datetime) -> None:
    """Raises BadInputError where some day of a new Launch has passed: what is measured now would not be that day."""
    past = [day for day in launch.days if launch.due_at(day) < now - PATIENCE]
    if not past:
        return
    named = ", ".join(map(str, past))
    left = [day for day in launch.days if day not in past]
    remedy = f"--days {','.join(map(str, left))}" if left else "an --at that is to come"
    raise BadInputError(
        f"day {named} of this launch was due before now ({launch.due_at(past[0]):%Y-%m-%d %H:%M} UTC); what would be measured "
        f"now is not that day: give {remedy}"
    )


def is_owed(launch: ModelLaunch, day: int, known_since: datetime) -> bool:
    """Whether the day was still to come when perfd first knew of the Launch."""
    return launch.due_at(day) >= known_since - PATIENCE


def due(checkpoints: Iterable[Checkpoint], now: datetime) -> tuple[Checkpoint, ...]:
    """Those to be opened now, the one that has been due longest first; however late, each is owed once."""
    waiting = [one for one in checkpoints if one.owed and one.occasion is None and one.due_at <= now]
    return tuple(sorted(waiting, key=lambda one: (one.due_at, one.launch)))


def late_by(one: Checkpoint) -> timedelta | None:
    """How long after its due time it was opened; absent where it was in time, or is not open yet."""
    if one.opened_at is None or one.opened_at - one.due_at <= PATIENCE:
        return None
    return one.opened_at - one.due_at


def missed(checkpoints: Iterable[Checkpoint], now: datetime) -> tuple[Missed, ...]:
    """Every Checkpoint that did not begin within `PATIENCE` of its due time, or did not end within `ENDS_WITHIN`."""
    found = [alarm for one in checkpoints if one.owed for alarm in (_not_begun(one, now), _not_ended(one, now))]
    return tuple(alarm for alarm in found if alarm is not None)


def _not_begun(one: Checkpoint, now: datetime) -> Missed | None:
    if one.occasion is not None or now <= one.due_at + PATIENCE:
        return None
    told = f"{_said(one)} was due {one.due_at:%Y-%m-%d %H:%M} UTC and has not begun: is the clock of `perfd serve` running?"
    return Missed(one, one.due_at, told)


def _not_ended(one: Checkpoint, now: datetime) -> Missed | None:
    if one.opened_at is None or one.state is OccasionState.REPORTED:
        return None
    ends = max(one.due_at, one.opened_at) + ENDS_WITHIN
    if now <= ends + PATIENCE:
        return None
    told = f"{_said(one)} has not ended after {ENDS_WITHIN.total_seconds() / 3600:g} hours ({one.state}): is a worker running?"
    return Missed(one, ends, told)


def _said(one: Checkpoint) -> str:
    return f"Day {one.day} of {one.launch}"
