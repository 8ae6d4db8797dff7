"""`perfd compare BASE HEAD`: two Builds in interleaved ABBA blocks on one device."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from perfd.cli import main, tables
from perfd.cli.group import FINE, REGRESSION, UNSURE, answer, json_option
from perfd.cli.opened import opened
from perfd.cli.tell import Teller
from perfd.domain.occasion import Occasion
from perfd.domain.subject import Revision, SourceKind, brief
from perfd.domain.verdict import Outcome
from perfd.errors import BadInputError, PerfdError
from perfd.stages.aside import Aside, open_aside
from perfd.stages.comparison import open_comparison
from perfd.stages.context import Context
from perfd.stages.night import run_to_report
from perfd.stages.subjects import Chosen, by_name
from perfd.stages.watch import look_up

_FULL = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
EXIT = {Outcome.WORSE: REGRESSION, Outcome.UNSURE: UNSURE, Outcome.NOT_COMPARABLE: UNSURE}


@main.command()
@click.argument("base")
@click.argument("head")
@click.option("--engine", "subject_name", help="The engine or kernel; default: the first engine of the configuration.")
@click.option("--workload", "workloads", multiple=True, help="Only this workload (may be given again); default: all of a night.")
@json_option
@click.pass_obj
def compare(
    config_path: Path | None, base: str, head: str, subject_name: str | None, workloads: tuple[str, ...], as_json: bool
) -> int:
    """Measure revisions BASE and HEAD in turn (base head head base …) until every metric is decided.

    BASE and HEAD are commits, or released versions, of the engine's source; a unique beginning is enough on its tracked branch,
    and full hashes serve beside it (commits of a pull request). The blocks are stored.
    Exit code 1: HEAD is worse; 2: it stayed unsure, or the two are not comparable.
    """
    with Teller() as tell, opened(config_path, tell) as context:
        subject = by_name(context.config, subject_name or context.config.engines[0].name)
        occasion = _opened(context, subject, (base, head), frozenset(workloads))
        run_to_report(context, occasion)
        report = _report(context, occasion)
    if as_json:
        answer({"comparison": occasion.name, **report})
    else:
        _print(occasion, report)
    return EXIT.get(Outcome(report["verdict"]["outcome"]), FINE)


def _opened(context: Context, subject: Chosen, names: tuple[str, str], only: frozenset[str]) -> Occasion:
    """The comparison, also of commits that stand on no tracked branch (of a pull request), where their full hashes are given."""
    found = _revisions(context, subject, names)
    known = {one.name for one in found}
    if subject.source.kind is not SourceKind.GIT or not all(_FULL.fullmatch(name) for name in names) or known >= set(names):
        base, head = (revision_named(name, found, subject) for name in names)
        return open_comparison(context, subject, base, head, only)
    label = f"{subject.name}@{brief(names[0])}..{brief(names[1])}"
    aside = Aside(subject, *names, label, "aside")
    occasion = open_aside(context, aside, lambda workload: not only or workload.name in only)
    if occasion is None:
        raise BadInputError(f"there is no workload {', '.join(sorted(only))} of {subject.name}")
    return occasion


def _revisions(context: Context, subject: Chosen, names: tuple[str, ...]) -> tuple[Revision, ...]:
    """What the source tells; where it is pinned and a name is another version, every version that was ever released."""
    found = look_up(context, subject)
    pinned = subject.source.kind is SourceKind.INDEX and not all(
        any(one.name.startswith(name) for one in found) for name in names
    )
    return look_up(context, replace(subject, source=replace(subject.source, version="latest"))) if pinned else found


def revision_named(name: str, known: tuple[Revision, ...], subject: Chosen) -> Revision:
    """The Revision of that name, of which a unique beginning is enough; raises BadInputError where there is none, or several."""
    fitting = [revision for revision in known if revision.name == name] or [one for one in known if one.name.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise BadInputError(f"{name!r} begins {len(fitting)} revisions of {subject.name}; give more of its name")
    raise BadInputError(
        f"{subject.name} has no revision {name!r} among the {len(known)} that its source tells; the newest is {known[-1].name}"
    )


def _report(context: Context, occasion: Occasion) -> dict[str, Any]:
    summary = context.store.pages.occasion_named(occasion.name)
    if summary is None or summary.row.report is None:
        raise PerfdError(f"{occasion.name} did not come to its report; run `perfd judge --once` to finish it", permanent=False)
    return dict(summary.row.report)


def _print(occasion: Occasion, report: dict[str, Any]) -> None:
    console = tables.console()
    console.print(tables.comparison(occasion.name, report["rows"]))
    for failure in report["failures"]:
        console.print(f"not measured: {failure}", markup=False)
    console.print(f"{report['verdict']['outcome']}", markup=False)
