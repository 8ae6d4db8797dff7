"""Process trees by /proc: who descends from whom, what they hold, and how to end all of them."""

import ctypes
import os
import signal
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
START_TIME = 19
"""Place of a process's start time in `stat_fields`."""
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(with_signal: int = signal.SIGKILL) -> None:
    """The kernel sends this process `with_signal` when the thread that started it ends, even by kill -9.

    It survives exec. Safe between fork and exec: it only calls prctl.
    """
    _libc.prctl(PR_SET_PDEATHSIG, int(with_signal), 0, 0, 0)


def adopt_orphans() -> None:
    """Descendants whose parent ends become children of this process, so that none can slip away by forking twice."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(root: int) -> list[int]:
    """Every live process below `root`, parents before their children; `root` itself is not among them."""
    children: dict[int, list[int]] = defaultdict(list)
    for pid, parent in _parents():
        children[parent].append(pid)
    found, queue = [], [root]
    while queue:
        below = children.get(queue.pop(), [])
        found.extend(below)
        queue.extend(below)
    return found


def _parents() -> list[tuple[int, int]]:
    stats = ((pid, stat_fields(pid)) for pid in all_pids())
    return [(pid, int(fields[1])) for pid, fields in stats if fields and fields[0] != "Z"]


def working_in(folder: Path) -> list[int]:
    """Processes whose current folder is `folder` or below it, whoever their parent is now; this process is not among them."""
    root = str(folder.resolve())
    found = []
    for pid in all_pids():
        where = _link(Path(f"/proc/{pid}/cwd"))
        if pid != os.getpid() and (where == root or where.startswith(root + os.sep)):
            found.append(pid)
    return found


def all_pids() -> list[int]:
    """Every process of this machine that we may see."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]  # noqa: PTH208 - names alone are wanted


def name(pid: int) -> str:
    """The program's name as the kernel keeps it; "?" when it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "?"


def stat_fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on (state, parent, group, session …), or [] when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return []
    return text.rpartition(") ")[2].split()


def resident_bytes(pid: int) -> int:
    """Resident memory now; 0 when the process is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0


def peak_resident_bytes(pid: int) -> int:
    """The kernel's own record of the process's highest resident memory; 0 when it is gone or tells none."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    line = next((line for line in text.splitlines() if line.startswith("VmHWM:")), "")
    return int(line.split()[1]) * 1024 if line else 0


def owns_listener(pids: list[int], port: int) -> bool:
    """Whether one of these processes listens on that TCP port; True where the kernel does not tell."""
    tables = [Path("/proc/net/tcp"), Path("/proc/net/tcp6")]
    rows = [line.split() for table in tables if table.exists() for line in table.read_text(encoding="ascii").splitlines()[1:]]
    if not rows:
        return True
    # Columns: slot, local address:port in hexadecimal, remote, state (0A is LISTEN), …, inode at the tenth place.
    inodes = {row[9] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port}
    return any(link in {f"socket:[{inode}]" for inode in inodes} for pid in pids for link in _open_links(pid))


def _open_links(pid: int) -> list[str]:
    try:
        return [_link(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []


def _link(entry: Path) -> str:
    try:
        return os.readlink(entry)  # noqa: PTH115 - a socket's link is no path
    except OSError:  # gone meanwhile, or another user's
        return ""


def signal_all(pids: list[int], number: int) -> None:
    """Each process that still exists has been sent the signal."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def births(pids: Iterable[int]) -> dict[int, str]:
    """When each process was started, as the kernel counts it: with the pid it names a process for good. The gone are left out."""
    seen = ((pid, stat_fields(pid)) for pid in pids)
    return {pid: fields[START_TIME] for pid, fields in seen if len(fields) > START_TIME}


def alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    fields = stat_fields(pid)
    return bool(fields) and fields[0] not in {"Z", "X"}


def survivors(born: Mapping[int, str], patience_s: float) -> list[int]:
    """Those of the processes (pid to birth) that still live after `patience_s`; returns at once when none does."""
    end_s = time.monotonic() + patience_s
    while True:
        left = [pid for pid in born if alive(pid) and births([pid]).get(pid) == born[pid]]
        if not left or time.monotonic() >= end_s:
            return left
        time.sleep(0.02)


def end_descendants(root: int, grace_s: float = 0.0, limit_s: float = 10.0) -> list[int]:
    """Nothing lives below `root`: SIGTERM, `grace_s` later SIGKILL, until nothing is left; returns who would not die.

    Call it in `root` itself when `root` adopts orphans: then the tree is complete, and zombies are reaped here.
    """
    start = time.monotonic()
    if grace_s > 0:
        signal_all(descendants(root), signal.SIGTERM)
        while (alive := _reap_and_list(root)) and time.monotonic() - start < grace_s:
            time.sleep(0.02)
    while (alive := _reap_and_list(root)) and time.monotonic() - start < grace_s + limit_s:
        signal_all(alive, signal.SIGKILL)
        time.sleep(0.01)
    return alive


def _reap_and_list(root: int) -> list[int]:
    if root == os.getpid():
        reap()
    return descendants(root)


def reap() -> dict[int, int]:
    """Exit codes of children that have ended, by process id (negative: the signal)."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = os.waitstatus_to_exitcode(status)
