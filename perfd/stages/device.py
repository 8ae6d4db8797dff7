"""What this machine's worker can measure on: its devices, and the compilers and interpreter that need none."""

import socket
from dataclasses import dataclass
from functools import cache

from perfd.bench import machine
from perfd.bench.kernels.workloads import ARCHITECTURES, INTERPRETED
from perfd.config import Config, DeviceConfig
from perfd.domain.environment import Device


@dataclass(frozen=True)
class Bench:
    """A device, and the threads that an engine may use on it."""

    device: Device
    threads: int
    limits: DeviceConfig | None = None
    """What it is held to before a Run; absent where nothing is timed."""


def measuring(config: Config) -> tuple[Bench, ...]:
    """The devices of the configuration, as they are on this machine."""
    return tuple(Bench(named(one.name, one.threads), one.threads, one) for one in config.devices)


@cache
def named(name: str, threads: int) -> Device:
    """Found once in the life of a process, so that a GPU that vanishes keeps its name, and the worker goes on with the rest."""
    return machine.device(name, threads)


def benches(config: Config) -> tuple[Bench, ...]:
    """Every device class that this worker serves; compiling for a GPU needs none."""
    host = socket.gethostname()
    compilers = [Bench(Device(host, f"compiler {arch}", f"{arch} (compiled)"), 1) for arch in ARCHITECTURES]
    return (*measuring(config), *compilers, Bench(Device(host, "interpreter", INTERPRETED), 1))


def device_class(config: Config) -> str:
    """The class of the first device: the one that nights measure engines on."""
    return measuring(config)[0].device.device_class


def gpu_class(config: Config) -> str | None:
    """The class of the first GPU of the configuration; absent where there is none, and then no kernel is timed."""
    return next((bench.device.device_class for bench in measuring(config) if bench.device.name != "cpu"), None)
