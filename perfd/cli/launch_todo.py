"""`perfd launch todo`: what a Launch can still use, who does it, and what it was measured to bring."""

from pathlib import Path

import click

from perfd.cli import launch_tables, tables
from perfd.cli.group import FINE, Commands, answer, json_option
from perfd.cli.launch import launch
from perfd.cli.numbers import NUMBER
from perfd.cli.opened import opened
from perfd.cli.tell import Teller
from perfd.domain.launch import TodoState
from perfd.errors import BadInputError
from perfd.rules.launch_report import launch_report
from perfd.stages.context import Context
from perfd.store.launch_rows import LaunchRow
from perfd.store.todos import TodoMove

AREAS = ("kv cache", "attention kernels", "quantisation", "routing", "scheduling", "other")


@launch.group(cls=Commands)
def todo() -> None:
    """Work on the list of optimisations that a launch can still use."""


@todo.command("add")
@click.argument("model")
@click.argument("title")
@click.option("--engine", help="The launch's engine; needed where the model is launched on several.")
@click.option("--area", default="other", show_default=True, help=f"What it is about: {', '.join(AREAS)}, or a word of your own.")
@click.option("--owner", default="", help="Who does it; default: nobody yet.")
@json_option
@click.pass_obj
def add(config_path: Path | None, model: str, title: str, engine: str | None, area: str, owner: str, as_json: bool) -> int:
    """Write TITLE on the list of MODEL's launch. The same title again changes nothing."""
    if not title.strip():
        raise BadInputError("an optimisation needs a title that says what is to be done")
    with Teller() as tell, opened(config_path, tell) as context:
        row = _one(context, model, engine)
        number = context.store.todos.add(row.id, " ".join(title.split()), area, owner, context.now())
    if as_json:
        answer({"number": number})
    else:
        click.echo(f"optimisation {number} stands on the list of {row.launch.name}")
    return FINE


@todo.command("list")
@click.argument("model", required=False)
@click.option("--engine", help="Only launches on this engine.")
@click.option("--open", "only_open", is_flag=True, help="Only what is open or being done.")
@json_option
@click.pass_obj
def listing(config_path: Path | None, model: str | None, engine: str | None, only_open: bool, as_json: bool) -> int:
    """Show the lists of all launches, or of MODEL's."""
    with Teller() as tell, opened(config_path, tell) as context:
        rows = context.store.launches.every() if model is None else _every(context, model, engine)
        told = [launch_report(context.store.launches.facts(row), context.now()) for row in rows]
    found = [
        {"launch": report["launch"], **one}
        for report in told
        for one in report["todo"]
        if not only_open or one["state"] in {TodoState.OPEN, TodoState.DOING}
    ]
    if as_json:
        answer({"todo": found})
    elif found:
        tables.console().print(launch_tables.todo(found))
    else:
        click.echo("Nothing is on the list.")
    return FINE


@todo.command("move")
@click.argument("number", type=NUMBER)
@click.argument("state", type=click.Choice([one.value for one in TodoState]), required=False)
@click.option("--owner", help="Who does it from now on.")
@click.option("--note", help="Why, in a sentence.")
@click.option("--change", type=NUMBER, help="The number of the Change that shows its effect, as `perfd launch report` tells it.")
@click.option("--comparison", help="The name of the comparison that shows its effect, as its page tells it.")
@json_option
@click.pass_obj
def move(
    config_path: Path | None,
    number: int,
    state: str | None,
    owner: str | None,
    note: str | None,
    change: int | None,
    comparison: str | None,
    as_json: bool,
) -> int:
    """Move optimisation NUMBER to STATE, give it an owner, or link it to its measured effect."""
    given = TodoMove(None if state is None else TodoState(state), owner, note, change, comparison)
    if given == TodoMove():
        raise BadInputError("nothing is to be moved; give a state, --owner, --note, --change or --comparison")
    with Teller() as tell, opened(config_path, tell) as context:
        found = context.store.todos.move(number, given, context.now())
    if as_json:
        answer(found)
    else:
        click.echo(f"optimisation {found.number} is {found.state}" + (f", {found.owner} does it" if found.owner else ""))
    return FINE


def _every(context: Context, model: str, engine: str | None) -> tuple[LaunchRow, ...]:
    rows = context.store.launches.find(model, engine)
    if not rows:
        on = f" on {engine!r}" if engine else ""
        raise BadInputError(f"there is no launch of {model!r}{on}; `perfd launch list` tells them")
    return rows


def _one(context: Context, model: str, engine: str | None) -> LaunchRow:
    rows = _every(context, model, engine)
    if len(rows) > 1:
        raise BadInputError(f"{model} is launched on {', '.join(row.launch.engine for row in rows)}; say which with --engine")
    return rows[0]
