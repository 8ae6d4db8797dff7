"""`perfd bisect GOOD BAD`: which commit brought a difference, by comparisons along the first parents."""

from pathlib import Path
from typing import Any

import click

from perfd.cli import main
from perfd.cli.compare import revision_named
from perfd.cli.group import FINE, REGRESSION, UNSURE, answer, json_option
from perfd.cli.numbers import NUMBER, Minutes
from perfd.cli.opened import opened
from perfd.cli.shown import shown
from perfd.cli.tell import Teller
from perfd.domain.bisect import BisectEnd, StepKind, Wanted
from perfd.domain.metric import METRICS
from perfd.domain.subject import brief
from perfd.domain.verdict import Outcome
from perfd.errors import BadInputError, PerfdError
from perfd.stages.bisect import bisect as unit
from perfd.stages.bisect_path import DEFAULT_MINUTES, Budget, open_between, open_bisect
from perfd.stages.bisect_read import state_of
from perfd.stages.context import Context
from perfd.stages.night import run_to_report, work_off
from perfd.stages.proposal import account
from perfd.stages.subjects import by_name
from perfd.stages.watch import look_up
from perfd.store.records import BisectRow, BisectStep


@main.command()
@click.argument("good", required=False)
@click.argument("bad", required=False)
@click.option("--regression", type=NUMBER, metavar="N", help="Search for the commit of regression N; no GOOD and BAD then.")
@click.option("--engine", "subject_name", help="The engine; default: the first engine of the configuration.")
@click.option("--workload", default="", help="Decide by this workload; default: the one that tells the ends apart best.")
@click.option("--metric", default="", help="Decide by this metric; default: the one that tells the ends apart best.")
@click.option("--budget-builds", type=click.IntRange(0, 1_000_000), help="Builds to make at most; default: 2 log2(commits) + 6.")
@click.option(
    "--budget-minutes",
    type=Minutes(),
    default=DEFAULT_MINUTES,
    show_default=True,
    help="Device minutes to measure at most.",
)
@click.option("--once", is_flag=True, help="Do one unit of work on an open bisection at most, and end.")
@json_option
@click.pass_obj
def bisect(
    config_path: Path | None,
    good: str | None,
    bad: str | None,
    regression: int | None,
    subject_name: str | None,
    workload: str,
    metric: str,
    budget_builds: int | None,
    budget_minutes: float,
    once: bool,
    as_json: bool,
) -> int:
    """Find the commit after revision GOOD, up to revision BAD, that brought the difference between them.

    Without GOOD, BAD and --regression, the bisections that were interrupted go on. Exit code 1: a commit (or a dependency) made
    it worse; 2: a range that could not be narrowed, or ends that stayed unsure.
    """
    budget = Budget(budget_builds, budget_minutes)
    if metric and metric not in METRICS:
        raise BadInputError(f"there is no metric {metric!r}; docs/metrics.md lists them")
    if once and (good, regression) != (None, None):
        raise BadInputError("--once works on what is open already: leave GOOD, BAD and --regression out, or leave out --once")
    with Teller() as tell, opened(config_path, tell) as context:
        if once:
            done = int(unit(context))
            numbers = [row.id for row in context.store.bisects.unended()]
        else:
            numbers = _opened(context, (good, bad), regression, subject_name, Wanted(workload=workload, metric=metric), budget)
            done = sum(_work(context, number) for number in numbers)
        reports = [_report(context, number) for number in numbers]
    if as_json:
        answer({"units": done, "bisections": reports})
    else:
        _print(reports)
    return FINE if once else max((int(report["exit"]) for report in reports), default=FINE)


