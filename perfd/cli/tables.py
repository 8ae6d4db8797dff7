"""The tables that people read at the end of a command, on standard output."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from perfd.cli.group import nobody_reads
from perfd.cli.shown import shown
from perfd.domain.build import BuildState
from perfd.domain.run import RunState
from perfd.domain.subject import brief
from perfd.domain.verdict import Outcome
from perfd.store.records import BuildRow, JudgedSeries, OccasionSummary, RunRow

MARKS = {
    Outcome.BETTER: "▲ better",
    Outcome.WORSE: "▼ worse",
    Outcome.SAME: "= same",
    Outcome.UNSURE: "? unsure",
    Outcome.NOT_COMPARABLE: "≠ not comparable",
}
LOUD = frozenset({Outcome.BETTER, Outcome.WORSE, Outcome.NOT_COMPARABLE})
"""Answers that are told with their reason; the others are counted."""
LARGE = 9999.5
"""From here on, four digits would be written with an exponent."""
UNITS = ((1e-6, "µ", 1e6), (1e-3, "m", 1e3), (1.0, "", 1.0), (1e3, "k", 1e-3), (1e6, "M", 1e-6), (1e9, "G", 1e-9))


def console() -> Console:
    """Standard output; a pipe is given plain text, as wide as the table needs."""
    made = Output(highlight=False, markup=False, emoji=False)
    return made if made.is_terminal else Output(highlight=False, markup=False, emoji=False, width=160)


class Output(Console):
    """A console for text from outside, whose reader may go away; rich would exit with 1, which means a regression here."""

    def render_str(self, text: str, **words: Any) -> Text:
        """The text as it is, never as markup, and what it would do to a terminal written out."""
        return super().render_str(shown(text), **words)

    def on_broken_pipe(self) -> None:
        """What is still to be printed goes nowhere."""
        nobody_reads()


def number(value: float, unit: str) -> str:
    """Four digits with the unit, and whole numbers whole: "12.34 ms", "104.2 tokens/s", "16,384 tokens"."""
    if unit in {"s", "bytes"} and value:
        scale = max((one for one in UNITS if one[0] <= abs(value)), default=UNITS[0])
        return f"{value * scale[2]:.4g} {scale[1]}{'B' if unit == 'bytes' else unit}"
    return f"{value:,.0f} {unit}" if abs(value) >= LARGE else f"{value:.4g} {unit}"


def night(summary: OccasionSummary) -> Table:
    """What was built, measured and judged, and what is missing: a row a Build, a Workload, a thing that is missing."""
    table = Table(title=summary.row.occasion.name, title_justify="left", pad_edge=False)
    for name in ("stage", "what", "figures", "answer"):
        table.add_column(name, overflow="fold")
    for build in summary.builds:
        table.add_row("built", f"{build.subject} {brief(build.revision)} {build.title[:40]}".rstrip(), *_build(build))
    table.add_section()
    judged = sorted(summary.verdicts, key=_workload)
    for what, group in groupby(judged, key=_workload):
        table.add_row("judged", " ".join(what), *_judged(tuple(group)))
    table.add_section()
    for run in summary.runs:
        if run.state is not RunState.DONE:
            table.add_row("missing", _run(run), run.failure or run.state, run.reason[:90])
    for finding in summary.findings:
        table.add_row("missing", f"{finding.stage} {finding.subject}", "", finding.sentence)
    return table


def _workload(judged: JudgedSeries) -> tuple[str, str, str]:
    return judged.info.workload_class, judged.info.workload_name, judged.info.key.subject


def _judged(group: Sequence[JudgedSeries]) -> tuple[str, str]:
    figures = "  ".join(map(_figure, group))
    outcomes = [one.verdict.outcome for one in group]
    counts = ", ".join(f"{outcomes.count(outcome)} x {MARKS[outcome]}" for outcome in MARKS if outcome in outcomes)
    told = [f"{one.info.key.metric} {one.verdict.reason}" for one in group if one.verdict.outcome in LOUD]
    reasons = {one.verdict.reason for one in group}
    return figures, "\n".join([counts, *told]) if told or len(reasons) > 1 else f"{counts}: {reasons.pop()}"


def _build(build: BuildRow) -> tuple[str, str]:
    seconds = "" if build.seconds is None else f"{build.seconds:.1f} s"
    if build.state is BuildState.FAILED:
        last = build.log_tail.strip().splitlines()[-1:] or [""]
        return seconds, f"FAILED: {last[0]}"
    return seconds, "found, made earlier" if build.cached else str(build.state)


def _figure(judged: JudgedSeries) -> str:
    """The Metric with its value; a unit that the Metric's name tells is not said again."""
    name, unit = judged.info.key.metric, judged.info.metric.unit
    if judged.latest is None:
        return name
    said = unit not in {"s", "bytes"} and unit.split("/")[0] in name
    return f"{name} {number(judged.latest.point.value, '' if said else unit).rstrip()}"


