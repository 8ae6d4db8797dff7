"""The watch over a cage, from outside: passes on what is printed, up to a limit, and ends the cage when it takes too much."""

import os
import select
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from perfd.bench.cage.plan import Limits

LOOK_EVERY_S = 0.5
LEAST_FREE_BYTES = 256 << 20
"""On the disk of a folder that may be written: with less, perfd itself could not go on."""
PIECE = 1 << 16
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Over the cage whose first process is `first`."""

    def __init__(self, first: int, limits: Limits, writes: Sequence[str], *, weighs: bool) -> None:
        self._first = first
        self._limits = limits
        self._writes = writes
        self._weighs = weighs
        """Whether no control group limits the memory."""
        self._said = 0
        self.over = ""
        """The limit that ended the cage: "60 s of time"."""

    def until_end(self, pipes: dict[int, int]) -> None:
        """The first process has ended, and all it printed is passed on: `pipes` says from where to where."""
        end_s = time.monotonic() + self._limits.wall_s
        look_s = time.monotonic() + LOOK_EVERY_S
        handle = os.pidfd_open(self._first)
        waits = select.poll()
        for fd in (handle, *pipes):
            waits.register(fd, select.POLLIN)
        open_pipes = dict(pipes)
        while True:
            now_s = time.monotonic()
            ready = [fd for fd, _ in waits.poll(max(0.0, min(end_s, look_s) - now_s) * 1000 + 1)]
            for fd in [fd for fd in ready if fd in open_pipes]:
                if not self._pass_on(fd, open_pipes[fd]):
                    waits.unregister(fd)
                    del open_pipes[fd]
            if handle in ready and not any(fd in open_pipes for fd in ready):
                return
            if (now_s := time.monotonic()) >= look_s:
                self._look()
                look_s = now_s + LOOK_EVERY_S
            if now_s >= end_s:
                self._end(f"{self._limits.wall_s:g} s of time")

    def _pass_on(self, source: int, target: int) -> bool:
        """False at the end of what comes. What is beyond the limit is read and thrown away until the cage has ended."""
        piece = os.read(source, PIECE)
        left = max(0, self._limits.output_bytes - self._said)
        self._said += len(piece)
        _write_all(target, piece[:left])
        if self._said > self._limits.output_bytes:
            self._end(f"{self._limits.output_bytes:,} bytes of output")
        return bool(piece)

    def _look(self) -> None:
        limits = self._limits
        if self._weighs and weight_bytes(self._first) > limits.memory_bytes:
            self._end(f"{limits.memory_bytes >> 20:,} MiB of memory")
        for folder in self._writes:
            size, files = extent(folder)
            if size > limits.disk_bytes or files > limits.files:
                self._end(f"{limits.disk_bytes >> 20:,} MiB and {limits.files:,} files in {folder}")
            if free_bytes(folder) < LEAST_FREE_BYTES:
                self._end(f"the disk that was left for {folder}")

    def _end(self, limit: str) -> None:
        self.over = self.over or limit
        os.kill(self._first, signal.SIGKILL)


def weight_bytes(first: int) -> int:
    """Memory of the process and all below it that is not shared with a file; what is only held in a memory file is not seen."""
    waiting, total = [first], 0
    while waiting:
        pid = waiting.pop()
        try:
            _, resident, shared = (int(word) for word in _words(Path(f"/proc/{pid}/statm"))[:3])
            waiting += [int(word) for task in Path(f"/proc/{pid}/task").iterdir() for word in _words(task / "children")]
        except (OSError, ValueError):  # gone meanwhile
            continue
        total += (resident - shared) * PAGE_BYTES
    return total


def _words(path: Path) -> list[str]:
    return path.read_text(encoding="ascii").split()


def extent(folder: str) -> tuple[int, int]:
    """Bytes on disk and number of files of a folder that others may be writing; links are not followed."""
    size = count = 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:  # gone meanwhile
            continue
    return size, count


def free_bytes(folder: str) -> int:
    """What an ordinary user may still write on the folder's disk."""
    seen = os.statvfs(folder)
    return seen.f_bavail * seen.f_frsize


def _write_all(target: int, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[os.write(target, left) :]
