"""Devices in the database: refused, quarantined, released; what they measured meanwhile is void and stays there to be read."""

from datetime import timedelta

import pytest
from store_world import CPU, FIRST_NIGHT, World, done, night, plan, reduced, samples

from perfd.domain.device import Cause, Spoilt
from perfd.domain.environment import Device
from perfd.domain.run import FailureKind, OccasionKind, RunState
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Judgement, Outcome, RegressionState, Verdict
from perfd.store import Store

HERE = Device("bench-1", "cpu", CPU)
CAUSE = Cause("it fell ill", FIRST_NIGHT + timedelta(days=2), {"gpu_xids": [79]})


@pytest.fixture
def world(store: Store) -> World:
    """Four nights of one Series; the last two were finished after the cause."""
    made = World(store)
    for value in (1.0, 1.0, 1.3, 1.3):
        made.measured_night(value, value)
    return made


def values(store: Store) -> list[float]:
    (row,) = store.pages.series_rows()
    return list(row.values)


def test_a_refusal_keeps_the_time_of_its_first_look_and_ends_with_a_good_one(store: Store) -> None:
    first = store.devices.looked(HERE, "it is hot", FIRST_NIGHT)
    second = store.devices.looked(HERE, "it is still hot", FIRST_NIGHT + timedelta(minutes=5))
    third = store.devices.looked(HERE, "", FIRST_NIGHT + timedelta(minutes=9))

    assert ("refused", FIRST_NIGHT) == (first.state, second.refused_since)
    assert "it is still hot" == second.refusal
    assert ("ready", None) == (third.state, third.refused_since)


def test_a_refusal_after_a_long_pause_is_a_new_one(store: Store) -> None:
    store.devices.looked(HERE, "it is hot", FIRST_NIGHT)
    tomorrow = FIRST_NIGHT + timedelta(days=1)

    assert tomorrow == store.devices.looked(HERE, "it is hot", tomorrow).refused_since


def test_spoilt_runs_are_counted_once_each_and_forgotten_after_a_good_one(store: Store) -> None:
    spoilt = Spoilt("a" * 64, FIRST_NIGHT, "throttled")
    store.devices.spoilt(HERE, spoilt)

    assert 1 == len(store.devices.spoilt(HERE, spoilt).spoilt)

    store.devices.good(HERE, FIRST_NIGHT + timedelta(hours=1))
    (row,) = store.devices.rows()
    assert ((), FIRST_NIGHT + timedelta(hours=1)) == (row.spoilt, row.good_at)


def test_what_a_device_finished_since_its_last_good_check_is_void_and_leaves_its_series(world: World) -> None:
    store = world.store
    opened = store.devices.quarantine(HERE, CAUSE, "measure", world.now)

    assert opened is not None
    assert (2, {"gpu_xids": [79]}) == (opened.voided, opened.cause.evidence)
    assert [1.0, 1.0] == values(store)
    (series,) = store.pages.series_rows()
    assert 2 == len(store.judgements.history(series.info.id))
    for key in store.devices.voided(opened.id):
        page = store.pages.run_page(key)
        assert page is not None
        assert (RunState.VOID, FailureKind.DEVICE, {}) == (page.run.state, page.run.failure, page.points)
        assert "its device was quarantined later: it fell ill" == page.run.reason
        assert (1.3, 1.3) == page.samples[0].values


def test_a_series_that_has_no_point_left_is_listed_no_more(world: World) -> None:
    world.store.devices.quarantine(HERE, Cause("all of it", FIRST_NIGHT), "ann", world.now)

    assert () == world.store.pages.series_rows()


def test_a_device_is_in_one_quarantine_at_a_time_whatever_its_class(world: World) -> None:
    store = world.store
    other_class = Device(HERE.host, HERE.name, "cpu:x:t2")
    store.devices.quarantine(HERE, CAUSE, "measure", world.now)

    assert store.devices.quarantine(other_class, CAUSE, "ann", world.now) is None
    assert {"quarantined"} == {row.state for row in (store.devices.looked(other_class, "", world.now), *store.devices.rows())}


def test_a_person_releases_a_device_and_what_was_void_stays_void(world: World) -> None:
    store = world.store
    store.devices.quarantine(HERE, CAUSE, "measure", world.now)
    ended = store.devices.release(HERE, "ann", "the fan was replaced", world.now)

    assert ended is not None
    assert ended.released is not None
    assert ("ann", "the fan was replaced") == (ended.released.actor, ended.released.reason)
    assert ["ready"] == [row.state for row in store.devices.rows()]
    assert [1.0, 1.0] == values(store)
    assert store.devices.release(HERE, "ann", "again", world.now) is None
    assert [ended] == list(store.devices.quarantines(HERE))


def test_a_change_on_void_runs_is_gone_and_its_regression_says_why(world: World) -> None:
    store = world.store
    (series,) = store.pages.series_rows()
    points = store.judgements.history(series.info.id)
    step = Change(2, ChangeKind.STEP, ChangeStatus.DETECTED, 1.0, 1.3, 0.3, (0.2, 0.4), 0.001)
    verdict = Verdict(Outcome.WORSE, "slower", "test 1", 4, 0.3, (0.2, 0.4))
    store.judgements.write(series.info.id, night(3), points, Judgement(verdict, (step,)), world.now)
    (change,) = store.judgements.changes(series.info.id)
    number = store.regressions.open(night(3), [change.id], "slower", actor="judge", reason="seen", now=world.now)

    store.devices.quarantine(HERE, CAUSE, "measure", world.now)

    assert () == store.judgements.changes(series.info.id)
    assert number is not None
    found = store.regressions.read(number)
    assert found is not None
    assert (RegressionState.DETECTED, "quarantine") == (found.state, found.events[-1].actor)
    assert "void now: it fell ill" in found.events[-1].reason
    (member,) = found.members  # it is still told what it was about
    assert (2, world.now) == (member[1].ordinal, member[1].gone_at)


def test_what_nights_lost_is_owed_until_it_is_planned_again(world: World) -> None:
    store = world.store
    opened = store.devices.quarantine(HERE, CAUSE, "measure", world.now)
    assert opened is not None

    assert [opened.id] == [one.id for one in store.devices.owed([CPU])]
    assert () == store.devices.owed(["another class"])

    occasion = world.open(night(9), plan(2, 3))
    assert store.devices.again(opened.id, occasion)
    assert not store.devices.again(opened.id, occasion)
    assert () == store.devices.owed([CPU])
    assert occasion.name == store.devices.quarantines(HERE)[0].again


def test_a_night_that_is_measured_again_fills_its_place_in_the_series(world: World) -> None:
    store = world.store
    store.devices.quarantine(HERE, CAUSE, "measure", world.now)
    world.nights = 5
    world.measured_night(1.01, number=2)

    assert [1.0, 1.0, 1.01] == values(store)
    assert OccasionKind.NIGHT.enters_series


def test_results_that_come_twice_do_not_bring_a_void_run_back(world: World) -> None:
    store = world.store
    world.open(night(8), plan(8))
    world.build()
    claimed = world.claim()
    results = done(world.now + timedelta(days=9), samples(1.0))
    store.runs.finish(claimed, results, reduced(results), results.finished_at)
    store.devices.quarantine(HERE, CAUSE, "ann", results.finished_at)
    store.runs.finish(claimed, results, reduced(results), results.finished_at)

    page = store.pages.run_page(claimed.key)
    assert page is not None
    assert RunState.VOID is page.run.state
