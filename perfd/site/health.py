"""For machines: is perfd alive, and what would a monitor like to count."""

from datetime import datetime

from fastapi import APIRouter
from starlette.responses import JSONResponse, PlainTextResponse

from perfd.domain.run import RunState
from perfd.domain.verdict import Outcome
from perfd.site import sentences
from perfd.site.sentences import unmeasured
from perfd.site.site import Here, Site
from perfd.site.status import BUSY_OVER, GONE_AFTER
from perfd.store.records import Status

router = APIRouter()
Gauge = tuple[str, str, list[tuple[str, float]]]
"""Name, help, and (labels, value) pairs."""


@router.get("/healthz")
def healthz(site: Here) -> JSONResponse:
    """200 when the database answers; where it does not, the error page's 503."""
    site.store.pages.ping()
    return JSONResponse({"status": "ok", "database": "answers"})


@router.get("/metrics")
def metrics(site: Here) -> PlainTextResponse:
    """Gauges in Prometheus' text format."""
    return PlainTextResponse("".join(map(text, gauges(site))), media_type="text/plain; version=0.0.4")


def gauges(site: Site) -> list[Gauge]:
    """What a monitor should alarm on: a night that did not come, Runs without results, a queue that stands."""
    now = site.clock()
    status = site.store.pages.status()
    open_regressions = len(site.store.regressions.unanswered())
    alive = sum(now - one.seen_at < GONE_AFTER for one in status.workers)
    return [
        *_night(status),
        (
            "perfd_night_overdue",
            "1 when the night that was due last has not begun.",
            [("", float(bool(sentences.overdue(status.last_night, site.due_by(now)))))],
        ),
        ("perfd_next_night_timestamp_seconds", "When the next night is due.", [("", site.next_night(now).timestamp())]),
        (
            "perfd_queue_runs",
            "Runs that wait, by device class.",
            [(f'device_class="{escape(one.device_class)}"', one.queued) for one in status.queue] or [("", 0)],
        ),
        (
            "perfd_claimed_runs",
            "Runs being measured, by device class.",
            [(f'device_class="{escape(one.device_class)}"', one.claimed) for one in status.queue] or [("", 0)],
        ),
        *_devices(site, now),
        ("perfd_queue_builds", "Builds that wait.", [("", status.builds_queued)]),
        ("perfd_outbox_messages", "Messages that wait to be sent.", [("", status.outbox_waiting)]),
        ("perfd_workers_alive", "Workers seen lately.", [("", alive)]),
        ("perfd_regressions_open", "Regressions that someone must answer.", [("", open_regressions)]),
    ]


def _devices(site: Site, now: datetime) -> list[Gauge]:
    """How busy devices were, and what the last night took of them."""
    use = site.store.usage.devices(now - BUSY_OVER, now)
    last = site.store.occasions.last()
    spent = {} if last is None else site.store.usage.spent_s(last, now)
    return [
        (
            "perfd_device_busy_ratio",
            "Share of the last 24 hours in which a Run held the device.",
            [
                (f'host="{escape(one.host)}",device="{escape(one.name)}",device_class="{escape(one.device_class)}"', one.busy)
                for one in use
            ],
        ),
        (
            "perfd_last_night_device_seconds",
            "Device seconds that the last night's own Runs took, by device class.",
            [(f'device_class="{escape(name)}"', seconds) for name, seconds in sorted(spent.items())],
        ),
        (
            "perfd_night_device_seconds_allowed",
            "What a night may take of each device class.",
            [("", site.schedule.night_minutes * 60.0)],
        ),
    ]


def _night(status: Status) -> list[Gauge]:
    """Gauges of the last night; none of them before the first, so that an absence can alarm too."""
    night = status.last_night
    if night is None:
        return []
    counts = night.verdict_counts
    return [
        (
            "perfd_last_night_timestamp_seconds",
            "When the last night was due.",
            [("", night.row.occasion.nominal_at.timestamp())],
        ),
        ("perfd_last_night_closed", "1 when the last night was reported.", [("", float(night.row.closed_at is not None))]),
        (
            "perfd_last_night_runs",
            "Runs of the last night, by state.",
            [(f'state="{state.value}"', night.row.runs.get(state.value, 0)) for state in RunState],
        ),
        ("perfd_last_night_unmeasured_runs", "Runs of the last night without a result.", [("", unmeasured(night.row))]),
        ("perfd_last_night_missing_runs", "Runs of the last night that nobody measured.", [("", night.row.missing)]),
        (
            "perfd_last_night_verdicts",
            "Verdicts of the last night.",
            [(f'outcome="{outcome.value}"', counts.get(outcome, 0)) for outcome in Outcome],
        ),
    ]


def text(gauge: Gauge) -> str:
    """One gauge as Prometheus reads it."""
    name, sentence, values = gauge
    lines = [f"{name}{{{labels}}} {value:.15g}\n" if labels else f"{name} {value:.15g}\n" for labels, value in values]
    return f"# HELP {name} {sentence}\n# TYPE {name} gauge\n" + "".join(lines)


def escape(label: str) -> str:
    """A label's value with what would end it escaped."""
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
