"""One look at a device that nothing of ours runs on."""

import time

from perfd.bench import gpu
from perfd.bench.watcher import Watcher
from perfd.domain.environment import Device, DeviceState

SHARES_OVER_S = 0.3


def look(device: Device, *, shares: bool) -> DeviceState:
    """The device's state now; `shares` are those of the CPU and take a third of a second. A GPU that is gone says so."""
    watcher = Watcher(device, listens=False)
    if shares:
        time.sleep(SHARES_OVER_S)
    watcher.look()
    (state,) = watcher.states
    if gpu.is_gpu(device) and gpu.find(device.name) is None:
        return DeviceState(state.at, {**state.facts, "gpu_lost": "NVML finds it no more"})
    return state
