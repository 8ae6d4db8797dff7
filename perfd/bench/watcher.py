"""The watcher: looks at the engine's memory and at the device while a Workload runs, rarely enough not to disturb it."""

import os
import threading
import time
from datetime import UTC, datetime

from perfd.bench import gpu, machine, processes
from perfd.domain.environment import Device, DeviceState
from perfd.domain.health import why_sick, why_slowed
from perfd.domain.identity import Json

MEMORY_EVERY_S = 0.25
LOOK_EVERY_S = 2.0
JIFFY_S = 1 / os.sysconf("SC_CLK_TCK")
IDLE, IOWAIT, STEAL = 3, 4, 7
"""Columns of the first line of /proc/stat."""


class Watcher:
    """Device states before, during and after a measurement, and the engine's peak memory meanwhile."""

    def __init__(self, device: Device, *, listens: bool = True) -> None:
        """`listens`: whether critical errors of a GPU are waited for, as long as this process lives."""
        self.states: tuple[DeviceState, ...] = ()
        self.peak_memory_bytes = 0
        self._card = gpu.find(device.name)
        self._xids = gpu.Xids(self._card) if self._card is not None and listens else None
        self._tree: list[int] = []
        self._root, self._every_s = 0, LOOK_EVERY_S
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._before = (time.monotonic(), cpu_jiffies(), 0.0)

    def start(self, root: int, every_s: float = LOOK_EVERY_S) -> None:
        """Watch the process tree below and including `root` until `stop`; the device is looked at every so many seconds."""
        self._root, self._every_s = root, every_s
        self._find_tree()
        self._thread.start()

    def stop(self) -> None:
        """A last look at the memory has been taken; nothing runs any more."""
        self._stopped.set()
        self._thread.join()
        self._weigh()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stopped.wait(MEMORY_EVERY_S):
            self._weigh()
            if time.monotonic() >= due:
                self.look()
                due = time.monotonic() + self._every_s

    def _find_tree(self) -> None:
        """Once a look, not once a weighing: it reads all of /proc."""
        self._tree = [self._root, *processes.descendants(self._root)] if self._root else []

    def _weigh(self) -> None:
        together = sum(map(processes.resident_bytes, self._tree))
        highest = max(map(processes.peak_resident_bytes, self._tree), default=0)
        self.peak_memory_bytes = max(self.peak_memory_bytes, together, highest)

    def look(self) -> None:
        """One more device state has been recorded; shares are over the time since the look before."""
        self._find_tree()
        facts: dict[str, Json] = {
            "load_1m": machine.load_1m(),
            "memory_available_bytes": machine.meminfo().get("MemAvailable"),
            "cpu_frequency_mhz": machine.frequency_mhz(),
            "temperature_c": machine.temperature_c(),
            "cpu_throttle_count": machine.throttle_count(),
            "governor": None if (governor := machine.governor()) == machine.UNKNOWN else governor,
            **self._shares(),
        }
        if self._card is not None:
            facts |= gpu.state(self._card, frozenset(self._tree))
        if self._xids is not None and (new := self._xids.new()):
            facts["gpu_xids"] = new
        known = {name: value for name, value in facts.items() if value is not None}
        self.states = (*self.states, DeviceState(datetime.now(UTC), known))

    def _shares(self) -> dict[str, Json]:
        now, jiffies = time.monotonic(), cpu_jiffies()
        own_s = sum(os.times()[:4]) + sum(cpu_seconds(pid) for pid in self._tree)
        then, old, old_own_s = self._before
        self._before = (now, jiffies, own_s)
        passed_s = now - then
        if passed_s < 0.2 or len(jiffies) <= STEAL or len(old) != len(jiffies):
            return {}
        spent = [(new - before) * JIFFY_S for new, before in zip(jiffies, old, strict=True)]
        busy_s = sum(spent[:STEAL]) - spent[IDLE] - spent[IOWAIT]
        others_s = max(0.0, busy_s - max(0.0, own_s - old_own_s))
        return {
            "busy_cores": round(busy_s / passed_s, 3),
            "other_busy_cores": round(others_s / passed_s, 3),
            "stolen_cores": round(spent[STEAL] / passed_s, 3),
        }

    def why_void(self) -> str:
        """One sentence when the device was slowed down, or failed, while it was measured; "" otherwise."""
        return why_sick(self.states) or why_slowed(self.states)


def cpu_jiffies() -> list[int]:
    """The machine's CPU time by kind since boot (user, nice, system, idle, iowait, irq, softirq, steal, …)."""
    line = (machine.read(machine.PROC / "stat") or "").split("\n", 1)[0]
    return [int(word) for word in line.split()[1:9]]


def cpu_seconds(pid: int) -> float:
    """CPU time of one process; 0 when it is gone."""
    fields = processes.stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) * JIFFY_S if len(fields) > 12 else 0.0
