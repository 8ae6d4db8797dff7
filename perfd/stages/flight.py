"""Before and after a Run: may it begin on this device, and what does its end say of the device?"""

from dataclasses import replace
from datetime import timedelta

from perfd.bench.look import look
from perfd.domain.device import Cause, DeviceRow, Spoilt
from perfd.domain.health import why_sick
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.rules.preflight import why_refused
from perfd.rules.quarantine import by_spoilt
from perfd.stages.context import Context
from perfd.stages.device import Bench, measuring
from perfd.store.devices import LOOKED_LATELY
from perfd.store.records import ClaimedRun

ACTOR = "measure"


def may_begin(context: Context, bench: Bench) -> bool:
    """Whether a Run that waits may begin on the device; False where none waits, so that nothing is looked at for nothing.

    A device that is refused keeps its Runs in the queue, and its page and `perfd device list` say why. One that is sick is
    quarantined. What needs no device of its own (compiling, interpreting) always may.
    """
    if bench.limits is None:
        return True
    devices = context.store.devices
    if not devices.is_wanted(bench.device.device_class, context.now()) or devices.lasting(bench.device) is not None:
        return False
    seen = look(bench.device, shares=bench.limits.busiest_cores > 0)
    before = devices.looked(bench.device, why_refused(seen.facts, bench.limits), context.now())
    sick = why_sick([seen])
    if sick:
        _quarantine(context, bench, Cause(sick, before.good_at or context.now(), {"before a Run": dict(seen.facts)}))
    elif before.refusal and before.refused_since == before.looked_at:  # the first look of this refusal
        context.tell.say("measure", f"{_name(bench)} is refused: {before.refusal}")
    return not sick and not before.refusal


def after(context: Context, bench: Bench, claimed: ClaimedRun, results: Results) -> Results:
    """What the Run's end says of the device stands there; answers the results, void where the device is in quarantine now."""
    if bench.limits is None:
        return results
    _learn(context, bench, claimed, results)
    lasting = context.store.devices.lasting(bench.device)
    if lasting is None or results.state is not RunState.DONE:
        return results
    reason = f"its device was quarantined while it ran: {lasting.cause.reason}"
    return replace(results, state=RunState.VOID, failure=FailureKind.DEVICE, reason=reason)


def _learn(context: Context, bench: Bench, claimed: ClaimedRun, results: Results) -> None:
    """A good check, a spoilt Run, or a quarantine with its evidence stands there."""
    sick = why_sick(results.device_states)
    if sick:
        good_at = next((row.good_at for row in context.store.devices.rows() if row.device == bench.device), None)
        last = dict(results.device_states[-1].facts) if results.device_states else {}
        evidence = {"run": claimed.key, "after the Run": last, "log": results.log_tail[-2000:]}
        _quarantine(context, bench, Cause(sick, good_at or results.started_at, evidence))
    elif results.failure is FailureKind.DEVICE:
        row = context.store.devices.spoilt(bench.device, Spoilt(claimed.key, results.finished_at, results.reason))
        cause = by_spoilt(row.spoilt)
        if cause is not None:
            _quarantine(context, bench, cause)
    elif results.state is RunState.DONE:
        context.store.devices.good(bench.device, context.now())


def is_patient(context: Context) -> bool:
    """Whether a device of this machine is refused for now, and was not for longer than its patience."""
    return any(_waits(context, bench, row) for bench, row in _here(context))


def _waits(context: Context, bench: Bench, row: DeviceRow) -> bool:
    if bench.limits is None or row.refused_since is None or row.quarantine is not None or not _is_fresh(context, row):
        return False
    waited = context.now() - row.refused_since
    return waited <= timedelta(minutes=bench.limits.patience_minutes)


def _is_fresh(context: Context, row: DeviceRow) -> bool:
    """Whether it was looked at lately: a refusal of days ago says nothing of now."""
    return row.looked_at is not None and context.now() - row.looked_at <= LOOKED_LATELY


def why_not_measured(context: Context) -> str:
    """What this machine's devices say of Runs that none of them took; "" where all of them are ready."""
    told = []
    for bench, row in _here(context):
        if row.quarantine is not None:
            told.append(f"{_name(bench)} is in quarantine: {row.quarantine.cause.reason}; `perfd device release` ends it")
        elif row.refusal and _is_fresh(context, row):
            told.append(f"{_name(bench)} was refused: {row.refusal}")
    return "; ".join(told)


def _here(context: Context) -> list[tuple[Bench, DeviceRow]]:
    rows = {row.device: row for row in context.store.devices.rows()}
    return [(bench, rows[bench.device]) for bench in measuring(context.config) if bench.device in rows]


def _quarantine(context: Context, bench: Bench, cause: Cause) -> None:
    opened = context.store.devices.quarantine(bench.device, cause, ACTOR, context.now())
    if opened is not None:
        context.tell.say("measure", f"{_name(bench)} is quarantined: {cause.reason}; {opened.voided} Runs are void")


def _name(bench: Bench) -> str:
    return f"{bench.device.name} of {bench.device.host}"
