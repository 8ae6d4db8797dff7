"""What a monitor counts: everything is read from the database when it is asked for, so that any process may answer."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.responses import Response

from perfd.domain.alarm import AlarmKind
from perfd.domain.run import RunState
from perfd.domain.verdict import Outcome
from perfd.site import sentences
from perfd.site.alarms import late
from perfd.site.sheets.service import GONE_AFTER
from perfd.site.site import Here, Site
from perfd.site.status import BUSY_OVER
from perfd.store.records import QueueRow, Status

router = APIRouter()
CONTENT = "text/plain; version=0.0.4; charset=utf-8"
DAY = timedelta(days=1)
MONTH = timedelta(days=30)
Value = tuple[Sequence[str], float]
"""Labels' values, and the number."""


@router.get("/metrics")
def metrics(site: Here) -> Response:
    """Gauges in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(Figures(site))
    return Response(generate_latest(registry), media_type=CONTENT)


class Figures(Collector):
    """The gauges of a site; docs/operations.md has them all in a table."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Every gauge, read now."""
        now = self.site.clock()
        status = self.site.store.pages.status()
        yield from _alarms(self.site, status, now)
        yield from _night(status)
        yield from _queue(status, now)
        yield from _devices(self.site, now)
        yield from _day(self.site, now)
        yield from _trust(self.site, now)


def gauge(name: str, sentence: str, labels: Sequence[str], values: Iterable[Value]) -> GaugeMetricFamily:
    """A gauge with labels."""
    made = GaugeMetricFamily(name, sentence, labels=labels)
    for words, number in values:
        made.add_metric(list(words), number)
    return made


def one(name: str, sentence: str, number: float) -> GaugeMetricFamily:
    """A gauge without labels."""
    return GaugeMetricFamily(name, sentence, value=number)


def _alarms(site: Site, status: Status, now: datetime) -> Iterator[GaugeMetricFamily]:
    kinds = [alarm.kind for alarm in late(site, now)]
    overdue = float(bool(sentences.overdue(status.last_night, site.due_by(now))))
    counts = [((kind.value,), float(kinds.count(kind))) for kind in AlarmKind]
    yield gauge("perfd_alarms", "What is late, by kind: alarm on more than 0.", ["kind"], counts)
    yield one("perfd_night_overdue", "1 when the night that was due last has not begun.", overdue)
    yield one("perfd_next_night_timestamp_seconds", "When the next night is due.", site.next_night(now).timestamp())


def _night(status: Status) -> Iterator[GaugeMetricFamily]:
    """Gauges of the last night; none of them before the first, so that an absence can alarm too."""
    night = status.last_night
    if night is None:
        return
    row, counts = night.row, night.verdict_counts
    yield one("perfd_last_night_timestamp_seconds", "When the last night was due.", row.occasion.nominal_at.timestamp())
    yield one("perfd_last_night_closed", "1 when the last night was reported.", float(row.closed_at is not None))
    if row.closed_at is not None:
        took_s = (row.closed_at - row.opened_at).total_seconds()
        yield one("perfd_last_night_duration_seconds", "How long the last night took; absent until it was reported.", took_s)
    states = [((state.value,), float(row.runs.get(state.value, 0))) for state in RunState]
    yield gauge("perfd_last_night_runs", "Runs of the last night, by state.", ["state"], states)
    yield one("perfd_last_night_unmeasured_runs", "Runs of the last night without a result.", sentences.unmeasured(row))
    yield one("perfd_last_night_missing_runs", "Runs of the last night that nobody measured.", row.missing)
    outcomes = [((outcome.value,), float(counts.get(outcome, 0))) for outcome in Outcome]
    yield gauge("perfd_last_night_verdicts", "Verdicts of the last night.", ["outcome"], outcomes)