def _run(run: RunRow) -> str:
    return f"{run.workload_class} {run.workload} on {run.subject} {brief(run.revision)}"


def counts(report: Mapping[str, Any]) -> str:
    """The night in one sentence."""
    runs, verdicts = report["runs"], report["verdicts"]
    judged = ", ".join(f"{count} {outcome}" for outcome, count in verdicts.items()) or "nothing judged"
    not_measured = runs["failed"] + runs["void"]
    return f"{runs['done']} runs measured, {not_measured} not; {judged}; {len(report['regressions'])} regressions raised"


def told(report: Mapping[str, Any]) -> list[str]:
    """What a person wants to know of a night beside its table, a line each: the worst first, and how far to believe it."""
    lines = [f"▼ regression {one['regression']}: {one['title']}" for one in report["regressions"]]
    raised = {one["regression"] for one in report["regressions"]}
    lines += [
        f"? regression {one['regression']} ({one['state']}): {one['title']}"
        for one in report.get("suspects", ())
        if one["regression"] not in raised
    ]
    lines += [f"▲ {one['title']}" for one in report.get("improvements", ())]
    lines += [one["sentence"] for one in report.get("bisections", ())]
    return [*lines, *_believed(report.get("false_alarms")), *_spent(report.get("spending"))]


def _believed(alarms: Mapping[str, Any] | None) -> list[str]:
    """How often perfd was wrong lately; nothing before it could be."""
    if not alarms or not alarms["of"]:
        return []
    low, high = alarms["interval"]
    asked = f"{alarms['aa']} A/A comparisons and {alarms['remeasured']} re-measurements"
    return [f"wrong in {alarms['wrong']} of {asked} of {alarms['days']} days: {low:.1%} to {high:.1%} are false alarms"]


def _spent(spending: Mapping[str, Any] | None) -> list[str]:
    """Device minutes, and how busy each device was."""
    if not spending or not spending["devices"]:
        return []
    minutes = ", ".join(f"{spent:g} min on {name}" for name, spent in spending["spent_minutes"].items()) or "no device minutes"
    busy = ", ".join(f"{one['host']} {one['device']} {one['busy']:.0%} busy" for one in spending["devices"])
    left = f"; {spending['not_begun']} runs not begun, the night's minutes were spent" if spending["not_begun"] else ""
    return [f"spent {minutes}; {busy}{left}"]


def comparison(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """One row a Metric: base, head, the difference with its interval, and the answer."""
    table = Table(title=title, title_justify="left", pad_edge=False)
    for name in ("class", "workload", "metric", "base", "head", "Δ", "interval", "pairs", "answer"):
        table.add_column(name, justify="left" if name in {"class", "workload", "metric", "answer"} else "right")
    for row in rows:
        table.add_row(*_comparison_row(row))
    return table


def _comparison_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    verdict, unit = row["verdict"], row["unit"]
    sides = tuple("-" if row[side] is None else number(row[side], unit) for side in ("base", "head"))
    effect = "" if verdict["effect"] is None else f"{verdict['effect']:+.2%}"
    interval = "" if verdict["interval"] is None else "[{:+.2%}, {:+.2%}]".format(*verdict["interval"])
    answer = MARKS[Outcome(verdict["outcome"])]
    return (row["class"], row["workload"], row["metric"], *sides, effect, interval, str(row["pairs"]), answer)
