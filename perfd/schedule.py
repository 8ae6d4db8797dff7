"""The clock: fires the nightly when it is due, and catches up a missed one exactly once. The only file that knows APScheduler.

APScheduler only wakes us. What is due, and whether it was opened already, is decided from the calendar and the database: a
night's name is unique there, so that firing twice, late or from two clocks at once opens one night. One clock owns the lock.
"""

from collections.abc import Callable
from datetime import time
from zoneinfo import ZoneInfo

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

from perfd.config import Schedule

LOOK_AGAIN_S = 60
"""A laptop that slept, or a clock that jumped, is noticed within this time."""


def start_clock(schedule: Schedule, fire: Callable[[], object]) -> BackgroundScheduler:
    """A running scheduler that calls `fire` at every due time, at the start, and every minute; `shutdown()` ends it.

    Misfires are never dropped (`misfire_grace_time=None`) and never piled up (`coalesce`).
    """
    at = time.fromisoformat(schedule.nightly)
    clock = BackgroundScheduler(timezone=ZoneInfo(schedule.timezone), job_defaults={"misfire_grace_time": None, "coalesce": True})
    clock.add_job(fire, CronTrigger(hour=at.hour, minute=at.minute, timezone=ZoneInfo(schedule.timezone)), id="nightly")
    clock.add_job(fire, "interval", seconds=LOOK_AGAIN_S, id="look-again")
    clock.start()
    fire()
    return clock
