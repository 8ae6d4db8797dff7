"""The time that all machines share: the database's, so that a host whose clock is wrong, or jumps, changes nothing.

A lease is written by one machine and looked at by another: two minutes between their clocks would hand every Run of the slower
one to the quicker one. Between two questions to the database this counts with a clock that no one sets.
"""

import threading
import time
from contextlib import suppress
from datetime import datetime, timedelta

from perfd.store import Store
from perfd.store.trouble import DATABASE_GONE

ASK_EVERY_S = 15.0


class Timekeeper:
    """Call it for the time, in UTC; any thread may."""

    def __init__(self, store: Store, every_s: float = ASK_EVERY_S) -> None:
        self._store = store
        self._every_s = every_s
        self._lock = threading.Lock()
        self._at, self._then = store.time(), _counted_s()
        self._asked = self._then

    def __call__(self) -> datetime:
        """The time, asked of the database every few seconds while it answers."""
        with self._lock:
            if _counted_s() - self._asked >= self._every_s:
                self._asked = _counted_s()
                with suppress(*DATABASE_GONE):  # while it is away nobody else's time matters, and asking may take long
                    self._at, self._then = self._store.time(), _counted_s()
            return self._at + timedelta(seconds=_counted_s() - self._then)


def _counted_s() -> float:
    """Seconds since the machine was started; a laptop's sleep counts, and nobody can set it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
