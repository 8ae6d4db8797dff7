"""`perfd db upgrade|backup|restore`: the database, kept."""

from pathlib import Path

import click

from perfd.cli import main
from perfd.cli.group import FINE, Commands, answer, json_option
from perfd.cli.opened import read_config
from perfd.store import backup, migrate
from perfd.store.store import open_database


@main.group("db", cls=Commands)
def database() -> None:
    """Bring the database to this perfd's schema, back it up, restore it."""


@database.command()
@json_option
@click.pass_obj
def upgrade(config_path: Path | None, as_json: bool) -> int:
    """Bring the database to this perfd's schema; doing it twice is harmless."""
    config = read_config(config_path)
    with open_database(config.state, config.database_url) as url:
        migrate.upgrade(url)
    _tell(as_json, {"schema": migrate.head()}, f"the database is at schema {migrate.head()}")
    return FINE


@database.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@json_option
@click.pass_obj
def back_up(config_path: Path | None, file: Path, as_json: bool) -> int:
    """Write the whole database into FILE, which must not exist yet."""
    config = read_config(config_path)
    with open_database(config.state, config.database_url) as url:
        backup.backup(url, file)
    size = file.stat().st_size
    _tell(as_json, {"file": str(file), "bytes": size}, f"{file} holds the database ({size:,} bytes)")
    return FINE


@database.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@json_option
@click.pass_obj
def restore(config_path: Path | None, file: Path, as_json: bool) -> int:
    """Fill an empty database from FILE; one with data in it is refused."""
    config = read_config(config_path)
    with open_database(config.state, config.database_url) as url:
        backup.restore(url, file)
    _tell(as_json, {"file": str(file)}, f"the database is as {file} has it")
    return FINE


def _tell(as_json: bool, document: dict[str, object], sentence: str) -> None:
    if as_json:
        answer(document)
    else:
        click.echo(sentence)
