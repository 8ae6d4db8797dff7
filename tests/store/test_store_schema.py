import itertools
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import NullPool
from store_world import FIRST_NIGHT, World, night, plan

from perfd.config import Config, Schedule
from perfd.errors import BadInputError, PerfdError
from perfd.store import migrate, open_store, tables
from perfd.store.store import with_driver

README = Path(__file__).parents[2] / "db" / "README.md"


def execute(url: str, *statements: str) -> None:
    engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))


@pytest.fixture
def empty_url(database_url: str) -> str:
    """A database without any table."""
    execute(database_url, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return database_url


def test_the_migrations_make_exactly_the_tables_of_the_code(database_url: str) -> None:
    engine = create_engine(database_url, poolclass=NullPool)
    with engine.connect() as connection:
        assert [] == migrate.differences(connection)


def test_every_table_and_every_column_has_its_sentence() -> None:
    for table in tables.METADATA.tables.values():
        assert table.comment
        assert table.comment.endswith(".")
        for column in table.columns:
            assert column.comment, f"{table.name}.{column.name}"
            assert column.comment.endswith("."), f"{table.name}.{column.name}"


def test_the_readme_explains_every_table_and_draws_every_reference() -> None:
    readme = README.read_text(encoding="utf-8")
    for table in tables.METADATA.tables.values():
        assert f"| `{table.name}` |" in readme
        for key in table.foreign_keys:
            one, many = key.column.table.name, table.name
            assert re.search(rf"^ +{one} [|o]+--o{{ {many} :", readme, re.MULTILINE), f"{many} points to {one}"


def test_a_database_without_tables_is_told_to_upgrade(empty_url: str) -> None:
    with pytest.raises(PerfdError, match="no tables of perfd yet; run `perfd db upgrade`"):
        migrate.check(empty_url)

    migrate.upgrade(empty_url)
    migrate.upgrade(empty_url)
    migrate.check(empty_url)


def test_points_of_an_older_schema_are_marked_and_vacuumed_by_the_upgrade(empty_url: str) -> None:
    engine = create_engine(empty_url, poolclass=NullPool)
    with engine.begin() as connection:
        command.upgrade(migrate.config(connection), "0013")
    ids = "series_id, run_id, build_id, revision_id, occasion_id, device_id"
    rest = "ordinal, measured_at, value, n, hardware_hash, epoch"
    three = "SELECT 1, place, 1, 1, 1, 1, place, now(), 0.5, 1, 'H200', 'driver ' || place FROM generate_series(1, 3) AS place"
    execute(empty_url, "SET session_replication_role = replica", f"INSERT INTO point ({ids}, {rest}) {three}")

    migrate.upgrade(empty_url)

    with engine.connect() as connection:
        # Whether every page is then seen as whole depends on other transactions of the server; that it was vacuumed does not.
        vacuumed = connection.scalar(text("SELECT vacuum_count FROM pg_stat_user_tables WHERE relname = 'point'"))
        marks = connection.execute(text("SELECT count(DISTINCT hardware_mark), count(DISTINCT epoch_mark) FROM point")).one()
    assert 1 == vacuumed
    assert (1, 3) == tuple(marks)


def test_two_upgrades_at_once_are_one(empty_url: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(migrate.upgrade, itertools.repeat(empty_url, 2)))

    assert [None, None] == done
    migrate.check(empty_url)


def test_a_half_migrated_database_is_named_and_left_alone(database_url: str) -> None:
    execute(database_url, "DROP TABLE device_state", "DROP TABLE outbox")

    for act in (migrate.check, migrate.upgrade):
        with pytest.raises(PerfdError, match=r"half-migrated: the tables device_state, outbox .* restore a backup"):
            act(database_url)


def test_tables_without_a_version_are_half_migrated(database_url: str) -> None:
    execute(database_url, "DROP TABLE alembic_version")

    with pytest.raises(PerfdError, match="half-migrated"):
        migrate.upgrade(database_url)


def test_a_newer_perfds_database_is_refused_and_left_alone(database_url: str) -> None:
    execute(database_url, "UPDATE alembic_version SET version_num = '9999'")

    for act in (migrate.check, migrate.upgrade):
        with pytest.raises(PerfdError, match="schema 9999, which a newer perfd made"):
            act(database_url)


def test_a_server_that_does_not_answer_is_one_sentence_without_the_password(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://perfd:secret@/perfd?host={tmp_path}"

    with pytest.raises(PerfdError, match="no connection to the database") as caught:
        migrate.check(url)
    assert "secret" not in caught.value.message
    assert "PERFD_DATABASE_URL" in caught.value.message


def test_urls_are_read_as_people_write_them() -> None:
    assert "psycopg" == make_url(with_driver("postgres://me@db/perfd")).get_driver_name()
    assert "psycopg" == make_url(with_driver("postgresql://me@db/perfd")).get_driver_name()
    assert "postgresql+psycopg://me@db/perfd" == with_driver("postgresql+psycopg://me@db/perfd")


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:secret@db/perfd",
        "sqlite:///perfd.db",
        "me:secret@db",
        "postgresql+asyncpg://me:secret@db/x",
        "postgresql://me:secret@db:port/x",
        "postgresql://me:secret@[::1/x",
    ],
)
def test_a_url_of_another_database_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(BadInputError, match="expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE") as caught:
        with_driver(url)
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("option", "told"), [("bogus=1", "bogus"), ("sslmode=nonsense", "sslmode"), ("connect_timeout=1", "refused")]
)
def test_a_database_that_cannot_be_reached_is_one_sentence_without_its_password(option: str, told: str) -> None:
    with pytest.raises(PerfdError, match=f"no connection to the database postgresql://me:.*{told}") as caught:
        migrate.check(with_driver(f"postgresql://me:secret@127.0.0.1:1/x?{option}"))
    assert "secret" not in caught.value.message
    assert "\n" not in caught.value.message


