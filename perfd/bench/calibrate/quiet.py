"""Whether this host is quiet enough for a figure: a number measured beside neighbours is not measured."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

MOST_BUSY = 0.05
MOST_STOLEN = 0.01
FEWEST_CORES = 2


@dataclass(frozen=True)
class CpuTimes:
    """Ticks since boot, over all cores."""

    total: int
    idle: int
    stolen: int


def read_cpu(stat: Path = Path("/proc/stat")) -> CpuTimes:
    """The first line of /proc/stat."""
    fields = [int(field) for field in stat.read_text(encoding="ascii").split("\n", 1)[0].split()[1:]]
    return CpuTimes(sum(fields[:8]), fields[3] + fields[4], fields[7] if len(fields) > 7 else 0)


def why_not_quiet(before: CpuTimes, after: CpuTimes, cores: int) -> tuple[str, ...]:
    """What speaks against measuring now; nothing on a quiet host."""
    total = max(1, after.total - before.total)
    busy = 1 - (after.idle - before.idle) / total
    stolen = (after.stolen - before.stolen) / total
    said = []
    if cores < FEWEST_CORES:
        said.append(f"{cores} core, and client and server need one each")
    if busy > MOST_BUSY:
        said.append(f"the cores are {busy:.0%} busy with others' work (at most {MOST_BUSY:.0%})")
    if stolen > MOST_STOLEN:
        said.append(f"the hypervisor takes {stolen:.1%} of the time (at most {MOST_STOLEN:.0%})")
    return tuple(said)


def look(seconds: float = 2.0) -> tuple[str, ...]:
    """What speaks against measuring now, after looking for `seconds` without doing anything."""
    before = read_cpu()
    time.sleep(seconds)
    return why_not_quiet(before, read_cpu(), len(os.sched_getaffinity(0)))
