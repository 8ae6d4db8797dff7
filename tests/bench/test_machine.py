"""The machine as it is: facts that exist everywhere, and checks that carry their remedy."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from perfd.bench import doctor, gpu, machine, watcher
from perfd.bench.doctor import Check, Level
from perfd.domain.environment import Device, DeviceState
from perfd.errors import BadInputError

CPU = Device("here", "cpu", "cpu:test:t1")


def test_two_looks_at_one_machine_are_comparable() -> None:
    one, other = (machine.environment(CPU, {"compiler": version}, 1) for version in ("12", "13"))

    assert one.hardware_hash == other.hardware_hash
    assert one.hash != other.hash


def test_another_number_of_threads_is_not_comparable() -> None:
    one, two = (machine.environment(CPU, {}, threads) for threads in (1, 2))

    assert one.hardware_hash != two.hardware_hash


def test_the_environment_holds_no_empty_fact() -> None:
    environment = machine.environment(CPU, {}, 1)

    assert all({**environment.hardware, **environment.software}.values())
    assert environment.clock_policy


def test_the_device_class_of_a_cpu_names_model_and_threads() -> None:
    device = machine.device("cpu", 3)

    assert device.device_class.startswith("cpu:")
    assert device.device_class.endswith(":t3")
    assert device.name == "cpu"


@pytest.mark.parametrize(
    ("told", "model"),
    [
        ("Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", "Intel Xeon Platinum 8481C"),
        ("AMD EPYC 9654 96-Core Processor", "AMD EPYC 9654 96-Core Processor"),
    ],
)
def test_a_models_marks_and_clock_are_dropped(told: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nmodel name\t: {told}\n\nprocessor\t: 1\nmodel name\t: other\n")
    monkeypatch.setattr(machine, "PROC", tmp_path)

    assert machine.cpu_model() == model


def test_limits_and_policies_are_read_where_the_machine_tells_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "fs/cgroup/cpu.max": "150000 100000",
        "fs/cgroup/memory.max": "1073741824",
        "devices/system/cpu/cpu0/cpufreq/scaling_governor": "schedutil",
        "devices/system/cpu/intel_pstate/no_turbo": "1",
        "devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "4",
        "class/thermal/thermal_zone0/temp": "47500",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    monkeypatch.setattr(machine, "SYS", tmp_path)

    assert machine.cpu_limit() == "1.5"
    assert machine.memory_limit_bytes() == 2**30
    assert machine.cpu_clock_policy() == "schedutil, turbo off"
    assert (machine.throttle_count(), machine.temperature_c()) == (4, 47.5)


def test_what_a_machine_does_not_tell_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "SYS", tmp_path)

    assert (machine.cpu_limit(), machine.cpu_clock_policy(), machine.governor()) == ("none", "unknown", "unknown")
    assert (machine.memory_limit_bytes(), machine.temperature_c(), machine.throttle_count()) == (None, None, None)


def test_a_gpu_that_is_not_there_is_refused_with_what_is() -> None:
    with pytest.raises(BadInputError, match="no GPU 'GPU-none' on this machine"):
        machine.device("GPU-none", 1)


def test_the_watcher_sees_memory_and_the_work_of_others() -> None:
    hold = "import time; held = bytearray(64 << 20); print('ready', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        watching = watcher.Watcher(CPU)
        watching.start(child.pid)
        busy_until = time.monotonic() + 0.6
        while time.monotonic() < busy_until:
            watcher.cpu_jiffies()
        watching.look()
        watching.stop()
        child.kill()

    assert watching.peak_memory_bytes > 64 << 20
    facts = [state.facts for state in watching.states]
    assert all("load_1m" in fact for fact in facts)
    assert max(fact.get("busy_cores", 0.0) for fact in facts) > 0


def test_heat_voids_a_run() -> None:
    hot = watcher.Watcher(CPU)
    hot.states = tuple(DeviceState(datetime.now(UTC), {"cpu_throttle_count": count}) for count in (3, 3, 5))
    slow = watcher.Watcher(CPU)
    slow.states = (DeviceState(datetime.now(UTC), {"throttle_reasons": ["sw_power_cap", "hw_thermal_slowdown"]}),)
    capped = watcher.Watcher(CPU)
    capped.states = (DeviceState(datetime.now(UTC), {"throttle_reasons": ["sw_power_cap"]}),)

    assert "2 times" in hot.why_void()
    assert "hw_thermal_slowdown" in slow.why_void()
    assert capped.why_void() == ""


def test_every_complaint_of_the_doctor_has_its_remedy(tmp_path: Path) -> None:
    checks = doctor.examine(tmp_path, 1, ["sh", "no-such-tool"], {"m": None, "n": tmp_path / "gone"}, ["cpu", "7"])

    found = {check.name: check for check in checks}
    assert all(check.seen and (check.remedy.endswith(".") or check.level is Level.OK) for check in checks)
    assert (found["tool sh"].level, found["tool no-such-tool"].level) == (Level.OK, Level.BAD)
    assert found["GPU 7"].level is Level.BAD
    assert {"cores", "governor", "load", "steal", "neighbours", "memory", "disk"} <= set(found)


def test_a_check_without_a_remedy_cannot_be_a_complaint() -> None:
    with pytest.raises(ValueError, match="remedy"):
        Check("x", Level.BAD, "seen")
    with pytest.raises(ValueError, match="remedy"):
        Check("x", Level.OK, "seen", "do something.")


def test_a_busy_neighbour_is_named() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as neighbour:
        names = {pid for pid, _, _ in doctor.heavy_processes(least_share=0.01)}
        neighbour.kill()

    assert neighbour.pid in names


def test_more_threads_than_cores_is_a_warning() -> None:
    assert doctor.check_cores(len(os.sched_getaffinity(0))).level is Level.WARN


@pytest.mark.skipif(not gpu.cards(), reason="needs a GPU that NVML sees")
def test_a_gpu_is_known_by_uuid_and_tells_its_state() -> None:
    card = gpu.cards()[0]
    device = machine.device("0", 1)
    environment = machine.environment(device, {}, 1)
    facts = gpu.state(card, frozenset())

    assert device == Device(device.host, card.uuid, f"gpu:{card.name}")
    assert environment.hardware["gpu"] == card.name
    assert environment.software["gpu_driver"] != "unknown"
    assert {"sm_clock_mhz", "gpu_power_w", "gpu_temperature_c", "throttle_reasons"} <= set(facts)


def test_every_check_can_be_told_in_one_line(tmp_path: Path) -> None:
    told: Callable[[Check], bool] = lambda check: "\n" not in check.seen + check.remedy  # noqa: E731 - a rule, named

    assert all(map(told, doctor.examine(tmp_path, 1)))
