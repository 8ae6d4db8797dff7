"""Taking what the work hands in: seen soon, copied at once, and never by following a link.

The work writes a file under a name that begins with a dot, and renames it when it is whole. Its folder is its own, so all of it
is hostile: only ordinary files of bounded size and plain names are taken, each name once, and the copy is what is scored.
"""

import hashlib
import os
import queue
import re
import stat
import threading
import time
from dataclasses import dataclass
from pathlib import Path

EVERY_S = 0.1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@dataclass(frozen=True)
class Taken:
    """One file as it was when it came."""

    place: int
    name: str
    elapsed_s: float
    path: Path
    """Our copy."""
    digest: str
    size_bytes: int
    wrong: str = ""
    """Why it cannot be scored."""


class Taker:
    """Watches a folder in a thread of its own, so that scoring one file does not make the next one look late."""

    def __init__(self, folder: Path, into: Path, most: int, most_bytes: int) -> None:
        self.taken: queue.SimpleQueue[Taken] = queue.SimpleQueue()
        self._folder, self._into, self._most, self._most_bytes = folder, into, most, most_bytes
        self._seen: dict[str, None] = {}
        self.passed_over = 0
        """Files beyond the most that are taken, when it was looked last."""
        self._begun_s = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="taker", daemon=True)

    def start(self) -> None:
        """Time is counted from here."""
        self._begun_s = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """What has come until now is taken, and nothing after it."""
        self._over.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._over.wait(EVERY_S):
            self._look()

    def _look(self) -> None:
        elapsed_s = time.monotonic() - self._begun_s
        with os.scandir(self._folder) as entries:
            names = sorted(entry.name for entry in entries if entry.name not in self._seen and _NAME.fullmatch(entry.name))
        room = max(0, self._most - len(self._seen))
        self.passed_over = len(names[room:])
        for name in names[:room]:
            self._seen[name] = None
            self.taken.put(self._take(len(self._seen) - 1, name, elapsed_s))

    def _take(self, place: int, name: str, elapsed_s: float) -> Taken:
        copy = self._into / f"{place:05}"
        try:
            content = _read(self._folder / name, self._most_bytes)
            copy.write_bytes(content)
            copy.chmod(0o644)
        except OSError as error:
            return Taken(place, name, elapsed_s, copy, "", 0, f"it cannot be read or kept ({error.strerror})")
        except ValueError as error:
            return Taken(place, name, elapsed_s, copy, "", 0, str(error))
        return Taken(place, name, elapsed_s, copy, hashlib.sha256(content).hexdigest(), len(content))


def _read(path: Path, most_bytes: int) -> bytes:
    """The whole file; raises ValueError for what is no ordinary file, or too large."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("it is no ordinary file")
        with os.fdopen(os.dup(handle), "rb") as file:
            content = file.read(most_bytes + 1)
    finally:
        os.close(handle)
    if len(content) > most_bytes:
        raise ValueError(f"it is longer than {most_bytes:,} bytes")
    return content
