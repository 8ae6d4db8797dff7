"""The device minutes of a night: when they are spent on a device class, what was not begun there is told, and left."""

from typing import Any

from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import FailureKind, OccasionKind
from perfd.stages.context import Context
from perfd.store.records import OccasionSummary


def keep_to_budget(context: Context) -> None:
    """No night that is under way has Runs left on a device class where its minutes are spent.

    A Run that was begun is finished: a night may run over by the last Run of each device.
    """
    minutes, now = context.config.schedule.night_minutes, context.now()
    for night in context.store.occasions.every_in_state(OccasionState.PLANNED):
        if night.kind is OccasionKind.NIGHT:
            for device_class, seconds in context.store.usage.spent_s(night, now).items():
                if seconds >= minutes * 60.0:
                    _end(context, night, device_class, minutes)


def _end(context: Context, night: Occasion, device_class: str, minutes: float) -> None:
    spent = f"the {minutes:g} device minutes of {night.name} on {device_class} are spent"
    reason = f"{spent}; raise schedule.night_minutes, or measure less"
    ended = context.store.cancelling.over_budget(night, device_class, reason, context.now())
    if ended:
        context.tell.say("measure", f"{ended} runs are not begun: {reason}")


def spending(context: Context, summary: OccasionSummary) -> dict[str, Any]:
    """For the night's report: minutes allowed and spent by device class, what was not begun, and how busy each device was."""
    night, now = summary.row.occasion, context.now()
    spent = context.store.usage.spent_s(night, now)
    not_begun = sum(run.failure is FailureKind.BUDGET for run in summary.runs)
    devices = context.store.usage.devices(summary.row.opened_at, now)
    return {
        "minutes_a_device_class": context.config.schedule.night_minutes,
        "spent_minutes": {name: round(seconds / 60.0, 2) for name, seconds in sorted(spent.items())},
        "not_begun": not_begun,
        "devices": [
            {"host": one.host, "device": one.name, "device_class": one.device_class, "runs": one.runs, "busy": round(one.busy, 4)}
            for one in devices
        ],
    }
