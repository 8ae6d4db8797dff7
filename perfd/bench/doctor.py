"""Checks of `perfd doctor`: can this machine be trusted to measure today? Data only; who asks prints it."""

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from perfd.bench import gpu, machine, processes, watcher
from perfd.domain.health import SLOWED_BY_HARDWARE

GIB = 1024**3
LOOK_S = 0.5
LEAST_DISK_BYTES, SCARCE_DISK_BYTES = 1 * GIB, 5 * GIB
LEAST_MEMORY_BYTES, SCARCE_MEMORY_BYTES = 1 * GIB, 2 * GIB
HEAVY_SHARE = 0.2
"""A process that uses more of a core than this is a neighbour worth naming."""


class Level(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    """Numbers will be noisier, or something is unknown."""
    BAD = "bad"
    """Numbers would be wrong, or nothing can be measured."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    level: Level
    seen: str
    remedy: str = ""
    """One sentence that mends it; "" for what is ok."""

    def __post_init__(self) -> None:
        """Every complaint has its remedy."""
        if (self.level is Level.OK) != (self.remedy == ""):
            raise ValueError(f"the check {self.name} is {self.level} with the remedy {self.remedy!r}")


def examine(
    state: Path,
    threads: int,
    tools: Sequence[str] = (),
    weights: Mapping[str, Path | None] | None = None,
    devices: Sequence[str] = ("cpu",),
) -> tuple[Check, ...]:
    """Every check of this machine, in the order in which they are best read.

    `tools` are programs that engines need on PATH; `weights` maps each model to its file, or to None where it is not there.
    It looks at the processes for half a second.
    """
    return (
        check_cores(threads),
        check_governor(),
        check_turbo(),
        check_load(threads),
        check_steal(),
        check_neighbours(),
        check_memory(),
        check_disk(state),
        *check_tools(tools),
        *check_weights(weights or {}),
        *(check for name in devices if name != "cpu" for check in check_gpu(name)),
    )


def check_cores(threads: int) -> Check:
    """One core more than the engine uses is needed for the client, which must not wait for it."""
    usable, limit = len(os.sched_getaffinity(0)), machine.cpu_limit()
    cores = float(usable) if limit == "none" else min(float(usable), float(limit))
    seen = f"{cores:g} usable, {threads} for the engine, {machine.cpu_model()}"
    if cores >= threads + 1:
        return Check("cores", Level.OK, seen)
    return Check(
        "cores", Level.WARN, seen, "Set the device's threads in perfd.toml so that one core stays free for the load client."
    )


def check_governor() -> Check:
    """A governor that follows the load makes short Runs slower than long ones."""
    seen = machine.governor()
    if seen == "performance":
        return Check("governor", Level.OK, seen)
    if seen == machine.UNKNOWN:
        return Check(
            "governor",
            Level.WARN,
            "unknown",
            "On a virtual machine nothing can be done; trust only comparisons that are interleaved.",
        )
    return Check("governor", Level.WARN, seen, "Run `cpupower frequency-set -g performance` as root before measuring.")


def check_turbo() -> Check:
    """Turbo gives the first seconds of a Run a clock that the rest does not have."""
    seen = machine.turbo()
    if seen != "on":
        return Check("turbo", Level.OK, seen)
    return Check(
        "turbo", Level.WARN, seen, "Switch turbo off (echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or the BIOS)."
    )


def check_load(threads: int) -> Check:
    """What others use is missing to the engine or to the client."""
    load, cores = machine.load_1m(), os.cpu_count() or 1
    free = cores - load
    seen = f"{load:.2f} over the last minute on {cores} cores"
    if free >= threads + 0.5:
        return Check("load", Level.OK, seen)
    level = Level.BAD if free < threads - 0.5 else Level.WARN
    return Check("load", level, seen, "Wait until other work has ended, or stop it; neighbours names the heaviest.")


def check_steal() -> Check:
    """Time that the host gave to others while this machine wanted it, since boot."""
    jiffies = watcher.cpu_jiffies()
    share = jiffies[watcher.STEAL] / max(1, sum(jiffies)) if len(jiffies) > watcher.STEAL else 0.0
    seen = f"{share:.2%} of CPU time since boot was stolen by the host"
    if share < 0.005:
        return Check("steal", Level.OK, seen)
    level = Level.BAD if share > 0.05 else Level.WARN
    return Check("steal", level, seen, "Measure on a dedicated host, or ask for one whose cores are not shared.")


def check_neighbours() -> Check:
    """Processes that use the CPU right now, this one apart."""
    heavy = heavy_processes()
    if not heavy:
        return Check("neighbours", Level.OK, "no other process uses much CPU")
    seen = ", ".join(f"{name} (process {pid}, {share:.0%} of a core)" for pid, name, share in heavy[:5])
    return Check("neighbours", Level.WARN, seen, "Stop them while a night runs, or move the night to an hour when they rest.")


def heavy_processes(least_share: float = HEAVY_SHARE) -> list[tuple[int, str, float]]:
    """(process, name, share of a core) of everything but this process, over half a second, heaviest first."""
    before = {pid: watcher.cpu_seconds(pid) for pid in processes.all_pids()}
    start_s = time.monotonic()
    time.sleep(LOOK_S)
    passed_s = time.monotonic() - start_s
    shares = [(pid, processes.name(pid), (watcher.cpu_seconds(pid) - used_s) / passed_s) for pid, used_s in before.items()]
    return sorted((one for one in shares if one[2] > least_share and one[0] != os.getpid()), key=lambda one: -one[2])


def check_memory() -> Check:
    """Memory that an engine may still have, within the control group's limit."""
    free = machine.meminfo().get("MemAvailable", 0)
    limit = machine.memory_limit_bytes()
    free = min(free, limit) if limit is not None else free
    seen = f"{free / GIB:.1f} GiB available"
    if free >= SCARCE_MEMORY_BYTES:
        return Check("memory", Level.OK, seen)
    level = Level.BAD if free < LEAST_MEMORY_BYTES else Level.WARN
    return Check("memory", level, seen, "End other programs, or raise the memory limit of this container.")


def check_disk(state: Path) -> Check:
    """Room for builds, weights and the database."""
    folder = next(path for path in (state.absolute(), *state.absolute().parents) if path.exists())
    free = shutil.disk_usage(folder).free
    seen = f"{free / GIB:.1f} GiB free under {folder}"
    if free >= SCARCE_DISK_BYTES:
        return Check("disk", Level.OK, seen)
    level = Level.BAD if free < LEAST_DISK_BYTES else Level.WARN
    return Check("disk", level, seen, "Free some space, or move perfd's state with PERFD_STATE to a larger disk.")


def check_tools(tools: Sequence[str]) -> list[Check]:
    """Programs that recipes need."""
    checks = []
    for tool in tools:
        path = shutil.which(tool)
        if path:
            checks.append(Check(f"tool {tool}", Level.OK, path))
        else:
            remedy = f"Install {tool} and put it on PATH, or leave the engines that need it out of perfd.toml."
            checks.append(Check(f"tool {tool}", Level.BAD, "not on PATH", remedy))
    return checks


def check_weights(weights: Mapping[str, Path | None]) -> list[Check]:
    """Files of the models."""
    checks = []
    for model, path in weights.items():
        if path is not None and path.exists():
            checks.append(Check(f"weights {model}", Level.OK, f"{path} ({path.stat().st_size / GIB:.2f} GiB)"))
        else:
            remedy = "A night installs weights that come from a package by itself; give a path in perfd.toml for any other."
            checks.append(
                Check(f"weights {model}", Level.WARN, "not there yet" if path is None else f"{path} is missing", remedy)
            )
    return checks


def check_gpu(name: str) -> list[Check]:
    """Presence, clocks, throttling and other users of one GPU."""
    card = gpu.find(name)
    if card is None:
        remedy = "Install nvidia-ml-py and the driver, or name a GPU that is there under [[devices]] in perfd.toml."
        return [Check(f"GPU {name}", Level.BAD, "NVML sees no such GPU", remedy)]
    facts = gpu.state(card, frozenset())
    return [
        Check(f"GPU {name}", Level.OK, f"{card.name}, {card.uuid}"),
        _gpu_clocks(name, gpu.clock_policy(card)),
        _gpu_throttled(name, [reason for reason in facts.get("throttle_reasons", ()) if reason in SLOWED_BY_HARDWARE]),
        _gpu_others(name, facts.get("other_gpu_processes")),
    ]


def _gpu_clocks(name: str, policy: str) -> Check:
    if policy.startswith("application clock"):
        return Check(f"GPU {name} clocks", Level.OK, policy)
    remedy = "Lock them with `nvidia-smi -lgc MHZ` where you may, so that heat does not change the numbers."
    return Check(f"GPU {name} clocks", Level.WARN, policy, remedy)


def _gpu_throttled(name: str, reasons: list[str]) -> Check:
    if not reasons:
        return Check(f"GPU {name} throttling", Level.OK, "none now")
    return Check(
        f"GPU {name} throttling", Level.BAD, ", ".join(reasons), "Let it cool, and look after its airflow and power supply."
    )


def _gpu_others(name: str, others: int | None) -> Check:
    if others == 0:
        return Check(f"GPU {name} processes", Level.OK, "nobody else uses it")
    if others is None:
        return Check(f"GPU {name} processes", Level.WARN, "unknown", "Run perfd where it may see the GPU's processes.")
    return Check(
        f"GPU {name} processes", Level.BAD, f"{others} on it", "End them (nvidia-smi lists them), or measure on another GPU."
    )
