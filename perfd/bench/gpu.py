"""GPUs by NVML, where the package nvidia-ml-py is installed and a driver answers; elsewhere there is none, without an error."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from perfd.domain.identity import Json
from perfd.errors import BadInputError

UNKNOWN = "unknown"
SLOWED_BY_HARDWARE = ("hw_slowdown", "hw_thermal_slowdown", "sw_thermal_slowdown", "hw_power_brake_slowdown")
"""Throttle reasons that make a number worthless; the power cap alone is how a GPU works under load."""
_REASONS = {
    0x1: "idle",
    0x2: "application_clocks",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clocks",
}


@dataclass(frozen=True)
class Card:
    """One GPU."""

    index: int
    uuid: str
    name: str
    handle: Any


@cache
def _nvml() -> Any | None:
    """The initialised NVML module; absent without package or driver."""
    try:
        import pynvml  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - optional: machines without a GPU lack it
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    return pynvml


def cards() -> list[Card]:
    """Every GPU that NVML sees."""
    nvml = _nvml()
    if nvml is None:
        return []
    found = []
    for index in range(nvml.nvmlDeviceGetCount()):
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        found.append(Card(index, _text(nvml.nvmlDeviceGetUUID(handle)), _text(nvml.nvmlDeviceGetName(handle)), handle))
    return found


def find(name: str) -> Card | None:
    """The GPU of that index or UUID; absent for "cpu" and for a GPU that is not there."""
    if name == "cpu":
        return None
    return next((card for card in cards() if name in {card.uuid, str(card.index)}), None)


def require(name: str) -> Card:
    """The GPU of that index or UUID; raises BadInputError that lists what is there."""
    card = find(name)
    if card is None:
        there = ", ".join(f"{one.index} ({one.uuid}, {one.name})" for one in cards()) or "none (is nvidia-ml-py installed?)"
        raise BadInputError(f'no GPU {name!r} on this machine; GPUs that NVML sees: {there}; name one of them, or "cpu"')
    return card


def device_class(card: Card) -> str:
    """The GPU's model: "gpu:NVIDIA H200"."""
    return f"gpu:{card.name}"


def hardware(card: Card) -> dict[str, str]:
    """What must be equal for two Runs on GPUs to be comparable."""
    memory = _ask(lambda nvml: nvml.nvmlDeviceGetMemoryInfo(card.handle).total)
    return {
        "gpu": card.name,
        "gpu_memory_gib": UNKNOWN if memory is None else str(round(memory / 1024**3)),
        "gpu_power_limit_w": _number(_ask(lambda nvml: nvml.nvmlDeviceGetEnforcedPowerLimit(card.handle) / 1000)),
        "gpu_ecc": {1: "on", 0: "off"}.get(_ask(lambda nvml: nvml.nvmlDeviceGetEccMode(card.handle)[0]), UNKNOWN),
        "gpu_mig": {1: "on", 0: "off"}.get(_ask(lambda nvml: nvml.nvmlDeviceGetMigMode(card.handle)[0]), UNKNOWN),
    }


def software() -> dict[str, str]:
    """Driver and the CUDA version it offers."""
    cuda = _ask(lambda nvml: nvml.nvmlSystemGetCudaDriverVersion_v2())
    return {
        "gpu_driver": _text(_ask(lambda nvml: nvml.nvmlSystemGetDriverVersion()) or UNKNOWN),
        "cuda_driver": UNKNOWN if cuda is None else f"{cuda // 1000}.{cuda % 1000 // 10}",
    }


def clock_policy(card: Card) -> str:
    """How the clocks are held: "boost" where they float, "application clock 1980" where they are set, else "unknown"."""
    highest = _ask(lambda nvml: nvml.nvmlDeviceGetMaxClockInfo(card.handle, nvml.NVML_CLOCK_SM))
    wanted = _ask(lambda nvml: nvml.nvmlDeviceGetApplicationsClock(card.handle, nvml.NVML_CLOCK_SM))
    if highest is None or wanted is None:
        return UNKNOWN
    return "boost" if wanted >= highest else f"application clock {wanted}"


def state(card: Card, own: frozenset[int]) -> dict[str, Json]:
    """Clocks, power, heat, throttling, and processes of others on the GPU; what it does not tell is left out."""
    bits = _ask(lambda nvml: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(card.handle))
    running = _ask(lambda nvml: [process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(card.handle)])
    facts = {
        "sm_clock_mhz": _ask(lambda nvml: nvml.nvmlDeviceGetClockInfo(card.handle, nvml.NVML_CLOCK_SM)),
        "memory_clock_mhz": _ask(lambda nvml: nvml.nvmlDeviceGetClockInfo(card.handle, nvml.NVML_CLOCK_MEM)),
        "gpu_power_w": _ask(lambda nvml: nvml.nvmlDeviceGetPowerUsage(card.handle) / 1000),
        "gpu_temperature_c": _ask(lambda nvml: nvml.nvmlDeviceGetTemperature(card.handle, nvml.NVML_TEMPERATURE_GPU)),
        "gpu_busy_percent": _ask(lambda nvml: nvml.nvmlDeviceGetUtilizationRates(card.handle).gpu),
        "gpu_memory_used_bytes": _ask(lambda nvml: nvml.nvmlDeviceGetMemoryInfo(card.handle).used),
        "throttle_reasons": None if bits is None else [name for bit, name in _REASONS.items() if bits & bit],
        "other_gpu_processes": None if running is None else len([pid for pid in running if pid not in own]),
    }
    return {name: value for name, value in facts.items() if value is not None}


def energy_j(card: Card) -> float | None:
    """Joules since the driver was loaded; absent where the GPU does not count them."""
    millijoules = _ask(lambda nvml: nvml.nvmlDeviceGetTotalEnergyConsumption(card.handle))
    return None if millijoules is None else millijoules / 1000


def _ask(question: Callable[[Any], Any]) -> Any:
    """The answer to one question to NVML; None where this GPU or driver does not tell it."""
    nvml = _nvml()
    if nvml is None:
        return None
    try:
        return question(nvml)
    except nvml.NVMLError:
        return None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:g}"
