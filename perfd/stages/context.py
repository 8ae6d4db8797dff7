"""What every stage is given: the configuration, the store, the time, and somebody to tell."""

import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from perfd.config import Config
from perfd.store import Store


class Tell(Protocol):
    """Somebody who listens; the command line shows progress, a service writes its log."""

    def say(self, stage: str, sentence: str) -> None:
        """One line that stays."""

    def steps(self, stage: str, done: int, total: int, sentence: str) -> None:
        """How far a stage has come."""


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def worker_name() -> str:
    """host:pid:start: unique to this process even when its number is given out again."""
    started = Path(f"/proc/{os.getpid()}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()[19]
    return f"{socket.gethostname()}:{os.getpid()}:{started}"


@dataclass(frozen=True)
class Context:
    """The world of a stage."""

    config: Config
    store: Store
    tell: Tell
    worker: str
    now: Callable[[], datetime] = utc_now
    engines: frozenset[str] = frozenset()
    """Names of the engines to look at; empty means those that the configuration measures nightly."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set when this worker is to end: no further unit of work is begun, and the Run under way is given back."""

    def seen(self, doing: str = "", device_class: str = "") -> None:
        """Others know that this worker lives, and what it does."""
        self.store.workers.seen(self.worker, self.now(), doing=doing, device_class=device_class)


def is_dead(worker: str) -> bool:
    """Whether a worker of this host has ended; what runs elsewhere is left to its lease."""
    host, _, rest = worker.partition(":")
    pid, _, started = rest.partition(":")
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return fields[19] != started or fields[0] == "Z"