def _queue(status: Status, now: datetime) -> Iterator[GaugeMetricFamily]:
    label, rows = ["device_class"], status.queue
    yield gauge("perfd_queue_runs", "Runs that wait.", label, [((row.device_class,), row.queued) for row in rows])
    ages = [((row.device_class,), _age_s(row, now)) for row in rows]
    yield gauge("perfd_queue_oldest_seconds", "How long the Run has waited that waits longest; 0 where none does.", label, ages)
    yield gauge("perfd_claimed_runs", "Runs being measured.", label, [((row.device_class,), row.claimed) for row in rows])
    yield one("perfd_queue_builds", "Builds that wait.", status.builds_queued)
    yield one("perfd_claimed_builds", "Builds being made.", status.builds_building)
    alive = sum(now - worker.seen_at < GONE_AFTER for worker in status.workers)
    yield one("perfd_workers_alive", "Workers seen in the last ten minutes.", alive)


def _age_s(row: QueueRow, now: datetime) -> float:
    return 0.0 if row.oldest_queued_at is None else max(0.0, (now - row.oldest_queued_at).total_seconds())


def _devices(site: Site, now: datetime) -> Iterator[GaugeMetricFamily]:
    """How busy devices were, which are out, and what the last night took of them."""
    labels = ["host", "device", "device_class"]
    use = [((row.host, row.name, row.device_class), row.busy) for row in site.store.usage.devices(now - BUSY_OVER, now)]
    yield gauge("perfd_device_busy_ratio", "Share of the last 24 hours in which a Run held the device.", labels, use)
    rows = site.store.devices.rows()
    out = [((row.device.host, row.device.name, row.device.device_class), float(row.quarantine is not None)) for row in rows]
    yield gauge("perfd_device_quarantined", "1 while the device is in quarantine.", labels, out)
    last = site.store.occasions.last()
    spent = [] if last is None else [((name,), float(took_s)) for name, took_s in site.store.usage.spent_s(last, now).items()]
    sentence = "Device seconds that the last night's own Runs took."
    yield gauge("perfd_last_night_device_seconds", sentence, ["device_class"], spent)
    allowed_s = site.schedule.night_minutes * 60.0
    yield one("perfd_night_device_seconds_allowed", "What a night may take of each device class.", allowed_s)


def _day(site: Site, now: datetime) -> Iterator[GaugeMetricFamily]:
    """What ended in the last 24 hours, and what the outbox holds."""
    found = site.store.figures(now - DAY)
    ended = [(labels, float(count)) for labels, count in found.runs.items()]
    sentence = "Runs that ended in the last 24 hours, by state and kind of failure."
    yield gauge("perfd_day_runs", sentence, ["state", "failure"], ended)
    made = [((state,), float(count)) for state, count in found.builds.items()]
    yield gauge("perfd_day_builds", "Builds that ended in the last 24 hours, by state.", ["state"], made)
    waiting = [((kind,), float(count)) for kind, (count, _) in found.waiting.items()]
    yield gauge("perfd_outbox_messages", "Messages that wait to be sent, by kind.", ["kind"], waiting)
    oldest = min((since for _, since in found.waiting.values()), default=now)
    yield one("perfd_outbox_oldest_seconds", "How long the oldest of them has waited.", (now - oldest).total_seconds())
    lost = [((kind,), float(count)) for kind, count in found.given_up.items()]
    yield gauge("perfd_day_given_up_messages", "Messages given up in the last 24 hours, by kind.", ["kind"], lost)


def _trust(site: Site, now: datetime) -> Iterator[GaugeMetricFamily]:
    found = site.store.trust.false_alarms(now - MONTH)
    decided, wrong = found.aa + found.remeasured, found.aa_different + found.refuted
    yield one("perfd_regressions_open", "Regressions that someone must answer.", len(site.store.regressions.unanswered()))
    yield one("perfd_false_alarm_checks", "A/A comparisons and re-measurements with an answer, in the last 30 days.", decided)
    if decided:
        sentence = "Share of them that cried wolf; absent without any."
        yield one("perfd_false_alarm_ratio", sentence, wrong / decided)
