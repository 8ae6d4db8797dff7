"""`perfd doctor`: can this machine be trusted to measure today?"""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from perfd.bench.doctor import Check, Level
from perfd.cli import main
from perfd.cli.group import FINE, UNSURE, answer, json_option
from perfd.cli.opened import read_config
from perfd.cli.tables import console
from perfd.stages.doctor import examine_all

MARKS = {Level.OK: "✓ ok", Level.WARN: "! warn", Level.BAD: "✗ bad"}


@main.command()
@json_option
@click.pass_obj
def doctor(config_path: Path | None, as_json: bool) -> int:
    """Look at cores, governor, load, clocks, neighbours, Postgres, engines and weights; every complaint has its remedy.

    Exit code 2: something is bad enough that numbers from this machine should not be believed today.
    """
    checks = examine_all(read_config(config_path))
    if as_json:
        answer({"checks": checks})
    else:
        console().print(_table(checks))
    return UNSURE if any(check.level is Level.BAD for check in checks) else FINE


def _table(checks: Sequence[Check]) -> Table:
    table = Table(title="Can this machine be trusted to measure today?", title_justify="left", pad_edge=False)
    for name in ("", "check", "seen", "remedy"):
        table.add_column(name)
    for check in checks:
        table.add_row(MARKS[check.level], check.name, check.seen, check.remedy)
    return table
