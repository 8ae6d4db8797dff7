"""When a night is due, and a week's report: one a local calendar day, or week, whatever the clocks do that day."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


def last_due(now: datetime, at: time, zone: ZoneInfo) -> datetime:
    """The latest due time that is not after `now`, in UTC."""
    today = now.astimezone(zone).date()
    due = _due(today, at, zone)
    return due if due <= now else _due(today - timedelta(days=1), at, zone)


def next_due(now: datetime, at: time, zone: ZoneInfo) -> datetime:
    """The earliest due time after `now`, in UTC."""
    today = now.astimezone(zone).date()
    due = _due(today, at, zone)
    return due if due > now else _due(today + timedelta(days=1), at, zone)


def last_of_week(now: datetime, weekday: int, at: time, zone: ZoneInfo) -> datetime:
    """The latest moment of `at` on that day of the week (0 is Monday) that is not after `now`, in UTC."""
    today = now.astimezone(zone).date()
    day = today - timedelta(days=(today.weekday() - weekday) % 7)
    due = _due(day, at, zone)
    return due if due <= now else _due(day - timedelta(days=7), at, zone)


def _due(day: date, at: time, zone: ZoneInfo) -> datetime:
    """The moment of `at` on `day`.

    A time that the clocks repeat in autumn means the first of the two; one that they skip in spring is moved on by the gap
    (fold 0 reads it with the offset from before the change), so that every day has exactly one.
    """
    return datetime.combine(day, at, tzinfo=zone).replace(fold=0).astimezone(UTC)
