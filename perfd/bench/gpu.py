"""GPUs by NVML: who they are, and how they are; elsewhere there is none, without an error. It never ran on a real GPU yet."""

from dataclasses import dataclass
from typing import Any

from perfd.bench.nvml import ask, text, why_gone
from perfd.domain.environment import Device
from perfd.domain.identity import Json
from perfd.errors import BadInputError

UNKNOWN = "unknown"
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


def cards() -> list[Card]:
    """Every GPU that NVML sees and that answers it."""
    found = (_card(index) for index in range(ask(lambda nvml: nvml.nvmlDeviceGetCount()) or 0))
    return [card for card in found if card is not None]


def _card(index: int) -> Card | None:
    """The GPU of that index; absent when it is lost, which NVML tells as an error of that one."""
    handle = ask(lambda nvml: nvml.nvmlDeviceGetHandleByIndex(index))
    uuid, name = (ask(lambda nvml: nvml.nvmlDeviceGetUUID(handle)), ask(lambda nvml: nvml.nvmlDeviceGetName(handle)))
    return None if handle is None or uuid is None or name is None else Card(index, text(uuid), text(name), handle)


def is_gpu(device: Device) -> bool:
    """Whether the device is a GPU, there or gone: its name is a UUID."""
    return device.name.startswith(("GPU-", "MIG-"))


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
    memory = ask(lambda nvml: nvml.nvmlDeviceGetMemoryInfo(card.handle).total)
    return {
        "gpu": card.name,
        "gpu_memory_gib": UNKNOWN if memory is None else str(round(memory / 1024**3)),
        "gpu_power_limit_w": _number(ask(lambda nvml: nvml.nvmlDeviceGetEnforcedPowerLimit(card.handle) / 1000)),
        "gpu_ecc": {1: "on", 0: "off"}.get(ask(lambda nvml: nvml.nvmlDeviceGetEccMode(card.handle)[0]), UNKNOWN),
        "gpu_mig": {1: "on", 0: "off"}.get(ask(lambda nvml: nvml.nvmlDeviceGetMigMode(card.handle)[0]), UNKNOWN),
    }


def software() -> dict[str, str]:
    """Driver and the CUDA version it offers."""
    cuda = ask(lambda nvml: nvml.nvmlSystemGetCudaDriverVersion_v2())
    return {
        "gpu_driver": text(ask(lambda nvml: nvml.nvmlSystemGetDriverVersion()) or UNKNOWN),
        "cuda_driver": UNKNOWN if cuda is None else f"{cuda // 1000}.{cuda % 1000 // 10}",
    }


def clock_policy(card: Card) -> str:
    """How the clocks are held: "boost" where they float, "application clock 1980" where they are set, else "unknown"."""
    highest = ask(lambda nvml: nvml.nvmlDeviceGetMaxClockInfo(card.handle, nvml.NVML_CLOCK_SM))
    wanted = ask(lambda nvml: nvml.nvmlDeviceGetApplicationsClock(card.handle, nvml.NVML_CLOCK_SM))
    if highest is None or wanted is None:
        return UNKNOWN
    return "boost" if wanted >= highest else f"application clock {wanted}"


def vbios(card: Card) -> str:
    """The version of the GPU's own firmware: an epoch, like its driver."""
    return text(ask(lambda nvml: nvml.nvmlDeviceGetVbiosVersion(card.handle)) or UNKNOWN)


def state(card: Card, own: frozenset[int]) -> dict[str, Json]:
    """Clocks, power, heat, throttling, errors of memory, and processes of others; what it does not tell is left out.

    Of a GPU that is gone there is one fact, `gpu_lost`: half a sentence.
    """
    lost = why_gone(lambda nvml: nvml.nvmlDeviceGetUtilizationRates(card.handle))
    if lost:
        return {"gpu_lost": lost}
    bits = ask(lambda nvml: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(card.handle))
    running = ask(lambda nvml: [process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(card.handle)])
    facts = {
        "sm_clock_mhz": ask(lambda nvml: nvml.nvmlDeviceGetClockInfo(card.handle, nvml.NVML_CLOCK_SM)),
        "memory_clock_mhz": ask(lambda nvml: nvml.nvmlDeviceGetClockInfo(card.handle, nvml.NVML_CLOCK_MEM)),
        "gpu_power_w": ask(lambda nvml: nvml.nvmlDeviceGetPowerUsage(card.handle) / 1000),
        "gpu_power_limit_w": ask(lambda nvml: nvml.nvmlDeviceGetEnforcedPowerLimit(card.handle) / 1000),
        "gpu_temperature_c": ask(lambda nvml: nvml.nvmlDeviceGetTemperature(card.handle, nvml.NVML_TEMPERATURE_GPU)),
        "gpu_busy_percent": ask(lambda nvml: nvml.nvmlDeviceGetUtilizationRates(card.handle).gpu),
        "gpu_memory_used_bytes": ask(lambda nvml: nvml.nvmlDeviceGetMemoryInfo(card.handle).used),
        "throttle_reasons": None if bits is None else [name for bit, name in _REASONS.items() if bits & bit],
        "other_gpu_processes": None if running is None else len([pid for pid in running if pid not in own]),
        **_errors(card),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _errors(card: Card) -> dict[str, Json]:
    """What the GPU's memory has told since the driver was loaded, and what was taken out of use."""
    rows = ask(lambda nvml: nvml.nvmlDeviceGetRemappedRows(card.handle))  # corrected, uncorrected, pending, failed
    cause = "NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR"
    pages = ask(lambda nvml: len(nvml.nvmlDeviceGetRetiredPages(card.handle, getattr(nvml, cause))))
    return {
        "gpu_ecc_corrected": _ecc(card, "NVML_MEMORY_ERROR_TYPE_CORRECTED"),
        "gpu_ecc_uncorrected": _ecc(card, "NVML_MEMORY_ERROR_TYPE_UNCORRECTED"),
        "gpu_retired_pages": pages,
        "gpu_rows_remapped": None if rows is None else rows[0] + rows[1],
        "gpu_remapping_failed": None if rows is None else bool(rows[3]),
    }


def _ecc(card: Card, kind: str) -> int | None:
    count: int | None = ask(
        lambda nvml: nvml.nvmlDeviceGetTotalEccErrors(card.handle, getattr(nvml, kind), nvml.NVML_VOLATILE_ECC)
    )
    return count


class Xids:
    """The critical errors (Xid) that the driver tells of a GPU from now on."""

    def __init__(self, card: Card) -> None:
        self._events = ask(lambda nvml: nvml.nvmlEventSetCreate())
        ask(lambda nvml: nvml.nvmlDeviceRegisterEvents(card.handle, nvml.nvmlEventTypeXidCriticalError, self._events))

    def new(self) -> list[int]:
        """The numbers that came since the last call; nothing is waited for."""
        found: list[int] = []
        while self._events is not None and (event := ask(lambda nvml: nvml.nvmlEventSetWait_v2(self._events, 0))) is not None:
            found.append(int(event.eventData))
        return found


def energy_j(card: Card) -> float | None:
    """Joules since the driver was loaded; absent where the GPU does not count them."""
    millijoules = ask(lambda nvml: nvml.nvmlDeviceGetTotalEnergyConsumption(card.handle))
    return None if millijoules is None else millijoules / 1000


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:g}"
