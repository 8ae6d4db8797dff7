"""What is owed, as it is read from real rows; the rule over it has tests of its own."""

from dataclasses import replace
from datetime import timedelta

from store_world import CPU, ENVIRONMENT, FIRST_NIGHT, LEASE, WORKER, World, night, plan

from perfd.domain.alarm import Waiting
from perfd.domain.device import Cause
from perfd.domain.environment import Device
from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind

HOUR = timedelta(hours=1)
DEVICE = ENVIRONMENT.device


def waiting(world: World) -> dict[str, Waiting]:
    return {one.device_class: one for one in world.store.standing(world.now).waiting}


def planned(world: World) -> Occasion:
    occasion = world.open(night(), plan(0))
    world.build()
    return occasion


def test_an_empty_database_owes_nothing(world: World) -> None:
    found = world.store.standing(world.now)

    assert (None, None, None) == (found.began_at, found.clock_at, found.last_night)
    assert () == (*found.occasions, *found.checkpoints, *found.bisections, *found.waiting, *found.stuck)


def test_a_night_that_is_not_reported_is_open(world: World) -> None:
    occasion = planned(world)

    found = world.store.standing(world.now)

    assert [occasion] == [one.occasion for one in found.occasions]
    assert occasion.nominal_at == found.last_night


def test_a_build_waits_and_then_its_run(world: World) -> None:
    world.open(night(), plan(0))
    assert {"": 1} == {name: one.count for name, one in waiting(world).items()}

    world.build()
    assert {CPU: (1, FIRST_NIGHT)} == {name: (one.count, one.since) for name, one in waiting(world).items()}


def test_a_run_under_a_lease_waits_for_nobody_and_one_whose_worker_died_does(world: World) -> None:
    planned(world)
    world.claim()
    assert {} == waiting(world)

    world.now += LEASE
    assert FIRST_NIGHT + LEASE == waiting(world)[CPU].since


def test_a_run_that_is_to_be_tried_later_does_not_wait_yet(world: World) -> None:
    planned(world)
    claimed = world.claim()
    world.store.runs.put_back(claimed, "later", world.now + HOUR, world.now)
    assert {} == waiting(world)

    world.now += HOUR
    assert FIRST_NIGHT + HOUR == waiting(world)[CPU].since


def test_a_worker_that_looks_at_the_device_is_seen(world: World) -> None:
    planned(world)
    assert waiting(world)[CPU].seen_at is None

    world.store.devices.looked(DEVICE, "too hot", FIRST_NIGHT + HOUR)

    assert FIRST_NIGHT + HOUR == waiting(world)[CPU].seen_at


def test_a_worker_of_the_same_host_that_is_busy_elsewhere_is_seen_and_an_idle_one_is_not(world: World) -> None:
    planned(world)
    world.store.devices.looked(DEVICE, "", FIRST_NIGHT)
    for name, doing in (("bench-1:7:7", ""), ("bench-2:8:8", "builds tiny")):
        world.store.workers.seen(name, FIRST_NIGHT + HOUR, doing=doing)
    assert FIRST_NIGHT == waiting(world)[CPU].seen_at

    world.store.workers.seen(WORKER, FIRST_NIGHT + HOUR, doing="builds tiny")
    assert FIRST_NIGHT + HOUR == waiting(world)[CPU].seen_at


def test_a_device_in_quarantine_is_named_with_what_waits_for_it(world: World) -> None:
    planned(world)
    world.store.devices.quarantine(DEVICE, Cause("too slow", FIRST_NIGHT), "rule", FIRST_NIGHT + HOUR)
    found = waiting(world)[CPU]
    assert ((("cpu of bench-1", FIRST_NIGHT + HOUR),), 0) == (found.quarantined, found.ready)

    world.store.devices.looked(Device("bench-2", "cpu", CPU), "", FIRST_NIGHT)
    assert 1 == waiting(world)[CPU].ready

    world.store.devices.release(DEVICE, "ada", "mended", FIRST_NIGHT + HOUR)
    assert ((), 2) == (waiting(world)[CPU].quarantined, waiting(world)[CPU].ready)


def test_an_open_backfill_is_owed(world: World) -> None:
    backfill = replace(night(), kind=OccasionKind.BACKFILL, label="llama 0000")
    world.open(backfill, plan(0))

    assert [backfill] == [one.occasion for one in world.store.standing(world.now).occasions]


def test_messages_that_wait_and_that_were_given_up_lately_are_told_apart(world: World) -> None:
    outbox = world.store.outbox
    for number in range(3):
        outbox.put(f"k{number}", "webhook", {}, FIRST_NIGHT)
    first = outbox.claim(FIRST_NIGHT, HOUR)
    assert first is not None
    outbox.given_up(first, "it answered 400", FIRST_NIGHT + HOUR)
    second = outbox.claim(FIRST_NIGHT, HOUR)
    assert second is not None
    outbox.failed(second, "it answered 500", FIRST_NIGHT + HOUR)

    world.now = FIRST_NIGHT + 2 * HOUR
    told = [(one.count, one.reason, one.given_up) for one in world.store.standing(world.now).stuck]
    assert [(2, "it answered 500", False), (1, "it answered 400", True)] == told

    world.now = FIRST_NIGHT + 26 * HOUR
    assert [False] == [one.given_up for one in world.store.standing(world.now).stuck]


def test_a_message_that_failed_and_was_sent_then_is_not_given_up(world: World) -> None:
    world.store.outbox.put("k", "webhook", {}, FIRST_NIGHT)
    message = world.store.outbox.claim(FIRST_NIGHT, HOUR)
    assert message is not None
    world.store.outbox.failed(message, "it answered 500", FIRST_NIGHT)
    world.store.outbox.sent(message, FIRST_NIGHT)

    assert () == world.store.standing(FIRST_NIGHT).stuck
