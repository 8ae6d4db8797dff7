"""The site over a store, as uvicorn serves it, on a free port of loopback."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import uvicorn
from site_history import FIRST_NIGHT

from perfd.config import Schedule
from perfd.site import create_app, listen
from perfd.store import Store

LEVELS = [1.0] * 12 + [1.08] * 4
"""Twelve nights, a slowdown of 8 %, four nights with it."""
NOW = FIRST_NIGHT + timedelta(days=len(LEVELS) - 1, hours=7)
"""The morning after the last night."""


@contextmanager
def served(store: Store, now: datetime = NOW, recent_s: float = 0.0) -> Iterator[str]:
    """The site over a store, on a free port of loopback, as uvicorn serves it; its address."""
    app = create_app(store, clock=lambda: now, schedule=Schedule("02:00", "UTC"), recent_s=recent_s)
    with listen(port=0) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:  # a test that fails must not keep all others waiting
            server.should_exit = True
            thread.join()
