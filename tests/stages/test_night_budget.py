"""A night is kept to its device minutes, and says what it did not begin."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from store_world import CPU, World, done, night, plan, planned_run, reduced, samples
from told_world import told_world

from perfd.domain.run import FailureKind, RunState
from perfd.domain.suite import Workload, WorkloadClass
from perfd.stages.context import Context
from perfd.stages.measure import measure
from perfd.stages.night_budget import keep_to_budget, spending
from perfd.store import Store


@pytest.fixture
def begun(store: Store, tmp_path: Path) -> tuple[World, Context]:
    """A night that may take ten minutes, and whose first of three Runs took twelve."""
    told = told_world(store, tmp_path)
    world, config = told.world, told.context.config
    context = replace(told.context, config=replace(config, schedule=replace(config.schedule, night_minutes=10.0)))
    workloads = [Workload("quick", f"w{number}", WorkloadClass.CHAT, {}, number, "") for number in range(3)]
    world.open(night(), plan(0, runs=[planned_run(workload=one) for one in workloads]))
    world.build()
    claimed = world.claim()
    results = done(world.now, samples(1.0))
    world.now += timedelta(minutes=12)
    store.runs.finish(claimed, results, reduced(results), world.now)
    return world, context


def ends(world: World) -> list[FailureKind | None]:
    return [run.failure for run in world.store.pages.occasion(night()).runs]


def test_a_night_whose_minutes_are_spent_begins_nothing_more(begun: tuple[World, Context]) -> None:
    world, context = begun

    keep_to_budget(context)

    assert [None, FailureKind.BUDGET, FailureKind.BUDGET] == ends(world)
    reason = f"the 10 device minutes of {night().name} on {CPU} are spent; raise schedule.night_minutes, or measure less"
    assert [reason] * 2 == [run.reason for run in world.store.pages.occasion(night()).runs if run.state is RunState.FAILED]


def test_a_run_that_is_being_measured_is_finished(begun: tuple[World, Context]) -> None:
    world, context = begun
    claimed = world.claim()

    keep_to_budget(context)

    assert [None, None, FailureKind.BUDGET] == ends(world)
    assert world.store.runs.heartbeat(claimed, world.now)


def test_the_measure_stage_keeps_to_it(begun: tuple[World, Context]) -> None:
    world, context = begun

    assert not measure(context)

    assert FailureKind.BUDGET in ends(world)


def test_the_report_tells_what_was_spent_and_how_busy_devices_were(begun: tuple[World, Context]) -> None:
    world, context = begun
    keep_to_budget(context)

    told = spending(context, world.store.pages.occasion(night()))

    assert (10.0, {CPU: 12.0}, 2) == (told["minutes_a_device_class"], told["spent_minutes"], told["not_begun"])
    (device,) = told["devices"]
    assert ("bench-1", "cpu", 1) == (device["host"], device["device"], device["runs"])
    assert 12 / 13 == pytest.approx(device["busy"], abs=0.001)  # the world's clock shows a minute after the Run's end
