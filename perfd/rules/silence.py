"""Silence is an alarm: what was owed, by when, and what of it is late.

Each thing is late `GRACE` after its due time; with a look every minute it is reported within a quarter of an hour.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from perfd.domain.alarm import Alarm, AlarmKind, OpenBisection, OpenOccasion, Standing, Stuck, Waiting
from perfd.domain.run import OccasionKind
from perfd.rules import launches
from perfd.rules.calendar import last_due

GRACE = timedelta(minutes=10)
"""How long after its due time a thing is not late yet."""
ENDS_WITHIN = launches.ENDS_WITHIN
"""What was opened is late when it is not reported by then; its Runs are closed as missing after twelve hours in the queue."""
_KINDS = {
    OccasionKind.NIGHT: AlarmKind.NIGHT,
    OccasionKind.BACKFILL: AlarmKind.BASELINE,
    OccasionKind.COMPARE: AlarmKind.COMPARISON,
    OccasionKind.AA: AlarmKind.COMPARISON,
}
_WORDS = {
    OccasionKind.NIGHT: "The night",
    OccasionKind.BACKFILL: "The backfill of a Baseline",
    OccasionKind.COMPARE: "The comparison",
    OccasionKind.AA: "The A/A comparison",
}
_LOOK = "look at the queue and the workers on the status page; without a worker start `perfd serve` or `perfd work`"


def alarms(standing: Standing, nightly: time, zone: ZoneInfo, now: datetime) -> tuple[Alarm, ...]:
    """Everything that is late at `now`, the one that has been due longest first."""
    found = (
        *_clock(standing, now),
        *_night(standing, last_due(now - GRACE, nightly, zone)),
        *(alarm for one in standing.occasions for alarm in _not_ended(one, now)),
        *_checkpoints(standing, now),
        *(alarm for one in standing.bisections for alarm in _bisection(one, now)),
        *(alarm for one in standing.waiting for alarm in _nobody(one, now)),
        *(_undelivered(one) for one in standing.stuck if one.given_up or now > one.since + GRACE),
    )
    return tuple(sorted(found, key=lambda one: (one.since, one.key)))


def _clock(standing: Standing, now: datetime) -> Iterator[Alarm]:
    if standing.clock_at is None or now <= standing.clock_at + GRACE:
        return
    told = f"The clock last looked at {_at(standing.clock_at)}: no night and no Checkpoint is opened meanwhile."
    yield Alarm(AlarmKind.CLOCK, "clock", standing.clock_at, told, "start `perfd serve` (without `--no-clock`) again")


def _night(standing: Standing, due: datetime) -> Iterator[Alarm]:
    """The night that was due last has not begun; none was owed before perfd began."""
    last, since = standing.last_night, standing.began_at or standing.last_night
    if since is None or since > due or (last is not None and last >= due):
        return
    missed = max(1, round((due - max(last or since, since)) / timedelta(days=1)))
    many = "1 night" if missed == 1 else f"{missed} nights"
    told = f"No night has begun since: {many} due by {_at(due)} did not come."
    yield Alarm(AlarmKind.NIGHT, "night", due, told, "is the clock of `perfd serve` running? It catches up the last night, once")


def _not_ended(one: OpenOccasion, now: datetime) -> Iterator[Alarm]:
    kind, ends = _KINDS.get(one.occasion.kind), one.opened_at + ENDS_WITHIN
    if kind is None or now <= ends:
        return
    named = f" ({one.occasion.label})" if one.occasion.label else ""
    told = (
        f"{_WORDS[one.occasion.kind]} of {_at(one.occasion.nominal_at)}{named} has not ended after {_hours(ENDS_WITHIN)} hours."
    )
    yield Alarm(kind, f"not ended:{one.occasion.name}", ends, told, _LOOK)


def _checkpoints(standing: Standing, now: datetime) -> Iterator[Alarm]:
    """As `rules.launches` has it, with this module's grace instead of the one after which a Checkpoint is called late."""
    for one in launches.missed(standing.checkpoints, now + launches.PATIENCE - GRACE):
        key = f"checkpoint:{one.checkpoint.launch}:{one.checkpoint.day}"
        yield Alarm(AlarmKind.CHECKPOINT, key, one.since, one.sentence, f"`perfd launch list` tells how it stands; {_LOOK}")


def _bisection(one: OpenBisection, now: datetime) -> Iterator[Alarm]:
    allowed = ENDS_WITHIN + timedelta(minutes=one.most_minutes)
    ends = one.opened_at + allowed
    if now > ends:
        told = f"Bisection {one.id} of {one.subject} has not ended after {_hours(allowed)} hours."
        yield Alarm(AlarmKind.BISECTION, f"bisection:{one.id}", ends, told, _LOOK)


def _nobody(one: Waiting, now: datetime) -> Iterator[Alarm]:
    """A quarantine that keeps Runs waiting is told at once: only a person ends it. Anything else is given a while."""
    what = f"{one.count} {_thing(one)}"
    if one.quarantined and not one.ready:
        since = max(one.since, *(at for _, at in one.quarantined))
        named = ", ".join(name for name, _ in one.quarantined)
        told = f"{what} of {one.device_class} {_verb(one)} for a device in quarantine: {named}."
        remedy = "see `perfd device list`; mend the device and `perfd device release` it"
        yield Alarm(AlarmKind.DEVICE, f"device:{one.device_class}", since, told, remedy)
        return
    since = max(one.since, one.seen_at or one.since)
    if now <= since + GRACE:
        return
    seen = "none was ever seen" if one.seen_at is None else f"none was seen since {_at(one.seen_at)}"
    place = f" of {one.device_class}" if one.device_class else ""
    remedy = "start `perfd work` on such a machine" if one.device_class else "start `perfd serve` or `perfd work`"
    yield Alarm(
        AlarmKind.WORKER, f"worker:{one.device_class}", since, f"{what}{place} {_verb(one)} for a worker; {seen}.", remedy
    )


def _undelivered(one: Stuck) -> Alarm:
    what = f"{one.count} message{'s' if one.count > 1 else ''} of the kind {one.kind}"
    was = "given up" if one.given_up else "not delivered"
    why = f": {one.reason}" if one.reason else ": nobody sends it"
    remedy = "mend what refuses it; what was given up is not sent again" if one.given_up else "it is tried again by itself"
    if not one.given_up and not one.reason:
        remedy = "start `perfd serve` where its address and password are known"
    told = f"{what}, the oldest of {_at(one.since)}, {'were' if one.count > 1 else 'was'} {was}{why}."
    return Alarm(AlarmKind.MESSAGE, f"message:{one.kind}:{was}", one.since, told, remedy)


def _thing(one: Waiting) -> str:
    word = "Run" if one.device_class else "Build"
    return word if one.count == 1 else f"{word}s"


def _verb(one: Waiting) -> str:
    return "waits" if one.count == 1 else "wait"


def _at(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _hours(span: timedelta) -> str:
    return f"{span.total_seconds() / 3600:g}"
