"""In which order work is taken, and who may take it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest
from sqlalchemy import update
from store_world import CPU, FIRST_NIGHT, LEASE, WORKER, World, comparison, done, night, plan, planned_run, reduced, samples

from perfd import HARNESS_VERSION
from perfd.domain.environment import Device, Environment
from perfd.domain.occasion import Occasion
from perfd.domain.run import Arm, OccasionKind
from perfd.store import tables
from perfd.store.records import ClaimedRun

HOUR = timedelta(hours=1)
CHECKPOINT = Occasion(OccasionKind.CHECKPOINT, FIRST_NIGHT, "smol on llama day 7")
BACKFILL = Occasion(OccasionKind.BACKFILL, FIRST_NIGHT, "llama 0a1b2c")
COMPARISON = Occasion(OccasionKind.COMPARE, FIRST_NIGHT, "llama@0..1")


def taken(world: World, *occasions: Occasion) -> list[OccasionKind]:
    """Kinds of the occasions whose Runs are claimed, one after the other."""
    return [world.claim().occasion.kind for _ in occasions]


def test_a_checkpoint_is_measured_before_the_night_that_was_queued_earlier(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    world.now += HOUR
    world.open(CHECKPOINT, plan(0))

    assert [OccasionKind.CHECKPOINT, OccasionKind.NIGHT] == taken(world, CHECKPOINT, night())


@pytest.mark.parametrize(("hours", "first"), [(11, OccasionKind.NIGHT), (13, OccasionKind.BACKFILL)])
def test_a_backfill_waits_for_nights_only_so_long(world: World, hours: int, first: OccasionKind) -> None:
    world.open(BACKFILL, plan(0))
    world.build()
    world.now += hours * HOUR
    world.open(night(), plan(0))

    assert first is world.claim().occasion.kind


def test_a_build_has_the_place_of_the_most_urgent_occasion_that_needs_it(world: World) -> None:
    world.open(night(), plan(0, 1))
    world.open(CHECKPOINT, plan(1))

    assert [1, 0] == [int(world.build().spec.revision, 16) for _ in range(2)]


def test_base_is_built_before_head(world: World) -> None:
    world.open(COMPARISON, comparison(4))

    assert [0, 1] == [int(world.build().spec.revision, 16) for _ in range(2)]


def test_a_block_that_was_begun_is_finished_before_something_more_urgent(world: World) -> None:
    world.open(COMPARISON, comparison(8))
    world.build()
    world.build()
    finish(world, world.claim())
    world.open(CHECKPOINT, plan(0))

    order = []
    for _ in range(5):
        claimed = world.claim()
        order.append((claimed.occasion.kind, claimed.block))
        finish(world, claimed)

    compare, checkpoint = OccasionKind.COMPARE, OccasionKind.CHECKPOINT
    assert [(compare, 1), (compare, 2), (compare, 3), (checkpoint, 0), (compare, 4)] == order


def finish(world: World, claimed: ClaimedRun, host: str = "bench-1") -> None:
    where = Environment(Device(host, "cpu", CPU), {"cpu": "x"}, "performance", {})
    results = done(world.now, samples(1.0, 1.1), environment=where)
    world.store.runs.finish(claimed, results, reduced(results), world.now)


def test_a_block_stays_on_the_device_that_began_it(world: World) -> None:
    world.open(COMPARISON, comparison(8))
    world.build()
    world.build()
    finish(world, world.claim(), "bench-1")

    here, there = Device("bench-1", "cpu", CPU), Device("bench-2", "cpu", CPU)
    elsewhere = world.store.runs.claim(CPU, "bench-2:1:1", world.now, LEASE, device=there)
    assert elsewhere is not None
    assert 4 == elsewhere.block  # the next block may be measured elsewhere
    assert world.store.runs.claim(CPU, "bench-2:2:2", world.now, LEASE, device=there) is None  # another worker is at it
    assert world.store.runs.claim(CPU, WORKER, world.now, LEASE, device=Device("bench-1", "gpu", CPU)) is None
    claimed = world.store.runs.claim(CPU, WORKER, world.now, LEASE, device=here)
    assert claimed is not None
    assert (1, Arm.HEAD) == (claimed.block, claimed.arm)


def planned_by(world: World, occasion: Occasion, version: str) -> None:
    with world.store.engine.begin() as connection:
        changed = update(tables.occasion).where(tables.occasion.c.name == occasion.name)
        connection.execute(changed.values(harness=version))


def newer() -> str:
    major, *rest = HARNESS_VERSION.split(".")
    return ".".join([str(int(major) + 1), *rest])


@pytest.mark.parametrize("version", ["", "0.0.9", HARNESS_VERSION])
def test_a_worker_measures_what_perfds_up_to_its_own_version_planned(world: World, version: str) -> None:
    world.open(night(), plan(0))
    world.build()
    planned_by(world, night(), version)

    assert {} == world.store.runs.for_newer()
    assert world.claim()


def test_a_worker_leaves_alone_what_a_newer_perfd_planned(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    planned_by(world, night(), newer())

    assert world.store.runs.claim(CPU, WORKER, world.now, LEASE) is None
    assert {newer(): 1} == world.store.runs.for_newer()


def test_a_plan_says_which_perfd_wrote_it(world: World) -> None:
    world.open(night(), plan(0))

    with world.store.engine.begin() as connection:
        assert HARNESS_VERSION == connection.execute(tables.occasion.select()).one().harness


def tries(world: World) -> Sequence[Mapping[str, str]]:
    (run,) = world.store.pages.occasion(night()).runs
    page = world.store.pages.run_page(run.key)
    assert page is not None
    return page.tries


def test_every_try_without_a_result_is_remembered(world: World) -> None:
    world.open(night(), plan(0, runs=[planned_run()]))
    world.build()
    world.claim()
    world.now += timedelta(seconds=40)
    world.store.runs.requeue_lapsed(world.now, lambda _: True)
    world.store.runs.put_back(world.claim(), "the GPU is at 91 degrees", world.now, world.now)

    assert [("lost", WORKER), ("harness", WORKER)] == [(one["failure"], one["by"]) for one in tries(world)]
    assert "the GPU is at 91 degrees" == tries(world)[1]["reason"]
    assert {CPU: 40.0} == dict(world.store.usage.spent_s(night(), world.now))


def test_a_try_that_a_person_stopped_is_not_counted(world: World) -> None:
    world.open(night(), plan(0, runs=[planned_run()]))
    world.build()

    world.store.runs.give_back(world.claim())

    assert () == tries(world)
    assert 1 == world.claim().attempts