def test_a_database_whose_tables_are_newer_than_its_version_says_so_and_nothing_is_changed(database_url: str) -> None:
    execute(database_url, "UPDATE alembic_version SET version_num = '0001'")

    with pytest.raises(PerfdError, match=r"half-migrated: .*already exists; nothing was changed"):
        migrate.upgrade(database_url)


def test_a_role_that_may_not_read_is_told_what_perfd_needs(database_url: str) -> None:
    execute(database_url, "DROP ROLE IF EXISTS weak", "CREATE ROLE weak LOGIN")
    try:
        with pytest.raises(PerfdError, match=r"refuses perfd's role: permission denied .* needs to own its database"):
            migrate.check(make_url(database_url).set(username="weak").render_as_string(hide_password=False))
    finally:
        execute(database_url, "DROP ROLE weak")


def configuration(state: Path, database_url: str | None) -> Config:
    return Config(None, state, (), (), (), Schedule(), database_url=database_url)


def test_an_outside_database_is_never_upgraded_behind_its_owners_back(empty_url: str, tmp_path: Path) -> None:
    outside = configuration(tmp_path, empty_url)

    with pytest.raises(PerfdError, match="run `perfd db upgrade`"), open_store(outside):
        pass
    migrate.upgrade(empty_url)
    with open_store(outside) as store:
        assert () == store.pages.nights()


def test_an_empty_folder_becomes_a_store_that_keeps_what_is_written(open_folder: Path) -> None:
    here = configuration(open_folder / "a new state", None)
    with open_store(here) as store:
        store.occasions.open(night(), FIRST_NIGHT)

    with open_store(here) as store:
        assert night() == store.occasions.last()


@pytest.mark.parametrize(
    "lie",
    [
        "UPDATE run SET state = 'failed', finished_at = now()",
        "UPDATE run SET failure = 'died'",
        "UPDATE run SET state = 'done', finished_at = now()",
        "UPDATE run SET state = 'claimed'",
        "UPDATE run SET state = 'sleeping'",
        "UPDATE build SET state = 'built'",
        "UPDATE build SET artifact_path = '/somewhere'",
        "UPDATE occasion SET state = 'reported'",
    ],
)
def test_the_database_refuses_what_cannot_be(world: World, lie: str) -> None:
    world.open(night(), plan(0))

    with pytest.raises(IntegrityError), world.store.engine.begin() as connection:
        connection.execute(text(lie))
