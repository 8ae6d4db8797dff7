"""alarms: silence is told. What is late becomes an alarm in the database, and its message is on its way."""

from datetime import datetime, time
from zoneinfo import ZoneInfo

from perfd.config import Schedule
from perfd.domain.alarm import Alarm
from perfd.rules import silence
from perfd.stages.about import about
from perfd.stages.context import Context
from perfd.stages.notify import hand_on, notify
from perfd.stages.patience import patiently
from perfd.store import Store


def late(store: Store, schedule: Schedule, now: datetime) -> tuple[Alarm, ...]:
    """Everything that is late."""
    return silence.alarms(store.standing(now), time.fromisoformat(schedule.nightly), ZoneInfo(schedule.timezone), now)


def sound(context: Context) -> int:
    """What is late was told, and what is over, too; how many messages that made."""
    now = context.now()
    found = late(context.store, context.config.schedule, now)
    made = context.store.alarms.sound(found, now)
    for alarm in found if made else ():
        with about(level="warning"):
            context.say_once("alarm", f"{alarm.sentence} {alarm.remedy}")
    return made


def keep_watch(context: Context) -> None:
    """One look: alarms are sounded, and every message that is due has left, or is to be tried again."""
    patiently(context, lambda: sound(context))
    while not context.over.is_set() and patiently(context, lambda: hand_on(context) or notify(context)):
        pass
