"""A night: opened by the clock or by a person, taken through all six stages."""

import time as time_module
from collections.abc import Callable
from datetime import datetime, time
from typing import TypeAlias
from zoneinfo import ZoneInfo

from perfd import HARNESS_VERSION
from perfd.config import Schedule
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import OccasionKind, RunState
from perfd.rules.calendar import last_due, next_due
from perfd.stages.bisect import bisect
from perfd.stages.build import build
from perfd.stages.confirm import confirm
from perfd.stages.context import Context, is_dead
from perfd.stages.flight import is_patient, why_not_measured
from perfd.stages.judge import judge
from perfd.stages.measure import measure
from perfd.stages.patience import patiently
from perfd.stages.plan import plan
from perfd.stages.quarantine import quarantine
from perfd.stages.report import report
from perfd.stages.subjects import Wanted
from perfd.stages.watch import watch
from perfd.stages.workplace import sweep
from perfd.store import Store

Stage: TypeAlias = Callable[[Context], bool]

STAGES: dict[str, Stage] = {
    "watch": watch,
    "plan": plan,
    "build": build,
    "measure": measure,
    "bisect": bisect,  # before the judge: a comparison of a bisection is decided by the one Metric that it asks about
    "judge": judge,
    "confirm": confirm,
    "quarantine": quarantine,
    "report": report,
}
WAIT_S = 1.0
NOBODY_CAME = "no worker with its device class took it while its night ran; start `perfd work` on such a machine"


def open_night(context: Context, asked: Wanted | None = None) -> Occasion:
    """A night that begins now, for what is asked (nothing: an ordinary night)."""
    occasion = Occasion(OccasionKind.NIGHT, context.now().replace(microsecond=0), (asked or Wanted()).label)
    context.store.occasions.open(occasion, context.now())
    return occasion


def open_due_night(store: Store, schedule: Schedule, now: datetime) -> Occasion | None:
    """The night that is due was opened just now; absent when it was open already, or when perfd began after it was due.

    However many nights were missed, the last one is caught up, once: its name is unique in the database.
    """
    due = last_due(now, time.fromisoformat(schedule.nightly), ZoneInfo(schedule.timezone))
    began = store.began_at(now)
    if due < began:
        return None
    occasion = Occasion(OccasionKind.NIGHT, due)
    return occasion if store.occasions.open(occasion, now) else None


def next_night(schedule: Schedule, now: datetime) -> datetime:
    """When the clock fires next, in UTC."""
    return next_due(now, time.fromisoformat(schedule.nightly), ZoneInfo(schedule.timezone))


def work_off(context: Context) -> bool:
    """Everything that can be done now is done, stage after stage; returns whether there was anything."""
    patiently(context, lambda: look_around(context))
    worked = [_to_the_end(stage, context) for stage in STAGES.values()]
    return any(worked)


def look_around(context: Context) -> None:
    """Others know that this worker lives, and what the dead had claimed is free again."""
    context.seen()
    context.store.runs.requeue_lapsed(context.now(), is_dead)
    context.store.builds.requeue_lapsed(context.now(), is_dead)
    sweep(context)
    for version in context.store.runs.for_newer():
        context.say_once("measure", f"perfd {version} planned runs that this {HARNESS_VERSION} leaves alone: upgrade this worker")


def _to_the_end(stage: Stage, context: Context) -> bool:
    worked = False
    while not context.over.is_set() and patiently(context, lambda: stage(context)):
        worked = True
    return worked


def run_to_report(context: Context, occasion: Occasion) -> None:
    """The occasion is reported. What nobody here could measure is missing, and the report says so."""
    while _look_once(context, occasion):
        pass


def _look_once(context: Context, occasion: Occasion) -> bool:
    """What can be done is done; else others are waited for, or what nobody took is closed. Whether there was anything of that."""
    looked_at = context.now()  # a Run that may be tried again since then was not passed over: the next look takes it
    return work_off(context) or patiently(
        context, lambda: _others_work(context, occasion, looked_at) or _close_missing(context, occasion)
    )


def _open_for(context: Context, occasion: Occasion) -> list[Occasion]:
    """The occasion, and what is measured again or against itself for it, where Runs of it may be waiting."""
    beside = [occasion, *context.store.occasions.beside(occasion)]
    checkpoint = context.store.launches.of(occasion)
    if checkpoint is not None and checkpoint[1].comparison is not None:
        beside.append(checkpoint[1].comparison)
    return [one for one in beside if context.store.occasions.state(one) is OccasionState.PLANNED]


def _close_missing(context: Context, occasion: Occasion) -> bool:
    """What no worker has taken is missing; returns whether there was anything."""
    why = "; ".join(filter(None, (why_not_measured(context), NOBODY_CAME)))
    return any(context.store.runs.close_missing(one, why, context.now()) for one in _open_for(context, occasion))


def _others_work(context: Context, occasion: Occasion, looked_at: datetime) -> bool:
    """Whether another worker holds a Run of the occasion or our device, or one waits for its next try; then a moment passed."""
    waits = any(_is_under_way(context, one, looked_at) for one in _open_for(context, occasion))
    if waits:
        time_module.sleep(WAIT_S)
    return waits


def _is_under_way(context: Context, occasion: Occasion, looked_at: datetime) -> bool:
    runs = context.store.runs
    counts = runs.counts(occasion)
    if counts[RunState.CLAIMED] or runs.waiting_to_be_tried_again(occasion, looked_at):
        return True
    taken = counts[RunState.QUEUED] > 0 and bool(context.passed_over)
    if taken:
        context.tell.steps("measure", 0, counts[RunState.QUEUED], "another perfd process of this host measures; waiting for it")
    return taken or (counts[RunState.QUEUED] > 0 and is_patient(context))
