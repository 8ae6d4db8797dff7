"""Control groups: limits on a cage as a whole, where this user may make groups.

Version 2 is used where it has the controllers, else version 1; what neither holds is left to rlimits and to the watch.
"""

import os
import time
from pathlib import Path

from perfd.bench.cage.plan import Limits

MOUNTS = "/proc/self/mountinfo"
MEMBERSHIPS = "/proc/self/cgroup"
PREFIX = "perfd-cage-"
EMPTIES_S = 2.0


class Group:
    """The groups of one cage, of one hierarchy or of two; `held` says what they limit: "memory", "pids"."""

    def __init__(self, limits: Limits) -> None:
        self.held: frozenset[str] = frozenset()
        self._folders: list[str] = []
        for controller, parent, files in _places(limits):
            if controller not in self.held and self._make(parent, files):
                self.held |= {controller}

    def _make(self, parent: str, files: dict[str, int]) -> bool:
        """Whether the group is there with its limit."""
        folder = f"{parent}/{PREFIX}{os.getpid()}"
        try:
            _sweep(parent)
            Path(folder).mkdir(exist_ok=True)
            for name, value in files.items():
                _write(f"{folder}/{name}", value)
        except OSError:
            return False
        if folder not in self._folders:
            self._folders.append(folder)
        return True

    def add(self, pid: int) -> None:
        """The process, and what it will start, is in the groups; raises OSError."""
        for folder in self._folders:
            _write(f"{folder}/cgroup.procs", pid)

    def remove(self) -> None:
        """The groups are gone; their processes have ended before, and leave them a moment later."""
        end_s = time.monotonic() + EMPTIES_S
        for folder in self._folders:
            while not _removed(folder) and time.monotonic() < end_s:
                time.sleep(0.002)


def _places(limits: Limits) -> list[tuple[str, str, dict[str, int]]]:
    """(controller, the folder to make a group in, the files with its limits), the best first."""
    own, mounts = _memberships(), _mounted()
    found: list[tuple[str, str, dict[str, int]]] = []
    wanted = {"memory": {"memory.max": limits.memory_bytes}, "pids": {"pids.max": limits.processes}}
    if "" in mounts:
        here = _below(mounts[""], own.get("", "/"))
        # A group that holds processes can hand no controller to groups below it: then a group beside ours will do.
        for parent in (here, str(Path(here).parent)):
            enabled = _read(f"{parent}/cgroup.subtree_control").split()
            found += [(name, parent, files) for name, files in wanted.items() if name in enabled]
    old = {"memory": {"memory.limit_in_bytes": limits.memory_bytes}, "pids": {"pids.max": limits.processes}}
    return [*found, *((name, _below(mounts[name], own.get(name, "/")), old[name]) for name in old if name in mounts)]


def _memberships() -> dict[str, str]:
    """Controller ("" for version 2) → this process's group."""
    rows = [line.split(":", 2) for line in _read(MEMBERSHIPS).splitlines()]
    return {name: path for _, names, path in rows for name in names.split(",")}


def _mounted() -> dict[str, str]:
    """Controller ("" for version 2) → where its hierarchy is mounted."""
    found: dict[str, str] = {}
    for line in _read(MOUNTS).splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind in {"cgroup", "cgroup2"}:
            names = ("",) if kind == "cgroup2" else options.split(" ")[-1].split(",")
            found |= dict.fromkeys(names, before.split(" ")[4])
    return found


def _below(mounted: str, group: str) -> str:
    """The group's folder; in a container the path may be the host's, and then the mount itself is our group."""
    folder = mounted + group.rstrip("/")
    return folder if Path(folder).is_dir() else mounted


def _sweep(parent: str) -> None:
    """Groups of cages whose program was killed are gone."""
    for left in Path(parent).glob(f"{PREFIX}*"):
        if not Path("/proc", left.name.removeprefix(PREFIX)).exists():
            _removed(str(left))


def _removed(folder: str) -> bool:
    try:
        Path(folder).rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _write(path: str, value: int) -> None:
    Path(path).write_text(str(value), encoding="ascii")
