"""Environment and device state: where a Run happened, and what the machine did meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from perfd.domain.identity import Json, digest


@dataclass(frozen=True)
class Device:
    """One thing that can be measured on, one Run at a time."""

    host: str
    name: str
    """Unique on its host: "cpu", or a GPU's UUID."""
    device_class: str
    """What makes two devices interchangeable: the CPU's model and threads used, or the GPU's model."""


@dataclass(frozen=True)
class Environment:
    """Machine, device, clock policy, driver and library versions of a Run.

    Two Runs are comparable when `hardware_hash` is equal; everything in `software` is an epoch, judged and named as a suspect.
    """

    device: Device
    hardware: Mapping[str, str]
    """Identity of the hardware: CPU model, cores, memory, GPU model."""
    clock_policy: str
    """Governor and turbo, or locked GPU clocks: "performance", "schedutil", "lgc 1980" … or "unknown"."""
    software: Mapping[str, str]
    """Driver, kernel, libc, torch, triton, the engine's dependencies."""

    @property
    def hardware_hash(self) -> str:
        """Equal for Runs whose numbers may be compared."""
        return digest(
            {
                "device_class": self.device.device_class,
                "hardware": dict(self.hardware),
                "clock_policy": self.clock_policy,
            }
        )

    @property
    def hash(self) -> str:
        """The natural key of the whole Environment."""
        return digest(
            {
                "host": self.device.host,
                "device": self.device.name,
                "hardware": self.hardware_hash,
                "software": dict(self.software),
            }
        )


@dataclass(frozen=True)
class DeviceState:
    """One look at the device: clocks, temperature, load, neighbours; units stand in the names."""

    at: datetime
    facts: Mapping[str, Json] = field(default_factory=dict)
