"""The machine as /proc, /sys and NVML tell it: what a Run's Environment is made of. What cannot be read is "unknown"."""

import os
import platform
import socket
from collections.abc import Mapping
from pathlib import Path

from perfd.bench import gpu
from perfd.domain.environment import Device, Environment

PROC, SYS = Path("/proc"), Path("/sys")
UNKNOWN = "unknown"
GIB = 1024**3


def environment(device: Device, software: Mapping[str, str], threads: int) -> Environment:
    """Where a Run happens; `software` is the Build's toolchain and dependencies, to which the machine's own is added."""
    card = gpu.find(device.name)
    hardware = {**cpu_hardware(), "threads": str(threads)}
    if card is None:
        return Environment(device, hardware, cpu_clock_policy(), {**software, **system_software()})
    system = {**system_software(), **gpu.software(), "gpu_vbios": gpu.vbios(card)}
    return Environment(device, {**hardware, **gpu.hardware(card)}, gpu.clock_policy(card), {**software, **system})


def device(name: str, threads: int) -> Device:
    """The device of that name on this machine: "cpu", or a GPU's index or UUID; raises BadInputError for an unknown GPU."""
    host = socket.gethostname()
    if name == "cpu":
        return Device(host, "cpu", cpu_device_class(threads))
    card = gpu.require(name)
    return Device(host, card.uuid, gpu.device_class(card))


def cpu_device_class(threads: int) -> str:
    """What makes two CPUs interchangeable: "cpu:Intel Xeon Platinum 8481C:t1"."""
    return f"cpu:{cpu_model()}:t{threads}"


def cpu_model() -> str:
    """The CPU's model without marks and clock: "Intel Xeon Platinum 8481C"."""
    facts = cpuinfo()
    model = (
        facts.get("model name")
        or facts.get("Model")
        or "-".join(facts[key] for key in ("CPU implementer", "CPU part") if key in facts)
    )
    words = model.replace("(R)", "").replace("(TM)", "").replace(" CPU", "").split("@")[0].split()
    return " ".join(words) or platform.machine()


def cpuinfo() -> dict[str, str]:
    """The first processor of /proc/cpuinfo, by the kernel's names."""
    facts: dict[str, str] = {}
    for line in (read(PROC / "cpuinfo") or "").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            facts.setdefault(name.strip(), value.strip())
    return facts


def cpu_hardware() -> dict[str, str]:
    """What must be equal for two Runs on CPUs to be comparable."""
    facts = cpuinfo()
    memory = meminfo().get("MemTotal")
    return {
        "cpu": cpu_model(),
        "cores": str(os.cpu_count() or UNKNOWN),
        "usable_cores": str(len(os.sched_getaffinity(0))),
        "cpu_limit": cpu_limit(),
        "memory_gib": UNKNOWN if memory is None else f"{round(memory / GIB)}",
        "virtual": "yes" if "hypervisor" in facts.get("flags", "").split() else "no",
    }


def cpu_limit() -> str:
    """Cores that the control group allows: "1.5", or "none"."""
    words = (read(SYS / "fs/cgroup/cpu.max") or "").split()
    if len(words) == 2 and words[0].isdigit():
        return f"{int(words[0]) / int(words[1]):g}"
    quota, period = read(SYS / "fs/cgroup/cpu/cpu.cfs_quota_us"), read(SYS / "fs/cgroup/cpu/cpu.cfs_period_us")
    if quota and period and int(quota) > 0:
        return f"{int(quota) / int(period):g}"
    return "none"


def memory_limit_bytes() -> int | None:
    """What the control group allows; absent where it allows everything."""
    for path in (SYS / "fs/cgroup/memory.max", SYS / "fs/cgroup/memory/memory.limit_in_bytes"):
        text = read(path)
        if text and text.isdigit() and int(text) < 2**60:
            return int(text)
    return None


def cpu_clock_policy() -> str:
    """Governor and turbo: "performance, turbo off"; "unknown" where the machine does not tell (most virtual ones)."""
    told = [part for part in (governor(), f"turbo {turbo()}") if UNKNOWN not in part]
    return ", ".join(told) or UNKNOWN


def governor() -> str:
    """The frequency governors in use, or "unknown"."""
    seen = {read(path) for path in (SYS / "devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")}
    return "+".join(sorted(name for name in seen if name)) or UNKNOWN


def turbo() -> str:
    """Whether the clock may rise above its nominal value: "on", "off" or "unknown"."""
    boost = read(SYS / "devices/system/cpu/cpufreq/boost")
    if boost is not None:
        return "on" if boost == "1" else "off"
    none = read(SYS / "devices/system/cpu/intel_pstate/no_turbo")
    return UNKNOWN if none is None else ("off" if none == "1" else "on")


def system_software() -> dict[str, str]:
    """Epochs that no recipe knows: kernel, C library, microcode."""
    libc = " ".join(platform.libc_ver()).strip()
    return {
        "kernel": platform.release(),
        "libc": libc or UNKNOWN,
        "microcode": cpuinfo().get("microcode", UNKNOWN),
    }


def meminfo() -> dict[str, int]:
    """/proc/meminfo in bytes."""
    facts: dict[str, int] = {}
    for line in (read(PROC / "meminfo") or "").splitlines():
        name, _, value = line.partition(":")
        words = value.split()
        if words and words[0].isdigit():
            facts[name] = int(words[0]) * (1024 if words[-1] == "kB" else 1)
    return facts


def load_1m() -> float:
    """The load average of the last minute."""
    return float((read(PROC / "loadavg") or "0").split()[0])


def temperature_c() -> float | None:
    """The hottest thermal zone; absent where none can be read."""
    seen = [read(path) for path in (SYS / "class/thermal").glob("thermal_zone*/temp")]
    degrees = [int(text) / 1000 for text in seen if text and text.lstrip("-").isdigit()]
    return max(degrees, default=None)


def frequency_mhz() -> float | None:
    """The mean clock over all cores now; absent where it cannot be read."""
    kilohertz = [read(path) for path in (SYS / "devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_cur_freq")]
    known = [int(text) / 1000 for text in kilohertz if text and text.isdigit()]
    if not known:
        lines = (read(PROC / "cpuinfo") or "").splitlines()
        known = [float(line.partition(":")[2]) for line in lines if line.startswith("cpu MHz")]
    return sum(known) / len(known) if known else None


def throttle_count() -> int | None:
    """How often the cores were slowed for heat since boot; absent where the machine does not count."""
    seen = [read(path) for path in (SYS / "devices/system/cpu").glob("cpu[0-9]*/thermal_throttle/core_throttle_count")]
    counts = [int(text) for text in seen if text and text.isdigit()]
    return sum(counts) if counts else None


def read(path: Path) -> str | None:
    """A small file's text without its last newline; absent when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
