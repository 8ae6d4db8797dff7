"""What every stage is given: the configuration, the store, the time, and somebody to tell."""

import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from perfd.config import Config
from perfd.forge import Forge
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
    """host:pid:start-home: unique to this process even when its number is given out again, or its host's name given twice."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())[1]}-{_home()}"


def _started(pid: int | str) -> tuple[str, str]:
    """The state of a process, and when it was started, as the kernel counts it; raises OSError where it is gone."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    return fields[0], fields[19]


@cache
def _home() -> str:
    """Tells one boot and one container from another: only inside of it do process numbers mean anything."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return sha256(f"{boot} {os.readlink('/proc/self/ns/pid')}".encode()).hexdigest()[:8]  # noqa: PTH115  # a namespace is no path


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
    forge: Forge | None = None
    """Where pull requests are answered; absent where the environment names no GitHub App."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set when this worker is to end: no further unit of work is begun, and the Run under way is given back."""

    told: set[str] = field(default_factory=set, compare=False)
    """What was said once and needs no second saying."""

    passed_over: set[str] = field(default_factory=set, compare=False)
    """Devices that another process held when the last Run was looked for."""

    def say_once(self, stage: str, sentence: str) -> None:
        """The sentence was said, now or before."""
        if sentence not in self.told:
            self.told.add(sentence)
            self.tell.say(stage, sentence)

    def seen(self, doing: str = "", device_class: str = "") -> None:
        """Others know that this worker lives, and what it does."""
        self.store.workers.seen(self.worker, self.now(), doing=doing, device_class=device_class)


def is_dead(worker: str) -> bool:
    """Whether a worker of this host has ended; what runs elsewhere, or ran before the host was started, is left to its lease."""
    host, _, rest = worker.partition(":")
    pid, _, birth = rest.partition(":")
    started, _, home = birth.partition("-")
    if host != socket.gethostname() or not pid.isdigit() or home not in {"", _home()}:
        return False
    try:
        state, begun = _started(pid)
    except (FileNotFoundError, ProcessLookupError):
        return True
    return begun != started or state == "Z"
