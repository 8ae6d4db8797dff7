"""`perfd db upgrade|backup|restore|prune`: the database, kept."""

from pathlib import Path

import click

from perfd.cli import main
from perfd.cli.group import FINE, Commands, answer, json_option
from perfd.cli.opened import opened, read_config
from perfd.config.words import KEEP_MONTHS
from perfd.stages.retention import pinned, sentence
from perfd.store import backup, migrate, pruning
from perfd.store.store import open_database


@main.group("db", cls=Commands)
def database() -> None:
    """Bring the database to this perfd's schema, back it up, restore it, let old Samples go."""


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


@database.command()
@click.option(
    "--keep-samples",
    "months",
    default=None,
    type=click.IntRange(1, 1200),
    help="Keep the raw Samples of so many months, the current one included; default: schedule.keep_samples_months, or 13.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@json_option
@click.pass_obj
def prune(config_path: Path | None, months: int | None, dry_run: bool, as_json: bool) -> int:
    """Let the raw Samples of old months go; Points, Verdicts and pages stay for ever.

    What an open Regression, a pinned release, a Launch or an unreported occasion needs is kept.
    """
    with opened(config_path) as context:
        before = pruning.first_kept(context.now(), months or context.config.schedule.keep_samples_months or KEEP_MONTHS)
        engine, kept = context.store.engine, pinned(context.config)
        found = pruning.old_months(engine, before, kept) if dry_run else pruning.prune(engine, before, kept)
        gone = []
        for one in found:
            gone.append(one)
            if not as_json:
                click.echo(sentence(one, "would go" if dry_run else "gone"))
    if as_json:
        answer({"before": before, "dry_run": dry_run, "months": gone})
    elif not gone:
        click.echo(f"no Samples from before {before:%Y-%m} may go")
    return FINE


def _tell(as_json: bool, document: dict[str, object], sentence: str) -> None:
    if as_json:
        answer(document)
    else:
        click.echo(sentence)
