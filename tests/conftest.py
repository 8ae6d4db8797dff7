"""A real Postgres for every test that asks: one server a session, migrated once, and an empty database for each test."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from perfd.store import Store, make_engine
from perfd.store.embedded import EmbeddedPostgres
from perfd.store.migrate import upgrade


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter: root's Postgres runs as another user, and pytest's own folders are closed to it."""
    folder = Path(tempfile.mkdtemp(prefix="perfd tests ", dir="/tmp"))  # where every user can enter
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session", autouse=True)
def own_locks(open_folder: Path) -> Iterator[None]:
    """Another test run on this host, or a real perfd, neither waits for the devices of this one nor is waited for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERFD_LOCKS", str(open_folder))
        yield


QUICK = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "wal_level": "minimal", "max_wal_senders": "0"}
"""What only a power cut could punish: this server's data is thrown away."""
FORGET = """
SET LOCAL session_replication_role = replica;
DO $$ DECLARE one record; BEGIN
    FOR one IN SELECT relname FROM pg_class WHERE starts_with(relname, 'sample_') AND relkind = 'r' LOOP
        EXECUTE 'DROP TABLE ' || one.relname;
    END LOOP;
    FOR one IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
            AND relname <> 'alembic_version' LOOP
        EXECUTE 'DELETE FROM ' || one.relname;
    END LOOP;
    FOR one IN SELECT relname FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace LOOP
        PERFORM setval(one.relname::regclass, 1, false);
    END LOOP;
END $$
"""
"""Empties every table; ten times as quick as another database for every test."""


@pytest.fixture(scope="session")
def migrated_server(open_folder: Path) -> Iterator[str]:
    """A server of this session's own, whose database `perfd` is migrated and empty; its URL. Nothing may connect to that one."""
    with EmbeddedPostgres(open_folder / "shared", settings=QUICK) as server:
        upgrade(server.url)
        yield server.url


@pytest.fixture(scope="session")
def new_database(migrated_server: str) -> Iterator[Callable[[], str]]:
    """Makes migrated, empty databases; answers their URLs."""
    url = make_url(migrated_server)
    engine = create_engine(url.set(database="postgres"), isolation_level="AUTOCOMMIT", poolclass=NullPool)
    numbers = count()

    def make() -> str:
        name = f"test_{next(numbers)}"
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE perfd"))
        return url.set(database=name).render_as_string(hide_password=False)

    yield make
    engine.dispose()


@pytest.fixture
def database_url(new_database: Callable[[], str]) -> str:
    """A migrated, empty database of this test's own, for tests that change the schema or run other processes."""
    return new_database()


@pytest.fixture(scope="session")
def shared_store(new_database: Callable[[], str]) -> Iterator[Store]:
    engine = make_engine(new_database())
    yield Store(engine)
    engine.dispose()


@pytest.fixture
def store(shared_store: Store) -> Iterator[Store]:
    """The Store over an empty database."""
    yield shared_store
    shared_store.engine.dispose()  # a connection that a failed test left in a transaction must not block what follows
    with shared_store.engine.begin() as connection:
        connection.exec_driver_sql("SET LOCAL lock_timeout = '5s'")
        connection.exec_driver_sql(FORGET)
