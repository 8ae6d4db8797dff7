"""`perfd launch`: Models that are released on Engines, their Checkpoints, and what can still be made better."""

from datetime import datetime
from pathlib import Path
from typing import Any

import click

from perfd.cli import launch_tables, main, tables
from perfd.cli.group import FINE, REGRESSION, UNSURE, Commands, answer, json_option
from perfd.cli.numbers import Minutes
from perfd.cli.opened import opened
from perfd.cli.tell import Teller
from perfd.domain.launch import DAYS, ModelLaunch
from perfd.domain.occasion import OccasionState
from perfd.errors import BadInputError
from perfd.rules.launch_report import launch_report, side_by_side
from perfd.rules.launches import missed
from perfd.stages.context import Context
from perfd.stages.launching import declare, declare_configured, open_due_checkpoints
from perfd.stages.night import run_to_report
from perfd.store.launch_rows import LaunchRow


@main.group(cls=Commands)
def launch() -> None:
    """Follow a Model's release on an Engine: day 0, 7, 14, at the same quality."""


@launch.command("add")
@click.argument("model")
@click.option("--engine", required=True, help="The engine of the configuration that serves the model.")
@click.option("--at", required=True, help="The moment of day 0 in ISO 8601 with its zone, such as 2026-12-01T09:00Z; or now.")
@click.option(
    "--days",
    default=",".join(map(str, DAYS)),
    show_default=True,
    help="Days of 24 hours after day 0; negative ones rehearse on random weights of the announced shapes.",
)
@click.option("--suite", "suites", multiple=True, help="Measure this suite only (may be given again); default: every suite.")
@click.option(
    "--compare-minutes",
    type=Minutes(),
    default=ModelLaunch.compare_minutes,
    show_default=True,
    help="Device minutes of a Checkpoint for measuring the first day's build again beside its own; 0 measures none.",
)
@json_option
@click.pass_obj
def add(
    config_path: Path | None,
    model: str,
    engine: str,
    at: str,
    days: str,
    suites: tuple[str, ...],
    compare_minutes: float,
    as_json: bool,
) -> int:
    """Declare a launch of MODEL. The same launch again changes nothing; until day 0 was opened it may be given another time."""
    with Teller() as tell, opened(config_path, tell) as context:
        given = _launch(context, model, engine, at, days, suites, compare_minutes)
        done = declare(context, given)
        told = _listed(context, context.store.launches.find(model, engine)[0])
    if as_json:
        answer({"done": done, **told})
    else:
        click.echo(f"{given.name}: {done}")
        tables.console().print(launch_tables.listed([told]))
    return FINE


def _launch(
    context: Context, model: str, engine: str, at: str, days: str, suites: tuple[str, ...], minutes: float
) -> ModelLaunch:
    try:
        return ModelLaunch(model, engine, _moment(context, at), tuple(sorted(_days(days))), suites, minutes)
    except ValueError as error:
        raise BadInputError(str(error)) from None


def _moment(context: Context, at: str) -> datetime:
    if at == "now":
        return context.now().replace(microsecond=0)
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        raise BadInputError(f"--at {at!r} is no time; write one such as 2026-12-01T09:00Z") from None


def _days(days: str) -> list[int]:
    try:
        return [int(day) for day in days.split(",")]
    except ValueError:
        raise BadInputError(f"--days {days!r} is no list of whole numbers; write one such as 0,7,14 or -7,0,7,14") from None


@launch.command("list")
@json_option
@click.pass_obj
def listing(config_path: Path | None, as_json: bool) -> int:
    """Show every launch with its Checkpoints. Exit code 2: one is missed."""
    with Teller() as tell, opened(config_path, tell) as context:
        declare_configured(context)
        found = [_listed(context, row) for row in context.store.launches.every()]
    if as_json:
        answer({"launches": found})
    elif found:
        tables.console().print(launch_tables.listed(found))
    else:
        click.echo("There are no launches yet; `perfd launch add MODEL --engine E --at TIME` declares one.")
    for sentence in [] if as_json else [sentence for one in found for sentence in one["alarms"]]:
        click.echo(sentence)
    return UNSURE if any(one["alarms"] for one in found) else FINE


