"""`perfd export`: the tables of the site as files, with every column and in base units."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from perfd.cli import main
from perfd.cli.group import FINE, json_option
from perfd.cli.numbers import NUMBER
from perfd.cli.opened import opened
from perfd.cli.tell import Silent
from perfd.domain.run import OccasionKind
from perfd.domain.table import Table
from perfd.domain.verdict import OPEN_STATES
from perfd.errors import BadInputError
from perfd.parquet import parquet
from perfd.site import tables
from perfd.site.sheets import judged, kernels, service, sheet
from perfd.store import SeriesFilter, Store
from perfd.store.pages import OccasionFilter, Question, Sorting

FORMS = ("csv", "json", "parquet")
MOST_ROWS = 1_000_000
LISTS: Mapping[str, Callable[[Store], Table]] = {
    "comparisons": lambda store: sheet(
        "comparisons",
        judged.ComparisonLine,
        map(judged.comparison, store.pages.occasion_list(OccasionFilter(OccasionKind.COMPARE), 0, MOST_ROWS)[1]),
    ),
    "devices": lambda store: sheet("devices", service.DeviceLine, map(service.device, store.devices.rows())),
    "kernels": lambda store: sheet("kernels", kernels.KernelLine, kernels.lines(store)),
    "nights": lambda store: sheet("nights", service.NightLine, service.nights(store.pages.nights(MOST_ROWS))),
}
"""Tables that are written whole."""
TABLES = ("series", "points", "runs", "samples", "compare", "regressions", *LISTS)


@main.command("export")
@click.argument("table", type=click.Choice(TABLES))
@click.option("--form", type=click.Choice(FORMS), help="csv, json or parquet; default: by the file's ending, or csv.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The file to write; default: standard output.")
@click.option("--series", "ids", type=NUMBER, multiple=True, metavar="N", help="Points of this Series only (may be given again).")
@click.option("--subject", help="Only Series of this engine or kernel.")
@click.option("--metric", help="Only Series of this Metric.")
@click.option("--workload", help="Only Series of this Workload.")
@click.option("--run", "runs", multiple=True, metavar="KEY", help="The Run whose Samples are wanted (may be given again).")
@click.option("--build", metavar="DIGEST", help="The Build whose Runs are wanted.")
@click.option("--base", metavar="SIDE", help="With compare: a day, a night's name, or the digest of a Build.")
@click.option("--head", metavar="SIDE", help="With compare: what is held against the base.")
@click.option("--only-open", is_flag=True, help="Only Regressions that someone must answer.")
@json_option
@click.pass_obj
def export(config_path: Path | None, /, table: str, form: str | None, output: Path | None, as_json: bool, **words: Any) -> int:
    """Write a TABLE: series, points, runs (of a Build), samples (of Runs), compare, regressions, and others whole.

    With --json the table is one JSON document on standard output.
    """
    ending = output.suffix.removeprefix(".") if output else ""
    chosen = "json" if as_json and not output else form or (ending if ending in FORMS else "csv")
    if chosen == "parquet" and output is None:
        raise BadInputError("Parquet is no text: name a file with --output FILE.parquet")
    with Silent() as tell, opened(config_path, tell) as context:
        made = _table(context.store, table, words)
    _write(made, chosen, output)
    return FINE


def _table(store: Store, table: str, words: Any) -> Table:
    """What was asked for; raises BadInputError where its option is missing, or names nothing."""
    if table in LISTS:
        return LISTS[table](store)
    wanted = SeriesFilter(subject=words["subject"], metric=words["metric"], workload=words["workload"])
    if table == "series":
        return tables.series(store, wanted)
    if table == "points":
        return tables.points(store, words["ids"] or [row.info.id for row in store.pages.series_rows(wanted)])
    if table == "regressions":
        return tables.regressions(store.regressions.every(OPEN_STATES if words["only_open"] else None))
    if table == "compare":
        return tables.comparison(store, _question(store, wanted, words["base"], words["head"]))
    return _of_runs(store, table, words)


def _of_runs(store: Store, table: str, words: Any) -> Table:
    if table == "runs":
        page = store.pages.build_page(words["build"]) if words["build"] else None
        if page is None:
            raise BadInputError("runs are those of a Build: name it with --build DIGEST, all 64 digits")
        return tables.runs(page.runs)
    pages = [(key, store.pages.run_page(key)) for key in words["runs"]]
    missing = [key for key, one in pages if one is None]
    if missing or not pages:
        raise BadInputError(
            f"there is no Run {missing[0][:70]}" if missing else "samples are those of Runs: name them with --run KEY"
        )
    parts = [tables.samples(one) for _, one in pages if one is not None]
    return Table(parts[0].name, parts[0].columns, [row for part in parts for row in part.rows])


def _question(store: Store, wanted: SeriesFilter, base: str | None, head: str | None) -> Question:
    if not base or not head:
        raise BadInputError("compare needs --base and --head: each a day (2026-11-29), a night's name, or the digest of a Build")
    sides = [store.pages.side(name) for name in (base, head)]
    if sides[0] is None or sides[1] is None:
        raise BadInputError(f"nothing was measured under the name {(base if sides[0] is None else head)[:70]!r}")
    return Question(sides[0], sides[1], wanted, None, Sorting.NOISE, 0, MOST_ROWS)


def _write(made: Table, form: str, output: Path | None) -> None:
    data = parquet(made) if form == "parquet" else (made.csv() if form == "csv" else made.json() + "\n").encode()
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        raise BadInputError(f"{output}: cannot be written ({error.strerror})") from None
    click.echo(f"{output}: {len(made.rows):,} rows", err=True)
