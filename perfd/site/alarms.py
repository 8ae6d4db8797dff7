"""What is late, asked anew for every answer: a dead clock and a dead worker cannot keep the site from telling."""

from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from perfd.domain.alarm import Alarm
from perfd.rules import silence
from perfd.site.site import Site
from perfd.site.templates import iso


def late(site: Site, now: datetime) -> tuple[Alarm, ...]:
    """Everything that is late, the one that has been due longest first."""
    schedule = site.schedule
    return silence.alarms(site.store.standing(now), time.fromisoformat(schedule.nightly), ZoneInfo(schedule.timezone), now)


def words(alarm: Alarm) -> dict[str, Any]:
    """An alarm as JSON has it."""
    told = {"kind": alarm.kind.value, "key": alarm.key, "since": iso(alarm.since)}
    return {**told, "sentence": alarm.sentence, "remedy": alarm.remedy}
