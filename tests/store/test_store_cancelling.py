"""What is not measured any more ends with its reason, and stands in its report."""

from datetime import timedelta

from sqlalchemy import select
from store_world import CPU, FIRST_NIGHT, World, comparison, done, night, plan, planned_run, reduced, samples

from perfd.domain.build import BuildState
from perfd.domain.occasion import Occasion
from perfd.domain.run import FailureKind, OccasionKind, RunState
from perfd.store import tables

PULL = Occasion(OccasionKind.COMPARE, FIRST_NIGHT, "llama@0..1")


def ends(world: World, occasion: Occasion) -> list[tuple[str, str | None]]:
    run = tables.run.c
    asked = select(run.state, run.failure).join(tables.occasion).where(tables.occasion.c.name == occasion.name).order_by(run.id)
    with world.store.engine.begin() as connection:
        return [(row.state, row.failure) for row in connection.execute(asked)]


SUPERSEDED = (RunState.FAILED.value, FailureKind.SUPERSEDED.value)


def test_an_overtaken_night_ends_what_nobody_has_claimed(world: World) -> None:
    world.open(night(0), plan(0))
    world.open(night(1), plan(1))

    assert {night(0).name: 1} == world.store.cancelling.overtaken(world.now)

    assert [SUPERSEDED] == ends(world, night(0))
    assert [(RunState.QUEUED, None)] == ends(world, night(1))
    (lost,) = world.store.pages.occasion(night(0)).runs
    assert f"{night(1).name} began before anybody measured it" == lost.reason
    assert {} == world.store.cancelling.overtaken(world.now)


def test_a_run_that_is_being_measured_is_not_cancelled(world: World) -> None:
    world.open(night(0), plan(0))
    world.build()
    claimed = world.claim()
    world.open(night(1), plan(1))

    assert {} == world.store.cancelling.overtaken(world.now)
    results = done(world.now, samples(1.0))
    world.store.runs.finish(claimed, results, reduced(results), world.now)

    assert [(RunState.DONE, None)] == ends(world, night(0))


def test_a_night_of_another_label_overtakes_nothing(world: World) -> None:
    world.open(night(0), plan(0))
    world.open(Occasion(OccasionKind.NIGHT, night(1).nominal_at, "llama"), plan(0))

    assert {} == world.store.cancelling.overtaken(world.now)


def test_a_clock_that_was_set_back_does_not_let_an_old_night_overtake_the_new_ones(world: World) -> None:
    world.open(night(300), plan(0))  # opened by a clock that had jumped ahead
    world.open(night(1), plan(1))

    assert {night(300).name: 1} == world.store.cancelling.overtaken(world.now)
    assert [(RunState.QUEUED, None)] == ends(world, night(1))


def test_a_build_that_only_superseded_work_waits_for_is_not_made(world: World) -> None:
    world.open(night(0), plan(0))
    world.open(PULL, comparison(4))

    assert 4 == world.store.cancelling.supersede(PULL, "a newer head was pushed", world.now)

    assert BuildState.QUEUED == world.store.builds.state(plan(0).builds[0].spec.digest)  # the night needs it
    assert BuildState.FAILED == world.store.builds.state(plan(1).builds[0].spec.digest)
    assert [SUPERSEDED] * 4 == ends(world, PULL)
    page = world.store.pages.occasion(PULL)
    assert ["cancelled: a newer head was pushed"] == [one.log_tail for one in page.builds if one.state is BuildState.FAILED]
    world.open(night(1), plan(1))
    assert BuildState.QUEUED == world.store.builds.state(plan(1).builds[0].spec.digest)  # planned again, it is made after all


def test_a_device_class_whose_minutes_are_spent_begins_nothing_more(world: World) -> None:
    world.open(night(0), plan(0, runs=[planned_run(), planned_run(device_class="gpu:h200")]))

    assert 1 == world.store.cancelling.over_budget(night(0), CPU, "the minutes are spent", world.now)

    assert [(RunState.FAILED, FailureKind.BUDGET), (RunState.QUEUED, None)] == ends(world, night(0))


def test_the_busy_share_of_a_device_is_that_of_the_span(world: World) -> None:
    world.measured_night(1.0)  # its Run lasts from FIRST_NIGHT to world.now, which stands still
    run = tables.run.c
    with world.store.engine.begin() as connection:
        connection.execute(tables.run.update().values(finished_at=run.started_at + timedelta(minutes=15)))

    (whole,) = world.store.usage.devices(FIRST_NIGHT, FIRST_NIGHT + timedelta(hours=1))
    (half,) = world.store.usage.devices(FIRST_NIGHT + timedelta(minutes=5), FIRST_NIGHT + timedelta(minutes=25))

    assert ("bench-1", "cpu", CPU, 1, 0.25) == (whole.host, whole.name, whole.device_class, whole.runs, whole.busy)
    assert 0.5 == half.busy
    assert () == world.store.usage.devices(FIRST_NIGHT + timedelta(hours=1), FIRST_NIGHT + timedelta(hours=2))
    assert {CPU: 900.0} == dict(world.store.usage.spent_s(night(0), FIRST_NIGHT))
