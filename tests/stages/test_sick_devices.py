"""Nights on a machine whose GPU is busy, hot, throttled, sick or gone: what becomes of the Run, and of the device."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gpu_world import GpuWorld, gpu_world
from nvml_stand_in import UUID, StandIn, one_gpu

from perfd.bench.look import look
from perfd.domain.device import Cause
from perfd.domain.run import FailureKind, RunState
from perfd.stages import device
from perfd.stages.flight import why_not_measured
from perfd.stages.measure import measure
from perfd.stages.quarantine import quarantine
from perfd.store import Store

MakeWorld = Callable[..., GpuWorld]


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with one_gpu(monkeypatch) as there:
        yield there
    device.named.cache_clear()


@pytest.fixture
def make_world(store: Store, tmp_path: Path, gpu: StandIn) -> MakeWorld:
    return lambda **limits: gpu_world(store, tmp_path, gpu, **limits)


@pytest.fixture
def world(make_world: MakeWorld) -> GpuWorld:
    return make_world()


def later(condition: Callable[[], bool], act: Callable[[], None]) -> threading.Thread:
    """`act` happens as soon as the condition holds."""

    def wait() -> None:
        end = time.monotonic() + 30
        while not condition() and time.monotonic() < end:
            time.sleep(0.05)
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_healthy_gpu_measures_its_night_and_that_is_a_good_check(world: GpuWorld) -> None:
    summary = world.finish(world.open())

    assert [RunState.DONE] == [run.state for run in summary.runs]
    assert ("ready", UUID) == (world.device.state, world.device.device.name)
    assert world.device.good_at is not None


REFUSED = {
    "hot": ({"temperature_c": 91}, "it has 91 °C and may have 85 before a Run"),
    "used by others": ({"process": os.getppid()}, "1 foreign process on it, and 0 may be"),
    "busy": ({"busy_percent": 64}, "it is busy for 64 % of the time and may be for 10"),
}


@pytest.mark.parametrize(("facts", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_device_that_is_not_fit_is_refused_and_its_run_waits(world: GpuWorld, facts: dict[str, int], sentence: str) -> None:
    occasion = world.built()
    world.gpu.is_now(**facts)

    assert not measure(world.context)
    run = world.run(occasion)
    assert (RunState.QUEUED, 0) == (run.state, run.attempts)
    assert sentence in world.device.refusal
    assert ", or raise " in world.device.refusal  # the remedy
    assert not measure(world.context)
    assert 1 == len([said for said in world.tell.said if "is refused" in said])

    world.gpu.heals()
    assert measure(world.context)
    assert RunState.DONE is world.run(occasion).state
    assert "ready" == world.device.state


def test_a_night_in_the_foreground_waits_for_a_device_that_cools_down(world: GpuWorld) -> None:
    occasion = world.built()
    world.gpu.is_now(temperature_c=99)
    cooling = later(lambda: any(row.refusal for row in world.store.devices.rows()), world.gpu.heals)

    assert [RunState.DONE] == [run.state for run in world.finish(occasion).runs]
    cooling.join()


def test_patience_ends_and_the_night_says_why_its_run_is_missing(make_world: MakeWorld) -> None:
    world = make_world(patience_minutes=0.0)
    world.gpu.is_now(temperature_c=99)
    (run,) = world.finish(world.open()).runs

    assert (RunState.FAILED, FailureKind.MISSING) == (run.state, run.failure)
    assert "was refused: it has 99 °C" in run.reason


def test_a_device_that_vanishes_in_a_run_is_quarantined_and_its_run_waits_for_a_sound_one(world: GpuWorld) -> None:
    occasion = world.built()
    vanishing = later(lambda: RunState.CLAIMED is world.run(occasion).state, lambda: world.gpu.is_now(lost=1))
    assert measure(world.context)
    vanishing.join()

    assert RunState.QUEUED is world.run(occasion).state
    found = world.device.quarantine
    assert found is not None
    assert "measure" == found.actor
    assert "the GPU is gone" in found.cause.reason
    assert world.run(occasion).key == found.cause.evidence["run"]
    assert "gpu_lost" in found.cause.evidence["after the Run"]
    assert "is in quarantine: the GPU is gone" in why_not_measured(world.context)


def test_a_night_on_a_sick_device_ends_and_says_why_its_run_is_missing(world: GpuWorld) -> None:
    world.gpu.is_now(ecc_uncorrected=2)
    (run,) = world.finish(world.open()).runs

    assert FailureKind.MISSING is run.failure
    assert "is in quarantine: the GPU's memory had 2 uncorrectable errors" in run.reason


@pytest.mark.parametrize("facts", [{"ecc_uncorrected": 2}, {"remapping_failed": 1}, {"lost": 1}])
def test_a_sick_device_is_found_before_a_run_and_measures_nothing_until_a_person_releases_it(
    world: GpuWorld, facts: dict[str, int]
) -> None:
    occasion = world.built()
    world.gpu.is_now(**facts)

    assert not measure(world.context)
    assert "quarantined" == world.device.state
    world.gpu.heals()
    assert not measure(world.context)

    world.store.devices.release(world.device.device, "ann", "replaced", world.context.now())
    assert measure(world.context)
    assert RunState.DONE is world.run(occasion).state


def test_a_throttled_run_is_no_result_and_three_in_a_row_quarantine_the_device(world: GpuWorld) -> None:
    world.gpu.is_now(throttle_bits=0x40)
    occasions = []
    for count in range(1, 4):
        occasions.append(world.built())
        assert measure(world.context)
        assert min(count, 3) == len(world.device.spoilt)

    assert all(world.run(one).state is not RunState.DONE for one in occasions)
    found = world.device.quarantine
    assert found is not None
    assert "it has spoilt 3 Runs in a row" in found.cause.reason
    assert 3 == len(found.cause.evidence["spoilt"])
    assert () == world.store.pages.series_rows()


def test_what_a_quarantine_made_void_is_measured_again_after_the_release(world: GpuWorld) -> None:
    first = world.finish(world.open())
    (lost,) = world.finish(world.open()).runs
    assert lost.started_at is not None
    cause = Cause("a person saw smoke", lost.started_at)
    opened = world.store.devices.quarantine(world.device.device, cause, "ann", world.context.now())
    assert opened is not None
    assert (lost.key,) == world.store.devices.voided(opened.id)
    assert not quarantine(world.context)  # no sound device of the class

    world.store.devices.release(world.device.device, "ann", "a new fan", world.context.now())
    assert quarantine(world.context)
    assert not quarantine(world.context)
    (again,) = [one for one in world.store.pages.nights(5) if one.occasion.label == f"again-{opened.id}"]
    assert [RunState.DONE] == [run.state for run in world.finish(again.occasion).runs]
    (row, *_) = world.store.pages.series_rows()
    points = world.store.judgements.history(row.info.id)
    assert [first.row.occasion.name, again.occasion.name] == [point.occasion for point in points]


def test_a_run_whose_device_a_person_takes_out_meanwhile_does_not_count(world: GpuWorld) -> None:
    occasion = world.built()
    here = device.measuring(world.context.config)[0].device

    def take_out() -> None:
        world.store.devices.quarantine(here, Cause("smoke", world.context.now()), "ann", world.context.now())

    person = later(lambda: RunState.CLAIMED is world.run(occasion).state, take_out)
    assert measure(world.context)
    person.join()

    assert RunState.QUEUED is world.run(occasion).state
    assert () == world.store.pages.series_rows()
    assert any("its device was quarantined while it ran: smoke" in said for said in world.tell.said)


def test_a_gpu_that_is_gone_says_so_and_a_cpu_has_no_such_fact(world: GpuWorld) -> None:
    bench = device.measuring(world.context.config)[0]
    world.gpu.is_now(lost=1)

    assert "gpu_lost" in look(bench.device, shares=False).facts