def _listed(context: Context, row: LaunchRow) -> dict[str, Any]:
    now = context.now()
    report = launch_report(context.store.launches.facts(row), now)
    kept = ("number", "model", "engine", "at", "suites", "days", "alarms", "sentence")
    return {name: report[name] for name in kept} | {"alarms": [one.sentence for one in missed(row.checkpoints, now)]}


@launch.command("drop")
@click.argument("model")
@click.option("--engine", required=True, help="The engine of the launch.")
@json_option
@click.pass_obj
def drop(config_path: Path | None, model: str, engine: str, as_json: bool) -> int:
    """Owe no more days of MODEL's launch. What was measured stays; `perfd launch add` owes the days to come again."""
    with Teller() as tell, opened(config_path, tell) as context:
        found = context.store.launches.find(model, engine)
        if not found:
            raise BadInputError(f"there is no launch of {model!r} on {engine!r}; `perfd launch list` tells them")
        dropped = context.store.launches.drop(found[0].launch)
    if as_json:
        answer({"dropped": dropped})
    else:
        click.echo(f"{found[0].launch.name}: {dropped} days are owed no more")
    return FINE


@launch.command("report")
@click.argument("models", nargs=-1)
@click.option("--engine", help="Only launches on this engine.")
@json_option
@click.pass_obj
def report(config_path: Path | None, models: tuple[str, ...], engine: str | None, as_json: bool) -> int:
    """Report launches of MODELS (default: all): day by day, what changed, what brought how much, what is still on the list.

    Exit code 1: the newest day is worse than the first in some class; 2: a Checkpoint is missed, or nothing can be told yet.
    """
    with Teller() as tell, opened(config_path, tell) as context:
        declare_configured(context)
        rows = _chosen(context, models, engine)
        reports = [launch_report(context.store.launches.facts(row), context.now()) for row in rows]
    beside = side_by_side(reports) if len(reports) > 1 else []
    if as_json:
        answer({"launches": reports, "side_by_side": beside})
    else:
        launch_tables.show(tables.console(), reports, beside)
    return max((_code(one) for one in reports), key=(FINE, UNSURE, REGRESSION).index, default=FINE)


def _chosen(context: Context, models: tuple[str, ...], engine: str | None) -> list[LaunchRow]:
    known = context.store.launches.every()
    for name in models:
        if name not in {row.launch.model for row in known}:
            there = ", ".join(dict.fromkeys(row.launch.model for row in known)) or "none yet"
            raise BadInputError(f"there is no launch of {name!r}; there is {there}")
    if engine is not None and engine not in {row.launch.engine for row in known}:
        raise BadInputError(f"there is no launch on the engine {engine!r}")
    return [row for row in known if (not models or row.launch.model in models) and engine in {None, row.launch.engine}]


def _code(told: dict[str, Any]) -> int:
    held = [one for one in told["days"] if one["state"] == "reported" and one["classes"]]
    if held and any(one["outcome"] == "worse" for one in held[-1]["classes"].values()):
        return REGRESSION
    return UNSURE if told["alarms"] or not any(one["state"] == "reported" for one in told["days"]) else FINE


@launch.command("run")
@json_option
@click.pass_obj
def run(config_path: Path | None, as_json: bool) -> int:
    """Open every Checkpoint that is due, and take each that is open to its report, in the foreground.

    `perfd serve` does this by itself. Exit code 2: something could not be measured.
    """
    with Teller() as tell, opened(config_path, tell) as context:
        open_due_checkpoints(context)
        unfinished = [
            one.occasion
            for one in context.store.launches.checkpoints()
            if one.occasion and one.state is not OccasionState.REPORTED
        ]
        done = []
        for occasion in sorted(unfinished, key=lambda one: one.nominal_at):
            run_to_report(context, occasion)
            done.append({"occasion": occasion.name, **dict(context.store.pages.occasion(occasion).row.report or {})})
    if as_json:
        answer({"checkpoints": done})
    else:
        for one in done or [{}]:
            click.echo(launch_tables.checkpoint_line(one) if one else "No Checkpoint is due.")
    return UNSURE if any(one.get("missing") or one.get("findings") for one in done) else FINE
