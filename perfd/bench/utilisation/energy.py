"""Energy of the device since some moment, where it counts: NVML for GPUs, RAPL for CPUs; elsewhere absent, and why."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

from perfd.bench import gpu
from perfd.domain.environment import Device

POWERCAP = Path("/sys/class/powercap")
PACKAGES = "intel-rapl:[0-9]"
"""One zone a socket, on AMD too; zones below it (cores, memory) are parts of it."""


class EnergyMeter:
    """Joules that the device has used, as a counter that only grows; RAPL counts the whole socket, neighbours included."""

    def __init__(self, device: Device, powercap: Path = POWERCAP) -> None:
        card = gpu.find(device.name)
        self._gpu: Callable[[], float | None] | None = None if card is None else lambda: gpu.energy_j(card)
        zones = [] if card is not None else sorted(powercap.glob(PACKAGES))
        self._zones = [_Zone(zone) for zone in zones]
        self.source = ""
        """Who counts: "NVML", "RAPL", or ""."""
        self.why_absent = ""
        """One sentence where nobody counts."""
        self._settle()

    def _settle(self) -> None:
        if self.read_j() is not None:
            self.source = "NVML" if self._gpu else "RAPL"
        elif self._gpu is not None:
            self.why_absent = "this GPU or its driver counts no energy"
        elif self._zones:
            self.why_absent = "the CPU's energy counter cannot be read (it needs root)"
        else:
            self.why_absent = "this machine shows no energy counter (RAPL), as most virtual machines do not"

    def read_j(self) -> float | None:
        """The counter now; absent where nobody counts."""
        if self._gpu is not None:
            return self._gpu()
        read = [zone.read_j() for zone in self._zones]
        known = [joules for joules in read if joules is not None]
        return sum(known) if known and len(known) == len(read) else None


class _Zone:
    """One socket's counter, unwrapped: it starts again at zero every few minutes to hours."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "energy_uj"
        self._range_uj = _whole(folder / "max_energy_range_uj") or 2**32
        self._last_uj: int | None = None
        self._total_uj = 0

    def read_j(self) -> float | None:
        now_uj = _whole(self._file)
        if now_uj is None:
            return None
        if self._last_uj is not None:
            self._total_uj += (now_uj - self._last_uj) % self._range_uj
        self._last_uj = now_uj
        return self._total_uj / 1e6


def _whole(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def between_j(readings: Sequence[tuple[int, float]], start_ns: int, stop_ns: int) -> float | None:
    """Joules between two moments, by straight lines between the (ns, joules) readings; absent where these do not span them."""
    start, stop = _at(readings, start_ns), _at(readings, stop_ns)
    return None if start is None or stop is None else stop - start


def _at(readings: Sequence[tuple[int, float]], ns: int) -> float | None:
    for (before_ns, before_j), (after_ns, after_j) in itertools.pairwise(readings):
        if before_ns <= ns <= after_ns:
            share = (ns - before_ns) / (after_ns - before_ns) if after_ns > before_ns else 0.0
            return before_j + share * (after_j - before_j)
    return None
