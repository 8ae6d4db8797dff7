"""A heartbeat in a thread of its own, for work that cannot call one itself."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from perfd.store.trouble import DATABASE_GONE

LEASE = timedelta(seconds=90)
"""A claim whose heartbeat has been quiet so long is somebody else's to take."""
EVERY_S = 15.0


@contextmanager
def beating(beat: Callable[[], object], every_s: float = EVERY_S) -> Iterator[None]:
    """`beat` is called every few seconds while the block runs; the thread has ended when the block has."""
    over = threading.Event()

    def keep_beating() -> None:
        while not over.wait(every_s):
            with suppress(*DATABASE_GONE):  # the next beat may be heard; a thread that ended would never beat again
                beat()

    thread = threading.Thread(target=keep_beating, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
