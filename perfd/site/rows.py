"""Stored rows as the pages show them: numbers scaled to one unit, names joined, a sparkline beside them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from perfd.domain.metric import Better, Metric
from perfd.domain.run import FailureKind, RunState
from perfd.domain.subject import brief
from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import ChangeStatus, Outcome
from perfd.site.drawing import sparkline
from perfd.site.numbers import Scale, effect_between, scale_of
from perfd.store.records import ChangeRow, RunRow, SeriesInfo, SeriesLine

CLASS_WORDS = {
    WorkloadClass.CHAT: "Chat",
    WorkloadClass.AGENTIC: "Agentic",
    WorkloadClass.LONG_CONTEXT: "Long context",
    WorkloadClass.MULTIMODAL: "Multimodal",
    WorkloadClass.BATCH: "Batch",
    WorkloadClass.ACCURACY: "Accuracy",
    WorkloadClass.LONG_RUN: "Long runs",
    WorkloadClass.KERNEL: "Kernels",
}
"""In the order of the list: what users feel first, kernels last."""


@dataclass(frozen=True)
class Line:
    """One line of the list of Series, ready to be shown."""

    id: int
    metric: str
    workload: str
    subject: str
    model: str
    device: str
    spark: Markup
    value: str
    unit: str
    interval: str
    effect: float | None
    verdict: str | None
    verdict_effect: float | None
    reason: str


@dataclass(frozen=True)
class Group:
    """The lines of one workload class; classes are never averaged, nor mixed in the list."""

    word: str
    rows: tuple[Line, ...]
    quiet: int = 0
    """Series that are counted here and listed at `address`."""
    address: str = ""


def line(row: SeriesLine) -> Line:
    """The line of one Series."""
    info = row.info
    scale = scale_of(info.metric.unit, [*row.values, row.value])
    return Line(
        info.id,
        info.metric.name,
        info.workload_name,
        info.key.subject,
        model_of(info),
        info.key.device_class,
        sparkline(row.values, _spark_title(row.values, scale)),
        scale.text(row.value),
        scale.unit,
        scale.interval(row.interval),
        effect_between(row.previous, row.value),
        row.outcome.value if row.outcome else None,
        row.effect,
        row.reason if row.outcome else "It was not judged yet.",
    )


def _spark_title(values: tuple[float, ...], scale: Scale) -> str:
    if not values:
        return "no Points"
    many = f"{len(values)} Point{'' if len(values) == 1 else 's'}"
    return f"{many} from {scale.text(min(values))} to {scale.text(max(values))} {scale.unit}".rstrip()


def groups(lines: Iterable[SeriesLine], quiet: Mapping[WorkloadClass, int]) -> list[Group]:
    """The lines by workload class, in the order of CLASS_WORDS; inside a class as they came.

    `quiet` counts, by class, Series that are not listed because nothing moved.
    """
    found = list(lines)
    by_class = [(one, word, [row for row in found if row.info.workload_class is one]) for one, word in CLASS_WORDS.items()]
    return [
        Group(word, tuple(line(row) for row in rows), quiet.get(one, 0), f"/?class={one.value}")
        for one, word, rows in by_class
        if rows or quiet.get(one)
    ]


def model_of(info: SeriesInfo) -> str:
    """The Model with quantisation and parallelism, where they say something."""
    parts = [info.key.model, info.key.quantisation, info.key.parallelism if info.key.parallelism not in {"", "1"} else ""]
    return " ".join(part for part in parts if part)


def label(info: SeriesInfo) -> str:
    """A Series in a few words."""
    parts = [info.metric.name, info.workload_name, info.key.subject, info.key.model, info.key.device_class]
    return ", ".join(part for part in parts if part)


def run_label(run: RunRow) -> str:
    """A Run in a few words."""
    return " ".join(part for part in (run.subject, brief(run.revision, 10), run.workload, run.model) if part)


def better_word(metric: Metric) -> str:
    """Which way is better, as a word."""
    return "higher" if metric.better is Better.HIGHER else "lower"


def effect_word(metric: Metric, effect: float) -> str:
    """Whether a number that moved by `effect` became better or worse; "same" where it did not move."""
    if effect == 0.0:
        return Outcome.SAME.value
    return (Outcome.BETTER if (effect > 0) == (metric.better is Better.HIGHER) else Outcome.WORSE).value


def change_word(change: ChangeRow) -> str:
    """What a mark in a chart says: worse, better, or only suspected."""
    word = Outcome.WORSE.value if change.worse else Outcome.BETTER.value
    return word if change.status is ChangeStatus.DETECTED else f"{word}?"


def unmeasured_word(run: RunRow) -> str:
    """Why a Run has no result, in a word or two."""
    if run.state in {RunState.QUEUED, RunState.CLAIMED}:
        return "waiting" if run.state is RunState.QUEUED else "being measured"
    if run.failure is FailureKind.MISSING:
        return "missing"
    return f"{run.state.value}: {run.failure.value.replace('_', ' ')}" if run.failure else run.state.value
