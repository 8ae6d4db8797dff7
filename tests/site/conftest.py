"""Sites over databases that the Store's own functions have filled: one Postgres, one database for each kind of history."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from launched_site import READ_AT, released, told
from people_world import closed, known
from screens import chromium, missing
from served_site import LEVELS, served
from site_history import HOSTILE, History, two_models
from sqlalchemy import make_url

from perfd.config import SiteConfig
from perfd.domain.account import AuditEvent
from perfd.forge.login import GitHubLogin
from perfd.store import Store, make_engine

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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


@pytest.fixture(scope="session")
def launched(new_store: Callable[[], Store], tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    store = new_store()
    told(released(store, tmp_path_factory.mktemp("launched")))
    with served(store, READ_AT) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def quantised(new_store: Callable[[], Store], browse: Browse) -> httpx.Client:
    """Series 1 to 7 of one quantisation, 8 to 14 of another."""
    store = new_store()
    two_models(History(store))
    return browse(store)


@pytest.fixture(scope="session")
def strange(filled_store: Store) -> Iterator[httpx.Client]:
    """The filled site, which takes nobody for the person who sits at it."""
    access = SiteConfig(loopback=False)
    with known(filled_store, access=access) as people, httpx.Client(base_url=people.address, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def with_github(filled_store: Store) -> Iterator[httpx.Client]:
    """The filled site for strangers, who may log in through GitHub."""
    login = GitHubLogin("https://github.example", "client", "secret")
    with (
        known(filled_store, access=SiteConfig(loopback=False), github_login=login) as people,
        httpx.Client(base_url=people.address, timeout=60) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def closed_site(filled_store: Store) -> Iterator[httpx.Client]:
    """The filled site, which only people with a role read."""
    with known(filled_store, access=closed()) as people, httpx.Client(base_url=people.address, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def audited(new_store: Callable[[], Store], browse: Browse) -> httpx.Client:
    """A site where things were asked for, and one of them refused."""
    store = new_store()
    for actor, deed, why in (
        ("local", "POST /regressions/1", ""),
        (HOSTILE, f"POST /{HOSTILE}", HOSTILE),
        ("", "log in", "no role"),
    ):
        store.audit.write(AuditEvent(READ_AT, actor, "session", "127.0.0.2", deed, allowed=not why, why=why))
    return browse(store)


@pytest.fixture(scope="session")
def faulty(new_database: Callable[[], str], browse: Browse) -> Iterator[httpx.Client]:
    """A site over a database that nobody has migrated, which is a mistake of ours."""
    engine = make_engine(make_url(new_database()).set(database="postgres").render_as_string(hide_password=False))
    yield browse(Store(engine))
    engine.dispose()


@pytest.fixture
def stopped(tmp_path: Path, browse: Browse) -> httpx.Client:
    """A site whose database is gone."""
    return browse(Store(make_engine(f"postgresql+psycopg:///perfd?host={tmp_path}")))


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    if missing():
        pytest.skip(missing())
    with chromium() as opened:
        yield opened
