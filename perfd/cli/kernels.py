"""`perfd kernels`: compile and check the kernels of kernels/, without a database."""

from pathlib import Path

import click
from rich.table import Table

from perfd.cli import main
from perfd.cli.group import FINE, REGRESSION, answer, json_option
from perfd.cli.opened import read_config
from perfd.cli.tables import console, number
from perfd.domain.run import RunState
from perfd.stages.kernels import KernelLine, try_kernels


@main.command()
@click.option("--static", is_flag=True, help="Only compile and count; leave out the check against float64.")
@click.option("--op", "ops", multiple=True, help="Only this op (may be given again); default: every file of kernels/.")
@json_option
@click.pass_obj
def kernels(config_path: Path | None, static: bool, ops: tuple[str, ...], as_json: bool) -> int:
    """Compile every kernel for sm_80, sm_90 and sm_100, count registers and spills, and hold its values against float64.

    Needs no GPU and no database; nothing is timed. Exit code 1: a kernel did not compile, or its values are wrong.
    """
    lines = try_kernels(read_config(config_path), frozenset(ops), static_only=static)
    if as_json:
        answer({"kernels": lines})
    else:
        console().print(_table(lines))
    return REGRESSION if any(line.state is not RunState.DONE for line in lines) else FINE


def _table(lines: tuple[KernelLine, ...]) -> Table:
    table = Table(title="Kernels, compiled and checked (not timed)", title_justify="left", pad_edge=False)
    for name in ("kernel", "on", "result"):
        table.add_column(name)
    for line in lines:
        figures = "  ".join(f"{figure.metric} {number(figure.value, figure.unit)}" for figure in line.figures)
        table.add_row(line.workload, line.device_class, figures or f"{line.state}: {line.reason}")
    return table
