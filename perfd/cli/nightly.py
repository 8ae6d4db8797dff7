"""`perfd nightly`: one night in the foreground, to the end."""

from pathlib import Path

import click

from perfd.cli import main, tables
from perfd.cli.group import FINE, REGRESSION, UNSURE, answer, json_option
from perfd.cli.opened import opened
from perfd.cli.tell import Teller
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import OccasionKind
from perfd.errors import PerfdError
from perfd.stages.context import Context
from perfd.stages.night import open_night, run_to_report
from perfd.stages.plan import suite_of
from perfd.stages.subjects import Wanted, by_name
from perfd.store.records import OccasionSummary


@main.command()
@click.option("--engine", "engines", multiple=True, help="Measure this engine (may be given again); default: all nightly ones.")
@click.option(
    "--suite", "suites", multiple=True, help="Measure all of this suite instead of the nightly ones (may be given again)."
)
@json_option
@click.pass_obj
def nightly(config_path: Path | None, engines: tuple[str, ...], suites: tuple[str, ...], as_json: bool) -> int:
    """Take one night through all six stages: watch, plan, build, measure, judge, report.

    A night that was interrupted is finished first. Exit code 1: a regression was
    confirmed; 2: something could not be measured.
    """
    with Teller() as tell, opened(config_path, tell) as context:
        for name in engines:
            by_name(context.config, name)
        for name in suites:
            suite_of(context.config, name)
        _finish_earlier(context)
        occasion = open_night(context, Wanted(engines, suites))
        run_to_report(context, occasion)
        summary = _summary(context, occasion)
    report = summary.row.report or {}
    if as_json:
        answer(report)
    else:
        _print(summary)
    if any(one["gates"] for one in report.get("regressions", ())):
        return REGRESSION
    return UNSURE if report.get("missing") or report.get("findings") else FINE


def _finish_earlier(context: Context) -> None:
    """A night that was killed, or stopped with Ctrl-C, goes on from where it was."""
    for state in OccasionState:
        for occasion in context.store.occasions.every_in_state(state) if state is not OccasionState.REPORTED else ():
            if occasion.kind is OccasionKind.NIGHT:
                context.tell.say("nightly", f"going on with {occasion.name}, which was {state}")
                run_to_report(context, occasion)


def _summary(context: Context, occasion: Occasion) -> OccasionSummary:
    summary = context.store.pages.occasion_named(occasion.name)
    if summary is None or summary.row.report is None:
        raise PerfdError(f"{occasion.name} did not come to its report; run `perfd nightly` again to finish it", permanent=False)
    return summary


def _print(summary: OccasionSummary) -> None:
    console = tables.console()
    console.print(tables.night(summary))
    console.print(tables.counts(summary.row.report or {}), markup=False)
    for line in tables.told(summary.row.report or {}):
        console.print(line, markup=False)
    console.print("See it all: perfd serve   (http://127.0.0.1:8642)", markup=False)
