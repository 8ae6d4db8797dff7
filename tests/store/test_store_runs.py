from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import text
from store_world import (
    CHAT,
    CPU,
    FIRST_NIGHT,
    LEASE,
    MODEL,
    WORKER,
    World,
    comparison,
    done,
    night,
    plan,
    planned_run,
    reduced,
    samples,
    spec,
)

from perfd.domain.build import BuildState
from perfd.domain.environment import Device, Environment
from perfd.domain.metric import Better
from perfd.domain.occasion import Occasion
from perfd.domain.results import MetricSamples, Results
from perfd.domain.run import FailureKind, OccasionKind, RunState
from perfd.domain.suite import Workload, WorkloadClass
from perfd.store import Store
from perfd.store.records import Written


def rows(store: Store, table: str) -> int:
    with store.engine.begin() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())  # noqa: S608  # our own names


def test_a_run_is_claimed_only_when_its_build_is_built_and_its_device_fits(world: World) -> None:
    world.open(night(), plan(0))

    assert world.store.runs.claim(CPU, WORKER, world.now, LEASE) is None
    world.build()
    assert world.store.runs.claim("gpu:h200", WORKER, world.now, LEASE) is None
    claimed = world.claim()
    assert (spec(0), CHAT, MODEL, night(), 1) == (
        claimed.spec,
        claimed.workload,
        claimed.model,
        claimed.occasion,
        claimed.attempts,
    )
    assert world.store.runs.claim(CPU, WORKER, world.now, LEASE) is None


def test_concurrent_workers_never_claim_a_run_twice(world: World) -> None:
    workloads = [Workload("quick", f"w{n}", WorkloadClass.CHAT, {}, n, "") for n in range(60)]
    world.open(night(), plan(0, runs=[planned_run(workload=one) for one in workloads]))
    world.build()

    def work(number: int) -> list[int]:
        mine = []
        while claimed := world.store.runs.claim(CPU, f"h:{number}:1", world.now, LEASE):
            mine.append(claimed.id)
        return mine

    with ThreadPoolExecutor(4) as pool:
        claimed = [run for mine in pool.map(work, range(4)) for run in mine]

    assert 60 == len(claimed) == len(set(claimed))


def test_concurrent_builders_never_claim_a_build_twice(world: World) -> None:
    world.open(night(), plan(*range(30)))

    def work(number: int) -> list[int]:
        mine = []
        while claimed := world.store.builds.claim(f"h:{number}:1", world.now, LEASE):
            mine.append(claimed.id)
        return mine

    with ThreadPoolExecutor(4) as pool:
        claimed = [build for mine in pool.map(work, range(4)) for build in mine]

    assert 30 == len(claimed) == len(set(claimed))


