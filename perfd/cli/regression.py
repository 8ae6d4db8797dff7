"""`perfd regression list|show|move|pin`: what someone must answer, answered from the command line."""

import getpass
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from perfd.cli import main
from perfd.cli.group import FINE, REGRESSION, Commands, answer, json_option
from perfd.cli.numbers import NUMBER
from perfd.cli.opened import opened
from perfd.cli.reasons import REASON
from perfd.cli.shown import shown
from perfd.cli.tables import console
from perfd.cli.tell import Silent
from perfd.domain.verdict import OPEN_STATES, RegressionState
from perfd.errors import BadInputError
from perfd.stages.context import utc_now
from perfd.stages.pinning import pin as pin_it
from perfd.store import Store
from perfd.store.records import RegressionRow

BY_PEOPLE = ("owned", "fixed", "accepted", "noise", "duplicate")
"""States that a person may give; the others are only ever measured."""


@main.group("regression", cls=Commands)
def regression() -> None:
    """List Regressions, read one, answer it, or make a test of it."""


STATES = ("open", *(one.value for one in RegressionState))


@regression.command("list")
@click.option(
    "--state",
    type=click.Choice(STATES),
    default="open",
    show_default=True,
    help="Only these.",
)
@click.option("--all", "every", is_flag=True, help="Those of every state.")
@json_option
@click.pass_obj
def list_(config_path: Path | None, state: str, every: bool, as_json: bool) -> int:
    """List Regressions, oldest first. Exit code 1: some of those that are listed must still be answered."""
    states = None if every else OPEN_STATES if state == "open" else {RegressionState(state)}
    with Silent() as tell, opened(config_path, tell) as context:
        rows = context.store.regressions.every(states)
    if as_json:
        answer({"regressions": [document(row) for row in rows]})
    elif rows:
        console().print(_table(rows))
    else:
        click.echo(_none(state, every))
    return REGRESSION if any(row.state in OPEN_STATES for row in rows) else FINE


@regression.command()
@click.argument("number", type=NUMBER)
@json_option
@click.pass_obj
def show(config_path: Path | None, number: int, as_json: bool) -> int:
    """Read regression NUMBER: its Series with the levels before and after, and what happened to it."""
    with Silent() as tell, opened(config_path, tell) as context:
        row = _read(context.store, number)
    if as_json:
        answer(document(row))
    else:
        _print(row)
    return FINE


@regression.command()
@click.argument("number", type=NUMBER)
@click.argument("state", type=click.Choice(BY_PEOPLE))
@click.option("--reason", type=REASON, required=True, help="Why, in a sentence; it stands in the Regression's life.")
@click.option("--actor", help="Who does it; default: your user name.")
@click.option("--owner", help="Who answers it from now on, with the state owned; default: who does it.")
@click.option("--of", "other", type=NUMBER, metavar="N", help="Which Regression it repeats, with the state duplicate.")
@json_option
@click.pass_obj
def move(
    config_path: Path | None,
    number: int,
    state: str,
    reason: str,
    actor: str | None,
    owner: str | None,
    other: int | None,
    as_json: bool,
) -> int:
    """Answer regression NUMBER: it is owned, fixed, accepted, noise, or a duplicate of another.

    What is suspected, detected, confirmed or verified is only ever measured.
    """
    if (state == "duplicate") != (other is not None):
        raise BadInputError("a duplicate says of which Regression with --of N; no other state does")
    if owner is not None and state != "owned":
        raise BadInputError("--owner goes with the state owned")
    with Silent() as tell, opened(config_path, tell) as context:
        _move(context.store, _read(context.store, number), (state, owner, other), actor or getpass.getuser(), reason)
        row = _read(context.store, number)
    if as_json:
        answer(document(row))
    else:
        click.echo(f"regression {number} is {row.state}" + (f" by {row.owner}" if state == "owned" else ""))
    return FINE


@regression.command()
@click.argument("number", type=NUMBER)
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="Where to; default: the folder of suites.")
@json_option
@click.pass_obj
def pin(config_path: Path | None, number: int, folder: Path | None, as_json: bool) -> int:
    """Write a suite that would catch regression NUMBER on its first night, should it come back.

    Its Workloads are those that showed it, each with a limit between the good level and the lost one. Every night of the engine
    runs it from then on; delete the file to end that.
    """
    with Silent() as tell, opened(config_path, tell) as context:
        path, suite = pin_it(context, number, folder or context.config.suites_folder)
    limits = sum(len(workload.limits) for workload in suite.workloads)
    if as_json:
        answer({"file": str(path), "suite": suite})
    else:
        click.echo(
            f"{path}: {len(suite.workloads)} workloads with {limits} limits, run by {', '.join(suite.engines)} every night"
        )
    return FINE


def _read(store: Store, number: int) -> RegressionRow:
    row = store.regressions.read(number)
    if row is None:
        raise BadInputError(f"there is no regression {number}; `perfd regression list --all` shows which there are")
    return row


def _move(store: Store, row: RegressionRow, into: tuple[str, str | None, int | None], actor: str, reason: str) -> None:
    state, owner, other = into
    step: dict[str, Any] = {"actor": actor, "reason": reason, "now": utc_now()}
    if other is not None:
        if other == row.id:
            raise BadInputError(f"regression {row.id} cannot repeat itself")
        moved = store.regressions.duplicate(row.id, row.state, _read(store, other).id, **step)
    elif state == "owned":
        moved = store.regressions.own(row.id, row.state, owner or actor, **step)
    else:
        moved = store.regressions.move(row.id, row.state, RegressionState(state), **step)
    if not moved:
        raise BadInputError(f"regression {row.id} was moved by somebody else just now; look at it and try again")


def document(row: RegressionRow) -> dict[str, Any]:
    """A Regression as JSON."""
    return {
        "id": row.id,
        "title": row.title,
        "state": row.state,
        "subject": row.subject,
        "revision": row.revision,
        "owner": row.owner,
        "duplicate_of": row.duplicate_of,
        "opened_at": row.opened_at,
        "moved_at": row.moved_at,
        "members": [
            {
                "series": info.id,
                "workload": info.workload_name,
                "metric": info.key.metric,
                "unit": info.metric.unit,
                "model": info.key.model,
                "device_class": info.key.device_class,
                "before": change.before,
                "after": change.after,
                "effect": change.effect,
            }
            for info, change in row.members
        ],
        "events": row.events,
    }


def _none(state: str, every: bool) -> str:
    if every:
        return "There are no Regressions yet."
    which = "must be answered" if state == "open" else f"is {state}"
    return f"No Regression {which}; `perfd regression list --all` shows those of every state."


def _table(rows: tuple[RegressionRow, ...]) -> Table:
    table = Table(title="Regressions", title_justify="left", pad_edge=False)
    for name in ("", "state", "owner", "opened", "what"):
        table.add_column(name)
    for row in rows:
        table.add_row(str(row.id), row.state, row.owner or "nobody", f"{row.opened_at:%Y-%m-%d}", row.title)
    return table


def _print(row: RegressionRow) -> None:
    click.echo(shown(f"regression {row.id}, {row.state}, owner {row.owner or 'nobody'}: {row.title}"))
    for info, change in row.members:
        level = f"{change.before:.4g} to {change.after:.4g} {info.metric.unit} ({change.effect:+.1%})"
        click.echo(shown(f"  {info.workload_name} {info.key.metric} {info.key.model} on {info.key.device_class}: {level}"))
    for event in row.events:
        click.echo(shown(f"  {event.at:%Y-%m-%d %H:%M} {event.actor}: {event.to_state}, {event.reason}"))
