"""A real Postgres for every test that asks: one server a session, migrated once, and a database of its own for each test."""

import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from perfd.store import Store, make_engine
from perfd.store.embedded import EmbeddedPostgres
from perfd.store.migrate import upgrade
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.pool import NullPool


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter: root's Postgres runs as another user, and pytest's own folders are closed to it."""
    folder = Path(tempfile.mkdtemp(prefix="perfd tests ", dir="/tmp"))  # noqa: S108  # where every user can enter
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def migrated_server(open_folder: Path) -> Iterator[str]:
    """A server of this session's own, whose database `perfd` is migrated and empty; its URL. Nothing may connect to that one."""
    with EmbeddedPostgres(open_folder / "shared", settings={"fsync": "off"}) as server:
        upgrade(server.url)
        yield server.url


@pytest.fixture(scope="session")
def administration(migrated_server: str) -> Iterator[Engine]:
    """Creates and drops databases."""
    url = make_url(migrated_server).set(database="postgres")
    engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    return count()


@pytest.fixture
def database_url(migrated_server: str, administration: Engine, numbers: Iterator[int]) -> Iterator[str]:
    """A migrated, empty database of this test's own."""
    name = f"test_{next(numbers)}"
    with administration.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE perfd"))
    yield make_url(migrated_server).set(database=name).render_as_string(hide_password=False)
    with administration.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """The Store over a database of this test's own."""
    engine = make_engine(database_url)
    yield Store(engine)
    engine.dispose()