def test_the_same_results_twice_change_nothing(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    claimed = world.claim()
    results = done(world.now, samples(1.0, 2.0, 3.0), samples(5.0, name="ready_s"))

    assert Written.STORED == world.store.runs.finish(claimed, results, reduced(results), world.now)
    before = [rows(world.store, table) for table in ("sample", "point", "series", "environment", "device_state", "metric")]
    assert Written.ALREADY == world.store.runs.finish(claimed, results, reduced(results), world.now)
    assert before == [
        rows(world.store, table) for table in ("sample", "point", "series", "environment", "device_state", "metric")
    ]
    assert [4, 2, 2, 1, 2, 2] == before


def test_a_stale_worker_is_refused_and_writes_nothing(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    slow = world.claim()
    later = world.now + LEASE + timedelta(seconds=1)
    world.store.runs.requeue_lapsed(later, lambda _: False)
    quick = world.store.runs.claim(CPU, "bench-2:7:7", later, LEASE)
    assert quick is not None
    results = done(world.now, samples(1.0))

    assert not world.store.runs.heartbeat(slow, later + LEASE)
    assert Written.STALE == world.store.runs.finish(slow, results, reduced(results), later)
    assert 0 == rows(world.store, "sample")
    assert world.store.runs.heartbeat(quick, later + LEASE)
    fresh = done(later, samples(2.0))
    assert Written.STORED == world.store.runs.finish(quick, fresh, reduced(fresh), later)
    assert Written.STALE == world.store.runs.finish(slow, results, reduced(results), later)


@pytest.mark.parametrize(
    ("measured", "why"),
    [
        (MetricSamples("ttft_s", "ms", Better.LOWER, (1.0,)), "ttft_s came in ms (lower is better), and is stored in s"),
        (MetricSamples("ttft_s", "s", Better.HIGHER, (1.0,)), "ttft_s came in s (higher is better), and is stored in s (lower"),
        (MetricSamples("x" * 5000, "s", Better.LOWER, (1.0,)), "a Metric has a name of 5000 characters"),
    ],
)
def test_results_that_cannot_be_stored_fail_the_run_and_leave_no_trace(world: World, measured: MetricSamples, why: str) -> None:
    world.measured_night(1.0, 2.0)
    world.open(night(1), plan(1))
    world.build()
    odd = done(world.now, samples(1.0, name="itl_s"), measured)

    assert Written.REFUSED == world.store.runs.finish(world.claim(), odd, {}, world.now)
    [run] = world.store.pages.occasion(night(1)).runs
    assert FailureKind.NONSENSE == run.failure
    assert why in run.reason
    assert (2, 1, 1) == (rows(world.store, "sample"), rows(world.store, "metric"), rows(world.store, "point"))


def test_hostile_names_and_numbers_are_stored_as_text(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    claimed = world.claim()
    environment = Environment(Device("h\x00", "cpu\ud800", CPU), {"a\x00": "b\x00"}, "p\x00", {"k": "\udfff"})
    results = done(world.now, samples(1.0, name="n\x00"), environment=environment, extra={"infinite": float("inf")})

    assert Written.STORED == world.store.runs.finish(claimed, results, {}, world.now)
    assert Written.ALREADY == world.store.runs.finish(claimed, results, {}, world.now)
    page = world.store.pages.run_page(claimed.key)
    assert page is not None
    assert page.environment is not None
    assert ("h\N{SYMBOL FOR NULL}", "cpu?") == (page.environment.device.host, page.environment.device.name)
    assert {"infinite": "inf"} == page.extra


def test_a_dead_worker_of_this_host_loses_its_run_at_once(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    world.claim()

    assert 0 == world.store.runs.requeue_lapsed(world.now, lambda _: False)
    assert 1 == world.store.runs.requeue_lapsed(world.now, lambda name: name == WORKER)
    assert 2 == world.claim().attempts


def test_a_run_whose_worker_died_three_times_is_lost(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    for _ in range(3):
        world.claim()
        world.store.runs.requeue_lapsed(world.now, lambda _: True)

    assert [FailureKind.LOST] == [run.failure for run in world.store.pages.occasion(night()).runs]


def test_a_run_that_is_put_back_waits_and_is_failed_in_the_end(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    moment = world.now
    for _ in range(2):
        claimed = world.store.runs.claim(CPU, WORKER, moment, LEASE)
        assert claimed is not None
        assert world.store.runs.put_back(claimed, "the disk was full", moment + timedelta(minutes=5), moment)
        assert world.store.runs.claim(CPU, WORKER, moment, LEASE) is None
        moment += timedelta(minutes=5)
    last = world.store.runs.claim(CPU, WORKER, moment, LEASE)
    assert last is not None
    assert world.store.runs.put_back(last, "the disk was full", moment, moment)

    assert [(FailureKind.HARNESS, "the disk was full (3 tries)")] == [
        (run.failure, run.reason) for run in world.store.pages.occasion(night()).runs
    ]


def test_what_nobody_measured_is_missing_and_what_is_claimed_is_left(world: World) -> None:
    world.open(night(), plan(0, 1))
    world.build()
    claimed = world.claim()

    assert 1 == world.store.runs.close_missing(night(), "no worker came", world.now)
    assert {RunState.CLAIMED: 1, RunState.FAILED: 1} == {state: n for state, n in world.store.runs.counts(night()).items() if n}
    assert 1 == world.store.runs.unfinished(night())
    assert 1 == world.store.pages.occasion(night()).row.missing
    assert world.store.runs.heartbeat(claimed, world.now + LEASE)


def test_runs_of_comparisons_keep_samples_and_enter_no_series(world: World) -> None:
    compare = world.open(Occasion(OccasionKind.COMPARE, FIRST_NIGHT, "a..b"), comparison(2))
    world.build()
    world.build()
    for value in (1.0, 2.0):
        results = done(world.now, samples(value, value))
        assert Written.STORED == world.store.runs.finish(world.claim(), results, reduced(results), world.now)

    blocks = world.store.pages.blocks(compare)

    assert 0 == rows(world.store, "point")
    assert [("base", (1.0, 1.0)), ("head", (2.0, 2.0))] == [(one.run.arm.value, one.samples[0].values) for one in blocks]
    assert 1 == len({one.hardware_hash for one in blocks})


def test_a_failed_run_keeps_its_reason_and_log_whatever_the_engine_printed(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    claimed = world.claim()
    results = Results(
        RunState.FAILED,
        (),
        world.now,
        world.now,
        None,
        failure=FailureKind.DIED,
        reason="it\x00 died",
        log_tail="a\ud800b\x00",
        extra={"k\x00": ["\x00"]},
    )

    assert Written.STORED == world.store.runs.finish(claimed, results, {}, world.now)
    page = world.store.pages.run_page(claimed.key)
    assert page is not None
    assert ("it\N{SYMBOL FOR NULL} died", "a?b\N{SYMBOL FOR NULL}") == (page.run.reason, page.log_tail)
    assert {"k\N{SYMBOL FOR NULL}": ["\N{SYMBOL FOR NULL}"]} == page.extra


def test_a_void_run_keeps_its_samples_and_gives_no_point(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    claimed = world.claim()
    environment = Environment(Device("bench-1", "cpu", CPU), {}, "unknown", {})
    results = Results(
        RunState.VOID, (samples(1.0),), world.now, world.now, environment, failure=FailureKind.DEVICE, reason="throttled"
    )

    assert Written.STORED == world.store.runs.finish(claimed, results, {"ttft_s": reduced(results)["ttft_s"]}, world.now)
    assert (1, 0) == (rows(world.store, "sample"), rows(world.store, "point"))


def test_samples_land_in_the_partition_of_their_month(world: World) -> None:
    for day in (10, 41):
        world.nights = day
        world.measured_night(1.0, 2.0, 3.0)

    assert (3, 3) == (rows(world.store, "sample_2026_11"), rows(world.store, "sample_2026_12"))
    assert 6 == rows(world.store, "sample")


def test_two_writers_that_need_the_same_new_month_both_get_it(world: World) -> None:
    workloads = [Workload("quick", f"w{n}", WorkloadClass.CHAT, {}, n, "") for n in range(8)]
    world.open(night(), plan(0, runs=[planned_run(workload=one) for one in workloads]))
    world.build()
    claims = [world.claim() for _ in workloads]
    results = done(world.now, samples(*range(100)))

    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(lambda claimed: world.store.runs.finish(claimed, results, reduced(results), world.now), claims))

    assert [Written.STORED] * 8 == written
    assert 800 == rows(world.store, "sample_2026_11")


def test_writers_of_the_same_new_metrics_never_wait_in_a_circle(world: World) -> None:
    workloads = [Workload("quick", f"w{n}", WorkloadClass.CHAT, {}, n, "") for n in range(8)]
    world.open(night(), plan(0, runs=[planned_run(workload=one) for one in workloads]))
    world.build()
    names = [f"metric_{n}" for n in range(12)]
    claims = [world.claim() for _ in workloads]

    def finish(place: int) -> Written:
        order = names if place % 2 else names[::-1]
        return world.store.runs.finish(claims[place], done(world.now, *(samples(1.0, name=one) for one in order)), {}, world.now)

    with ThreadPoolExecutor(4) as pool:
        assert [Written.STORED] * 8 == list(pool.map(finish, range(8)))


def test_a_run_from_no_sensible_year_is_refused(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    old = done(world.now.replace(year=1066), samples(1.0))

    assert Written.REFUSED == world.store.runs.finish(world.claim(), old, reduced(old), world.now)
    assert "1066-11-20" in world.store.pages.occasion(night()).runs[0].reason


def test_twenty_thousand_samples_come_back_as_they_were(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    claimed = world.claim()
    values = tuple(n / 7 for n in range(20_000))
    results = done(world.now, samples(*values), samples(*reversed(values), name="itl_s"))
    world.store.runs.finish(claimed, results, reduced(results), world.now)

    page = world.store.pages.run_page(claimed.key)

    assert page is not None
    assert {"ttft_s": values, "itl_s": values[::-1]} == {one.name: one.values for one in page.samples}
    assert BuildState.BUILT == world.store.builds.state(spec(0).digest)