def _opened(
    context: Context,
    ends: tuple[str | None, str | None],
    regression: int | None,
    subject_name: str | None,
    wanted: Wanted,
    budget: Budget,
) -> list[int]:
    """The numbers of the bisections to take to their end."""
    good, bad = ends
    if regression is not None:
        if good is not None or wanted != Wanted():
            raise BadInputError("a regression says itself where to search and by what: leave GOOD, BAD, --workload, --metric out")
        return [open_bisect(context, regression, budget)]
    if good is None and bad is None:
        return [row.id for row in context.store.bisects.unended()]
    if good is None or bad is None:
        raise BadInputError("give two revisions, GOOD and BAD, or --regression N")
    subject = by_name(context.config, subject_name or context.config.engines[0].name)
    found = look_up(context, subject)
    both = revision_named(good, found, subject), revision_named(bad, found, subject)
    return [open_between(context, subject, both, wanted, budget)]


def _work(context: Context, number: int) -> int:
    """The bisection has ended, or nobody here can take it further; returns the steps that were done."""
    begun = len(_row(context, number).steps)
    while (row := _row(context, number)).ended is None:
        work_off(context)
        if row.steps:
            run_to_report(context, row.steps[-1].occasion)
        if _progress(_row(context, number)) == _progress(row):
            break
    return len(_row(context, number).steps) - begun


def _progress(row: BisectRow) -> tuple[Any, ...]:
    return row.ended, len(row.steps), row.steps[-1:]


def _row(context: Context, number: int) -> BisectRow:
    row = context.store.bisects.read(number)
    if row is None:
        raise PerfdError(f"bisect {number} is not there any more")
    return row


def _report(context: Context, number: int) -> dict[str, Any]:
    """All that is known, in plain words and numbers."""
    row = _row(context, number)
    state = state_of(context, row)
    spent = {
        "builds": state.builds_made,
        "of_builds": row.most_builds,
        "minutes": state.device_s / 60,
        "of_minutes": row.most_minutes,
    }
    ended = row.ended
    return {
        **account(row),
        "good": None if ended is None else row.path[ended.good].revision,
        "bad": None if ended is None else row.path[ended.bad].revision,
        "reason": "" if ended is None else ended.reason,
        "patch": "" if ended is None else ended.patch,
        "proposal": "" if ended is None else ended.proposal,
        "target": row.target,
        "places": len(row.path),
        "spent": spent,
        "steps": [_step(row, step) for step in row.steps],
        "exit": _exit(row, state.towards, [one.outcome for one in state.answers]),
    }


def _step(row: BisectRow, step: BisectStep) -> dict[str, Any]:
    base, head = row.path[step.base].revision, row.path[step.head].revision
    return {
        "number": step.number,
        "kind": step.kind.value,
        "base": base,
        "head": head,
        "why": step.why,
        "occasion": step.occasion.name,
        "outcome": None if step.outcome is None else step.outcome.value,
        "pairs": step.pairs,
        "effect": step.effect,
        "interval": step.interval,
        "reason": step.reason,
    }


def _exit(row: BisectRow, towards: Outcome | None, outcomes: list[Outcome]) -> int:
    if row.ended is None or row.ended.end is BisectEnd.RANGE:
        return UNSURE
    if row.ended.end is BisectEnd.NOT_REPRODUCED:
        return FINE if outcomes[-1:] == [Outcome.SAME] else UNSURE
    return REGRESSION if towards is Outcome.WORSE else FINE


def _print(reports: list[dict[str, Any]]) -> None:
    for report in reports:
        for step in report["steps"]:
            what = f"build {brief(step['head'])}"
            if step["kind"] == StepKind.COMPARE:
                what = f"{brief(step['base'])}..{brief(step['head'])}"
            click.echo(shown(f"{step['number']:>3}  {what:<28} {step['outcome'] or 'open':<12} {step['reason']}".rstrip()))
        spent = report["spent"]
        click.echo(
            f"{report['places']} places; {spent['builds']} of {spent['of_builds']} builds and "
            f"{spent['minutes']:.1f} of {spent['of_minutes']:g} device minutes spent"
        )
        click.echo(shown(report["sentence"]))
        click.echo(shown(report["proposal"]) or ("`perfd bisect` goes on with it" if report["outcome"] is None else ""))
    if not reports:
        click.echo("no bisection is open")
