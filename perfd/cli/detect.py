"""`perfd detect FILE`: the judge for people who have only a file. Needs no database."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from perfd.cli import main
from perfd.cli.group import FINE, REGRESSION, UNSURE, answer, json_option
from perfd.cli.picture import check_picture, draw
from perfd.cli.shown import on_one_line
from perfd.cli.tables import console
from perfd.cli.text_file import read_text
from perfd.domain.verdict import ChangeStatus
from perfd.rules import detect as rules
from perfd.rules.series_file import read_series
from perfd.rules.series_given import NEEDED

MANY_VALUES = 100_000
"""From here on, people wonder whether anything is happening."""


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--online", is_flag=True, help="Replay night by night, each seen with only the past; tells when each change was flagged."
)
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), help="Write a picture (PNG) of every series to this file."
)
@json_option
def detect(file: Path, online: bool, plot: Path | None, as_json: bool) -> int:
    """Find every change in FILE: CSV with a header (time,value; or time and a column a series) or JSON {"series": {NAME: [...]}}.

    Exit code 1: a change was detected (nobody said which way is better); 2: none, and a series has no value at all; 0: none.
    """
    if plot is not None:
        check_picture(plot, file)
    series = read_series(read_text(file), str(file))
    count = sum(len(one.values) for one in series)
    if count > MANY_VALUES:
        click.echo(f"judging {count:,} values in {len(series):,} series, which takes minutes", err=True)
    found = rules.detect(series, online=online)
    if as_json:
        answer(rules.answer(found))
    else:
        _print(found)
    if plot is not None:
        draw(found, plot)
    return _exit_code(found)


def _exit_code(found: Sequence[rules.Detected]) -> int:
    if any(change.status is ChangeStatus.DETECTED for one in found for change in one.changes):
        return REGRESSION
    return FINE if all(one.measured for one in found) else UNSURE


def _print(found: Sequence[rules.Detected]) -> None:
    table = Table(title="Changes", title_justify="left", pad_edge=False)
    for name in ("series", "index", "kind", "status", "before", "after", "effect", "interval", "flagged at"):
        table.add_column(name, justify="left" if name in {"series", "kind", "status"} else "right")
    for one in found:
        for change in one.changes:
            form = "+.2%" if change.before else "+.6g"  # from a level of zero there is no ratio: effects are differences
            interval = "" if change.interval is None else f"[{change.interval[0]:{form}}, {change.interval[1]:{form}}]"
            flagged = "" if change.flagged_at is None else str(change.flagged_at)
            levels = (f"{change.before:.6g}", f"{change.after:.6g}", f"{change.effect:{form}}")
            table.add_row(on_one_line(one.name), str(change.index), change.kind, change.status, *levels, interval, flagged)
    out = console()
    if table.rows:
        out.print(table)
    else:
        out.print(_nothing_found(found))
    for one in found:
        points = "1 point" if len(one.values) == 1 else f"{len(one.values)} points"
        out.print(f"{on_one_line(one.name)}: {points}; smallest effect found with 90 % power: {_mde(one)}", markup=False)
        for note in one.notes:
            out.print(f"  {on_one_line(note)}", markup=False)


def _nothing_found(found: Sequence[rules.Detected]) -> str:
    few = sum(1 for one in found if one.measured < NEEDED)
    if few == len(found):
        return f"Nothing can be said: no series has {NEEDED} values."
    left = f" {few} of {len(found)} series have fewer than {NEEDED} values, and nothing can be said of them." if few else ""
    return f"No change was found.{left}"


def _mde(one: rules.Detected) -> str:
    if one.measured < NEEDED:
        return "unknown"
    form = ".2%" if one.noise["level"] else ".6g"  # from a level of zero, effects are differences
    return ", ".join(f"{effect:{form}} after {nights} nights" for nights, effect in one.mde.items())
