from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from perfd.domain.alarm import Alarm, AlarmKind, OpenBisection, OpenOccasion, Standing, Stuck, Waiting
from perfd.domain.launch import Checkpoint
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import OccasionKind
from perfd.rules import silence

DUE = datetime(2026, 11, 29, 2, tzinfo=UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
RUNNING = Standing(began_at=DUE - 9 * DAY, clock_at=DUE, last_night=DUE - DAY)
CPU = "cpu:x:t1"


def late(standing: Standing, now: datetime) -> tuple[Alarm, ...]:
    return silence.alarms(standing, time(2), ZoneInfo("UTC"), now)


def keys(standing: Standing, now: datetime) -> list[str]:
    return [one.key for one in late(standing, now)]


def test_nothing_is_owed_before_perfd_began() -> None:
    assert () == late(Standing(), DUE + DAY)
    assert () == late(Standing(began_at=DUE + MINUTE), DUE + timedelta(hours=20))


@pytest.mark.parametrize(("minutes", "told"), [(0, False), (9, False), (10, True), (60 * 23, True)])
def test_a_night_is_late_ten_minutes_after_its_due_time(minutes: int, *, told: bool) -> None:
    now = DUE + minutes * MINUTE

    assert told == ("night" in keys(replace(RUNNING, clock_at=now), now))


def test_the_very_first_night_is_owed_too() -> None:
    standing = Standing(began_at=DUE - timedelta(hours=3), clock_at=DUE + 11 * MINUTE)

    assert ["night"] == keys(standing, DUE + 11 * MINUTE)


def test_a_night_that_began_is_not_late() -> None:
    now = DUE + 20 * MINUTE

    assert [] == keys(replace(RUNNING, last_night=DUE, clock_at=now), now)


def test_many_missed_nights_are_one_alarm() -> None:
    now = DUE + 5 * DAY + timedelta(hours=1)

    (alarm,) = late(replace(RUNNING, last_night=DUE, clock_at=now), now)

    assert "5 nights due by 2026-12-04 02:00 UTC did not come" in alarm.sentence
    assert DUE + 5 * DAY == alarm.since


@pytest.mark.parametrize(("minutes", "told"), [(10, False), (11, True)])
def test_a_clock_that_does_not_look_is_late(minutes: int, *, told: bool) -> None:
    standing = replace(RUNNING, clock_at=DUE + DAY / 2)

    assert told == ("clock" in keys(replace(standing, last_night=DUE), DUE + DAY / 2 + minutes * MINUTE))


@pytest.mark.parametrize(
    ("kind", "alarm"),
    [
        (OccasionKind.NIGHT, AlarmKind.NIGHT),
        (OccasionKind.BACKFILL, AlarmKind.BASELINE),
        (OccasionKind.COMPARE, AlarmKind.COMPARISON),
        (OccasionKind.AA, AlarmKind.COMPARISON),
    ],
)
def test_what_did_not_end_in_a_day_is_late(kind: OccasionKind, alarm: AlarmKind) -> None:
    opened = OpenOccasion(Occasion(kind, DUE, "a vs b"), DUE + timedelta(hours=5))
    standing = Standing(occasions=(opened,))

    assert () == late(standing, DUE + DAY + timedelta(hours=5))
    (found,) = late(standing, DUE + DAY + timedelta(hours=5, minutes=1))
    assert (alarm, f"not ended:{opened.occasion.name}") == (found.kind, found.key)
    assert "(a vs b) has not ended after 24 hours" in found.sentence


def test_a_checkpoint_that_did_not_begin_is_late_ten_minutes_after_its_due_time() -> None:
    standing = Standing(checkpoints=(Checkpoint("m3 on tiny", 7, DUE, owed=True, occasion=None, opened_at=None, state=None),))

    assert [] == keys(standing, DUE + 10 * MINUTE)
    assert ["checkpoint:m3 on tiny:7"] == keys(standing, DUE + 11 * MINUTE)


def test_a_checkpoint_that_did_not_end_is_late_after_a_day() -> None:
    begun = Occasion(OccasionKind.CHECKPOINT, DUE, "m3 on tiny day 7")
    one = Checkpoint("m3 on tiny", 7, DUE, owed=True, occasion=begun, opened_at=DUE, state=OccasionState.PLANNED)

    assert [] == keys(Standing(checkpoints=(one,)), DUE + DAY)
    assert ["checkpoint:m3 on tiny:7"] == keys(Standing(checkpoints=(one,)), DUE + DAY + 11 * MINUTE)


def test_a_bisection_may_take_its_minutes_and_a_day() -> None:
    standing = Standing(bisections=(OpenBisection(3, "tiny", DUE, 120.0),))

    assert [] == keys(standing, DUE + DAY + timedelta(hours=2))
    assert ["bisection:3"] == keys(standing, DUE + DAY + timedelta(hours=2, minutes=1))


@pytest.mark.parametrize(
    ("seen", "told"),
    [(None, True), (timedelta(hours=-3), True), (timedelta(minutes=5), False), (timedelta(minutes=14), False)],
)
def test_runs_that_wait_where_no_worker_is_seen_are_late(seen: timedelta | None, *, told: bool) -> None:
    waiting = Waiting(CPU, 4, DUE, None if seen is None else DUE + seen, ready=1)

    assert [] == keys(Standing(waiting=(waiting,)), DUE + 10 * MINUTE)
    assert ([f"worker:{CPU}"] if told else []) == keys(Standing(waiting=(waiting,)), DUE + 15 * MINUTE)


def test_builds_that_nobody_makes_are_late() -> None:
    (found,) = late(Standing(waiting=(Waiting("", 1, DUE, None),)), DUE + 11 * MINUTE)

    assert found.sentence.startswith("1 Build waits")


def test_runs_that_wait_for_a_quarantined_device_are_late_at_once() -> None:
    out = Waiting(CPU, 2, DUE, None, (("cpu of bench-1", DUE + 3 * MINUTE),))

    (found,) = late(Standing(waiting=(out,)), DUE + 4 * MINUTE)

    assert (AlarmKind.DEVICE, DUE + 3 * MINUTE) == (found.kind, found.since)
    assert "cpu of bench-1" in found.sentence


def test_a_quarantine_beside_a_good_device_is_no_alarm() -> None:
    waiting = Waiting(CPU, 2, DUE, DUE, (("cpu of bench-1", DUE),), ready=1)

    assert () == late(Standing(waiting=(waiting,)), DUE + 4 * MINUTE)


def test_a_message_that_waits_is_late_and_one_that_was_given_up_at_once() -> None:
    waits = Stuck("webhook", 2, DUE, "the webhook answered 500", given_up=False)

    assert [] == keys(Standing(stuck=(waits,)), DUE + 10 * MINUTE)
    assert ["message:webhook:not delivered"] == keys(Standing(stuck=(waits,)), DUE + 11 * MINUTE)
    assert ["message:webhook:given up"] == keys(Standing(stuck=(replace(waits, given_up=True),)), DUE + MINUTE)


def test_what_has_been_due_longest_comes_first() -> None:
    standing = replace(RUNNING, waiting=(Waiting(CPU, 1, DUE - DAY, None),))

    found = late(standing, DUE + timedelta(hours=1))

    assert sorted(one.since for one in found) == [one.since for one in found]
    assert len(found) > 1
