from collections.abc import Callable
from pathlib import Path

import pytest
from store_world import World

from perfd.errors import BadInputError
from perfd.store import Store, backup, make_engine, migrate


@pytest.fixture
def filled(database_url: str) -> World:
    world = World(Store(make_engine(database_url)))
    world.measured_night(1.0, 2.0, 3.0)
    world.store.engine.dispose()
    return world


def test_a_backup_restores_every_number(
    filled: World, database_url: str, new_database: Callable[[], str], tmp_path: Path
) -> None:
    file = tmp_path / "a backup.dump"
    backup.backup(database_url, file)
    other = new_database()
    backup.restore(other, file)

    migrate.check(other)
    restored = Store(make_engine(other))
    rows = restored.pages.series_rows()
    run = restored.pages.run_page(rows[0].latest.point.run)
    assert run is not None
    assert (1.0, 2.0, 3.0) == run.samples[0].values
    assert rows == filled.store.pages.series_rows()
    restored.engine.dispose()
    filled.store.engine.dispose()


def test_a_database_with_data_is_never_overwritten(filled: World, database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "backup.dump"
    backup.backup(database_url, file)

    with pytest.raises(BadInputError, match="holds data already"):
        backup.restore(database_url, file)
    assert 1 == len(filled.store.pages.series_rows())
    filled.store.engine.dispose()


def test_a_backup_is_never_overwritten(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "backup.dump"
    file.write_text("precious")

    with pytest.raises(BadInputError, match="exists already"):
        backup.backup(database_url, file)
    assert "precious" == file.read_text()
    with pytest.raises(BadInputError, match="is no folder"):
        backup.backup(database_url, tmp_path / "missing" / "backup.dump")


def test_a_file_that_is_no_backup_changes_nothing(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a dump")

    with pytest.raises(BadInputError, match=r"no whole backup of perfd .*not appear to be a valid archive"):
        backup.restore(database_url, file)
    with pytest.raises(BadInputError, match="no such file"):
        backup.restore(database_url, tmp_path / "missing")
    migrate.check(database_url)
