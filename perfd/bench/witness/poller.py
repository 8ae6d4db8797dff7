"""The poller: one thread that asks the server for its metrics about once a second, and does nothing else meanwhile.

It must not disturb what it watches. So it asks one page, keeps the bytes unread until the load is over, holds Python's lock for
some tens of microseconds a look, and tells what it cost: looks, processor time of its own, and how long the server took.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from perfd.bench.witness.peek import Answer, peek
from perfd.domain.identity import Json

EVERY_S = 1.0
TIMEOUT_S = 5.0


@dataclass
class Poller:
    """Looks from `start` to `stop`."""

    port: int
    path: str | None
    """Absent for a server without metrics that are known: then only energy is read."""
    read_energy_j: Callable[[], float | None] = lambda: None
    every_s: float = EVERY_S
    answers: list[Answer] = field(default_factory=list)
    energy: list[tuple[int, float]] = field(default_factory=list)
    """(ns, joules) beside the looks."""
    cpu_s: float = 0.0
    missed: int = 0
    """Looks that were due while one before them was still unanswered."""

    def __post_init__(self) -> None:
        """A thread that has not begun."""
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="witness", daemon=True)

    def start(self) -> None:
        """The first look is being taken."""
        self._note_energy()
        self._thread.start()

    def stop(self) -> None:
        """No look is under way any more."""
        self._stopped.set()
        self._thread.join()
        self._note_energy()

    def _run(self) -> None:
        began_s = time.thread_time()
        due_s = time.monotonic()
        while not self._stopped.is_set():
            if self.path is not None:
                self.answers.append(peek(self.port, self.path, TIMEOUT_S))
            self._note_energy()
            due_s += self.every_s
            late = int(max(0.0, time.monotonic() - due_s) / self.every_s)
            self.missed += late
            due_s += late * self.every_s
            self._stopped.wait(max(0.0, due_s - time.monotonic()))
        self.cpu_s = time.thread_time() - began_s

    def _note_energy(self) -> None:
        joules = self.read_energy_j()
        if joules is not None:
            self.energy.append((time.monotonic_ns(), joules))

    def cost(self) -> dict[str, Json]:
        """What the looking itself took."""
        waits = sorted(answer.answer_s for answer in self.answers)
        return {
            "every_s": self.every_s,
            "looks": len(self.answers),
            "unanswered": sum(not answer.raw for answer in self.answers),
            "missed": self.missed,
            "own_cpu_s": round(self.cpu_s, 6),
            "answer_s": {"p50": waits[len(waits) // 2], "max": waits[-1]} if waits else None,
        }
