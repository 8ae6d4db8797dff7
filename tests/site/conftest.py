"""Sites over databases that the Store's own functions have filled: one Postgres, one database for each kind of history."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
import uvicorn
from perfd.config import Schedule
from perfd.site import create_app, listen
from perfd.store import Store, make_engine, open_database
from perfd.store.migrate import upgrade
from perfd.store.store import with_driver
from site_history import FIRST_NIGHT, History
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

LEVELS = [1.0] * 14 + [1.08] * 6
"""Fourteen nights, a slowdown of 8 %, six nights more."""
NOW = FIRST_NIGHT + timedelta(days=len(LEVELS) - 1, hours=7)
"""The morning after the last night."""
Browse = Callable[[Store], httpx.Client]


@pytest.fixture(scope="session")
def server_url(open_folder: Path) -> Iterator[str]:
    """A Postgres of these tests' own."""
    with open_database(open_folder / "site", None) as url:
        yield url


@pytest.fixture(scope="session")
def new_store(server_url: str) -> Iterator[Callable[[str], Store]]:
    """Makes migrated, empty databases by name."""
    upgrade(server_url)
    main = make_url(with_driver(server_url))
    admin = create_engine(main.set(database="postgres"), isolation_level="AUTOCOMMIT", poolclass=NullPool)
    stores = []

    def make(name: str) -> Store:
        with admin.connect() as connection:
            connection.execute(text(f'CREATE DATABASE "{name}" TEMPLATE "{main.database}"'))
        store = Store(make_engine(main.set(database=name).render_as_string(hide_password=False)))
        stores.append(store)
        return store

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
def filled_store(new_store: Callable[[str], Store]) -> Store:
    store = new_store("filled")
    history = History(store)
    history.nights(LEVELS)
    history.comparison(len(LEVELS))
    return store


@pytest.fixture(scope="session")
def filled(filled_store: Store, browse: Browse) -> httpx.Client:
    return browse(filled_store)


@pytest.fixture(scope="session")
def empty(new_store: Callable[[str], Store], browse: Browse) -> httpx.Client:
    return browse(new_store("empty"))


@pytest.fixture(scope="session")
def one_point(new_store: Callable[[str], Store], browse: Browse) -> httpx.Client:
    store = new_store("one")
    History(store).night(0, kernels=False)
    return browse(store)


@pytest.fixture(scope="session")
def hostile(new_store: Callable[[str], Store], browse: Browse) -> httpx.Client:
    """Two good nights of a subject with a hostile name, and a bad one."""
    store = new_store("hostile")
    history = History(store, hostile=True)
    history.nights([1.0, 1.0])
    history.bad_night(2)
    return browse(store)


@pytest.fixture
def store(new_store: Callable[[str], Store], request: pytest.FixtureRequest) -> Store:
    """An empty database for one test."""
    return new_store(f"test {abs(hash(request.node.nodeid)) % 10**8}")


@pytest.fixture
def stopped(tmp_path: Path, browse: Browse) -> httpx.Client:
    """A site whose database is gone."""
    return browse(Store(make_engine(f"postgresql+psycopg:///perfd?host={tmp_path}")))
