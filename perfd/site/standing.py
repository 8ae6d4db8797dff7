"""GET /api/v1/status: how the service stands, as JSON."""

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from perfd.domain.codec import to_json
from perfd.site import alarms, answers
from perfd.site.answers import told
from perfd.site.fresh import this_minute
from perfd.site.sentences import night as night_sentence
from perfd.site.sentences import unmeasured
from perfd.site.sheets import service
from perfd.site.site import Here, Site
from perfd.site.status import BUSY_OVER, NIGHTS, queue, without_result
from perfd.site.templates import iso
from perfd.store.records import NightSummary

router = APIRouter(prefix="/api/v1")
Document = dict[str, Any]


@router.get("/status", responses=told(answers.Status))
def status(request: Request, site: Here) -> Response:
    """Last night and next night, what is late and what is missing, queue, outbox, workers, how busy devices were."""
    return this_minute(request, lambda: JSONResponse(document(site, site.clock())))


def document(site: Site, now: datetime) -> Document:
    """All that the status page shows."""
    found, pages = site.store.pages.status(), site.store.pages
    waits = queue(found)
    lists = {
        "waiting": list(service.waiting(pages.waiting())),
        "outbox": pages.unsent(),
        "unposted": list(service.not_posted(site.store.posts.in_trouble())),
        "workers": list(service.workers(found.workers, now)),
        "use": list(service.use(site.store.usage.devices(now - BUSY_OVER, now))),
        "nights": list(service.nights(pages.nights(NIGHTS))),
    }
    return {
        "now": iso(now),
        "sentence": night_sentence(found.last_night, now),
        "alarms": [alarms.words(one) for one in alarms.late(site, now)],
        "last_night": _night(found.last_night) if found.last_night else None,
        "next_night": iso(site.next_night(now)),
        "queue": waits | {"oldest": iso(waits["oldest"]) if waits["oldest"] else None},
        **to_json(lists),
        "regressions_open": len(site.store.regressions.unanswered()),
    }


def _night(night: NightSummary) -> Document:
    return {
        "name": night.row.occasion.name,
        "due_at": iso(night.row.occasion.nominal_at),
        "state": night.row.state.value,
        "closed_at": iso(night.row.closed_at) if night.row.closed_at else None,
        "runs": dict(night.row.runs),
        "unmeasured": unmeasured(night.row),
        "missing": [{"run": one.key, "state": one.state.value, "reason": one.reason} for one in without_result(night)],
        "verdicts": {outcome.value: number for outcome, number in night.verdict_counts.items()},
        "findings": to_json(night.findings),
        "failed_builds": to_json(list(service.failed_builds(night.failed_builds))),
    }
