"""How the service stands: last night, next night, what is missing, queue, workers, findings."""

from datetime import datetime, timedelta
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from perfd.domain.purpose import HEAD_START, purpose_of
from perfd.domain.run import RunState
from perfd.site import alarms, devices, sentences
from perfd.site.fresh import this_minute
from perfd.site.rows import run_label
from perfd.site.sheets.service import GONE_AFTER
from perfd.site.site import Here, Site
from perfd.store.records import NightCounts, OccasionRow, RunRow, Status, WaitingRow

router = APIRouter()
MOST_MISSING = 200
NIGHTS = 30
BUSY_OVER = timedelta(hours=24)
"""The span over which it is told how busy a device was."""


@router.get("/status")
def status(request: Request, site: Here) -> Response:
    """The status page."""
    return this_minute(request, lambda: _page(site), alike=True)


def _page(site: Site) -> HTMLResponse:
    now = site.clock()
    found = site.store.pages.status()
    there = site.store.devices.rows()
    night = found.last_night
    missing = without_result(night)
    next_night = site.next_night(now)
    return site.pages.show(
        "status.html",
        here="/status",
        sentence=sentences.night(night, now),
        alarms=alarms.late(site, now),
        night=None if night is None else _night(night.row),
        night_runs=[]
        if night is None
        else [(one.value, night.row.runs[one.value]) for one in RunState if night.row.runs.get(one.value)],
        next_night=next_night,
        until_s=(next_night - now).total_seconds(),
        schedule=site.schedule,
        queue=queue(found),
        waiting=[_waiting(one) for one in site.store.pages.waiting()],
        unsent=site.store.pages.unsent(),
        missing=[
            {"key": one.key, "label": run_label(one), "state": one.state.value, "why": why(one)} for one in missing[:MOST_MISSING]
        ],
        missing_total=0 if night is None else sentences.unmeasured(night.row),
        failed_builds=[] if night is None else night.failed_builds,
        findings=[] if night is None else night.findings,
        not_posted=[{"key": one.wanted.key, "why": one.trouble} for one in site.store.posts.in_trouble()],
        devices=[devices.words(one) for one in there if one.state != "ready"],
        devices_sentence=devices.sentence(there),
        use=site.store.usage.devices(now - BUSY_OVER, now),
        use_over_s=BUSY_OVER.total_seconds(),
        spent=[] if night is None else minutes_spent(site, night.row, now),
        workers=workers(found, now),
        gone_after_s=GONE_AFTER.total_seconds(),
        nights=[_counts(row) for row in site.store.pages.nights(NIGHTS)],
    )


def without_result(night: NightCounts | None) -> tuple[RunRow, ...]:
    """Runs of the night that are not done: ended ones first, then those that wait; the first few hundred of them."""
    return night.lost if night else ()


def why(run: RunRow) -> str:
    """The reason of a failed or void Run, or what it waits for."""
    if run.state is RunState.QUEUED:
        return f"waits for a worker of {run.device_class}"
    if run.state is RunState.CLAIMED:
        return f"{run.claimed_by} measures it"
    kind = run.failure.value.replace("_", " ") if run.failure else ""
    return f"{kind}: {run.reason}" if run.reason else kind


def queue(found: Status) -> dict[str, Any]:
    """What waits, over all device classes."""
    oldest = [one.oldest_queued_at for one in found.queue if one.oldest_queued_at]
    return {
        "runs": sum(one.queued for one in found.queue),
        "claimed": sum(one.claimed for one in found.queue),
        "builds": found.builds_queued,
        "messages": found.outbox_waiting,
        "oldest": min(oldest, default=None),
    }


def _waiting(one: WaitingRow) -> dict[str, Any]:
    """A Run that waits, with what it is for: that is its priority."""
    start = HEAD_START[purpose_of(one.occasion)].total_seconds()
    return {
        "key": one.key,
        "label": f"{one.subject} on {one.workload}",
        "device_class": one.device_class,
        "purpose": purpose_of(one.occasion).value,
        "start_s": start,
        "queued_at": one.queued_at,
    }


def minutes_spent(site: Site, night: OccasionRow, now: datetime) -> list[dict[str, Any]]:
    """What the night took of its device minutes, by device class."""
    spent = site.store.usage.spent_s(night.occasion, now)
    allowed = site.schedule.night_minutes
    return [{"device_class": name, "spent_s": spent_s, "allowed_s": allowed * 60.0} for name, spent_s in sorted(spent.items())]


def workers(found: Status, now: datetime) -> list[dict[str, Any]]:
    """Workers, the one seen last first."""
    ordered = sorted(found.workers, key=lambda one: one.seen_at, reverse=True)
    return [
        {
            "name": one.name,
            "host": one.host,
            "device_class": one.device_class,
            "doing": one.doing,
            "seen_at": one.seen_at,
            "alive": now - one.seen_at < GONE_AFTER,
        }
        for one in ordered
    ]


def _night(row: OccasionRow) -> dict[str, Any]:
    return {"nominal_at": row.occasion.nominal_at, "state": row.state.value, "closed_at": row.closed_at}


def _counts(row: OccasionRow) -> dict[str, Any]:
    runs = row.runs
    return {
        "at": row.occasion.nominal_at,
        "state": row.state.value,
        "done": runs.get("done", 0),
        "failed": runs.get("failed", 0) + runs.get("void", 0),
        "waiting": runs.get("queued", 0) + runs.get("claimed", 0),
    }
