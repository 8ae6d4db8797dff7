"""A heartbeat in a thread of its own, for work that cannot call one itself."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from perfd.config import Schedule
from perfd.store.trouble import DATABASE_GONE

LEASE = timedelta(seconds=90)
"""A claim whose heartbeat has been quiet so long is somebody else's to take; `schedule.lease_s` says otherwise."""
EVERY_S = 5.0
BEATS_A_LEASE = 6
"""Some of them may be lost."""


def lease(schedule: Schedule) -> timedelta:
    """How long a claim lasts without a heartbeat."""
    return timedelta(seconds=schedule.lease_s)


def every_s(schedule: Schedule) -> float:
    """Seconds from one heartbeat to the next."""
    return min(EVERY_S, schedule.lease_s / BEATS_A_LEASE)


@contextmanager
def beating(beat: Callable[[], object], pause_s: float = EVERY_S) -> Iterator[None]:
    """`beat` is called every few seconds while the block runs; the thread has ended when the block has."""
    over = threading.Event()

    def keep_beating() -> None:
        while not over.wait(pause_s):
            with suppress(*DATABASE_GONE):  # the next beat may be heard; a thread that ended would never beat again
                beat()

    thread = threading.Thread(target=keep_beating, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
