"""`perfd detect FILE`: the judge for people who have only a file. Needs no database."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from perfd import plots
from perfd.cli import main
from perfd.cli.group import FINE, REGRESSION, answer, json_option
from perfd.cli.tables import console
from perfd.domain.verdict import ChangeStatus
from perfd.errors import BadInputError
from perfd.rules import detect as rules
from perfd.rules.series_file import read_series

MOST_BYTES = 1 << 30


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

    Exit code 1: a change was detected (nobody said which way is better); 0: none.
    """
    found = rules.detect(read_series(_text(file), str(file)), online=online)
    if plot is not None:
        _draw(found, plot)
    if as_json:
        answer(rules.answer(found))
    else:
        _print(found)
    return REGRESSION if any(change.status is ChangeStatus.DETECTED for one in found for change in one.changes) else FINE


def _text(file: Path) -> str:
    try:
        size = file.stat().st_size
        if size > MOST_BYTES:
            raise BadInputError(f"{file}: {size:,} bytes, and at most {MOST_BYTES:,} are read; split the file")
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(f"{file}: is not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except OSError as error:
        raise BadInputError(f"{file}: cannot be read ({error.strerror})") from None


def _draw(found: Sequence[rules.Detected], plot: Path) -> None:
    views = [plots.SeriesView(one.name, "", one.values.tolist(), changes=one.changes) for one in found]
    try:
        plot.write_bytes(plots.series_png(views))
    except OSError as error:
        raise BadInputError(f"{plot}: the picture cannot be written ({error.strerror}); give another --plot FILE") from None


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
            table.add_row(one.name, str(change.index), change.kind, change.status, *levels, interval, flagged)
    out = console()
    if table.rows:
        out.print(table)
    else:
        out.print("No change was found.")
    for one in found:
        mde = ", ".join(f"{effect:.2%} after {nights} nights" for nights, effect in one.mde.items())
        points = "1 point" if len(one.values) == 1 else f"{len(one.values)} points"
        out.print(f"{one.name}: {points}; smallest effect found with 90 % power: {mde or 'unknown'}", markup=False)
        for note in one.notes:
            out.print(f"  {note}", markup=False)
