"""Sites over databases that the Store's own functions have filled: one Postgres, one database for each kind of history."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
import uvicorn
from site_history import FIRST_NIGHT, History

from perfd.config import Schedule
from perfd.site import create_app, listen
from perfd.store import Store, make_engine

LEVELS = [1.0] * 12 + [1.08] * 4
"""Twelve nights, a slowdown of 8 %, four nights with it."""
NOW = FIRST_NIGHT + timedelta(days=len(LEVELS) - 1, hours=7)
"""The morning after the last night."""
Browse = Callable[[Store], httpx.Client]


@pytest.fixture(scope="session")
def new_store(new_database: Callable[[], str]) -> Iterator[Callable[[], Store]]:
    """Makes stores over migrated, empty databases that last as long as the tests."""
    stores = []

    def make() -> Store:
        stores.append(Store(make_engine(new_database())))
        return stores[-1]

    yield make
    for store in stores:
        store.engine.dispose()


@contextmanager
def served(store: Store, now: datetime = NOW) -> Iterator[str]:
    """The site over a store, on a free port of loopback, as uvicorn serves it; its address."""
    app = create_app(store, clock=lambda: now, schedule=Schedule("02:00", "UTC"))
    with listen(port=0) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def browse() -> Iterator[Browse]:
    """Serves a store until the tests end; a client for it."""
    with ExitStack() as stack:

        def over(store: Store) -> httpx.Client:
            address = stack.enter_context(served(store))
            return stack.enter_context(httpx.Client(base_url=address, timeout=60))

        yield over


@pytest.fixture(scope="session")
def filled_store(new_store: Callable[[], Store]) -> Store:
    store = new_store()
    history = History(store)
    history.nights(LEVELS)
    history.comparison(len(LEVELS))
    history.comparison(len(LEVELS) + 1, pairs=2, ends=False)
    return store


@pytest.fixture(scope="session")
def filled(filled_store: Store, browse: Browse) -> httpx.Client:
    return browse(filled_store)


@pytest.fixture(scope="session")
def empty(new_store: Callable[[], Store], browse: Browse) -> httpx.Client:
    return browse(new_store())


@pytest.fixture(scope="session")
def one_point(new_store: Callable[[], Store], browse: Browse) -> httpx.Client:
    store = new_store()
    History(store).night(0, kernels=False)
    return browse(store)


@pytest.fixture(scope="session")
def hostile(new_store: Callable[[], Store], browse: Browse) -> httpx.Client:
    """Two good nights of a subject with a hostile name, and a bad one."""
    store = new_store()
    history = History(store, hostile=True)
    history.nights([1.0, 1.0])
    history.bad_night(2)
    return browse(store)


@pytest.fixture
def stopped(tmp_path: Path, browse: Browse) -> httpx.Client:
    """A site whose database is gone."""
    return browse(Store(make_engine(f"postgresql+psycopg:///perfd?host={tmp_path}")))
