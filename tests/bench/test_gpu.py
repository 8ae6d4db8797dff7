"""GPUs through the real nvidia-ml-py, over a stand-in for the driver's library: no GPU was ever asked by these tests."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from nvml_stand_in import NAME, UUID, StandIn

from perfd.bench import gpu, machine
from perfd.bench.runner import run_child
from perfd.bench.watcher import Watcher
from perfd.domain.environment import Device
from perfd.domain.health import why_sick
from perfd.domain.job import Job
from perfd.domain.run import FailureKind, RunState
from perfd.errors import BadInputError

GPU = Device("here", UUID, f"gpu:{NAME}")
LONG = {"requests": 100_000, "concurrency": 1, "prompt_tokens": 16, "output_tokens": 64}
JobMaker = Callable[..., Job]


@pytest.mark.usefixtures("one_gpu_here")
def test_a_gpu_has_its_identity_in_the_environment() -> None:
    device = machine.device("0", 1)
    environment = machine.environment(device, {}, 1)

    assert (UUID, f"gpu:{NAME}") == (device.name, device.device_class)
    assert {"gpu": NAME, "gpu_memory_gib": "141", "gpu_ecc": "on", "gpu_mig": "off", "gpu_power_limit_w": "700"}.items() <= (
        environment.hardware.items()
    )
    assert {
        "gpu_driver": "580.65.06",
        "gpu_vbios": "96.00.CF.00.01",
        "cuda_driver": "13.1",
    }.items() <= environment.software.items()
    assert "boost" == environment.clock_policy


def test_a_look_tells_clocks_power_heat_errors_and_neighbours(one_gpu_here: StandIn) -> None:
    one_gpu_here.is_now(process=os.getppid(), throttle_bits=0x44, temperature_c=71)
    watching = Watcher(GPU)
    watching.look()

    (seen,) = watching.states
    wanted = {
        "sm_clock_mhz": 1980,
        "gpu_power_w": 120.0,
        "gpu_power_limit_w": 700.0,
        "gpu_temperature_c": 71,
        "throttle_reasons": ["sw_power_cap", "hw_thermal_slowdown"],
        "gpu_ecc_uncorrected": 0,
        "gpu_retired_pages": 0,
        "gpu_rows_remapped": 1,
        "gpu_remapping_failed": False,
        "other_gpu_processes": 1,
    }
    assert wanted.items() <= seen.facts.items()


def test_what_a_gpu_does_not_tell_is_left_out(one_gpu_here: StandIn) -> None:
    del one_gpu_here.state["ecc_uncorrected"]
    del one_gpu_here.state["retired_pages"]
    one_gpu_here.is_now()
    card = gpu.require("0")

    assert set() == {"gpu_ecc_uncorrected", "gpu_retired_pages"} & set(gpu.state(card, frozenset()))


def test_a_critical_error_is_told_once_and_only_while_somebody_listens(one_gpu_here: StandIn) -> None:
    watching = Watcher(GPU)
    one_gpu_here.is_now(xid=79)
    watching.look()
    watching.look()

    assert [[79], None] == [state.facts.get("gpu_xids") for state in watching.states]
    assert "Xid 79" in watching.why_void()


def test_a_critical_error_of_the_program_does_not_make_the_gpu_sick(one_gpu_here: StandIn) -> None:
    watching = Watcher(GPU)
    one_gpu_here.is_now(xid=31)
    watching.look()

    assert [31] == watching.states[0].facts["gpu_xids"]
    assert "" == why_sick(watching.states)


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        ({"lost": 1}, "fallen off the bus"),
        ({"ecc_uncorrected": 3}, "3 uncorrectable errors"),
        ({"remapping_failed": 1}, "faulty row"),
    ],
)
def test_a_gpu_that_fails_is_sick_and_says_what_to_do(one_gpu_here: StandIn, facts: dict[str, int], word: str) -> None:
    watching = Watcher(GPU)
    one_gpu_here.is_now(**facts)
    watching.look()

    told = why_sick(watching.states)
    assert word in told
    assert told.endswith(("replace it", "restart the machine"))


def test_a_gpu_that_is_lost_is_not_there_to_be_named(one_gpu_here: StandIn) -> None:
    one_gpu_here.is_now(lost=1)

    with pytest.raises(BadInputError, match="no GPU '0' on this machine"):
        machine.device("0", 1)


@contextmanager
def when_measuring(job: Job, act: Callable[[], None]) -> Iterator[None]:
    """`act` happens once the engine has answered for a while."""

    def wait() -> None:
        end = time.monotonic() + 20
        while not (job.work / "engine.log").exists() and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.5)
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    yield
    thread.join()


@pytest.mark.usefixtures("one_gpu_here")
def test_a_run_on_a_gpu_is_looked_at_before_during_and_after(make_job: JobMaker, tmp_path: Path) -> None:
    results = run_child(replace(make_job(), device=GPU), tmp_path / "results.json", 30)

    assert results.state is RunState.DONE, results.reason
    assert len(results.device_states) >= 2
    assert all("gpu_temperature_c" in state.facts for state in results.device_states)
    assert results.environment is not None
    assert NAME == results.environment.hardware["gpu"]


def test_a_throttled_run_is_void(one_gpu_here: StandIn, make_job: JobMaker, tmp_path: Path) -> None:
    one_gpu_here.is_now(throttle_bits=0x40)
    results = run_child(replace(make_job(), device=GPU), tmp_path / "results.json", 30)

    assert (RunState.VOID, FailureKind.DEVICE) == (results.state, results.failure)
    assert "hw_thermal_slowdown" in results.reason


def test_an_engine_that_dies_with_its_gpu_is_no_finding_about_the_build(
    one_gpu_here: StandIn, make_job: JobMaker, tmp_path: Path
) -> None:
    job = replace(make_job(die_after=3, token_s=0.05), device=GPU)
    with when_measuring(job, lambda: one_gpu_here.is_now(lost=1)):
        results = run_child(job, tmp_path / "results.json", 30)

    assert (RunState.FAILED, FailureKind.DEVICE) == (results.state, results.failure)
    assert "the GPU is gone" in results.reason


def test_a_gpu_that_went_before_the_child_looked_fails_the_run_and_not_the_build(
    one_gpu_here: StandIn, make_job: JobMaker, tmp_path: Path
) -> None:
    one_gpu_here.is_now(lost=1)
    results = run_child(replace(make_job(), device=GPU), tmp_path / "results.json", 30)

    assert (RunState.FAILED, FailureKind.DEVICE) == (results.state, results.failure)
    assert "finds it no more" in why_sick(results.device_states)
