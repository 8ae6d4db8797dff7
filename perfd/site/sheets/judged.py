"""What was judged: Changes, Regressions with their lives and bisections, comparisons, and spans of nights."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from perfd.domain.account import AuditEvent
from perfd.domain.submission import Submission, mean
from perfd.rules.gaming import gaps
from perfd.store.pages import Commits
from perfd.store.records import BisectRow, BisectStep, ChangeRow, CommonMean, OccasionRow, RegressionEvent, SeriesInfo


@dataclass(frozen=True)
class ChangeLine:
    """A Change with the Series that it is of."""

    change: int
    series: int
    subject: str
    workload: str
    metric: str
    unit: str
    model: str
    device_class: str
    word: str
    """worse or better."""
    kind: str
    status: str
    before: float
    after: float
    effect: float
    low: float | None
    high: float | None
    build: str
    revision: str
    title: str
    run: str
    """The first Run at the new level."""
    found_in: str
    gone_at: datetime | None
    regression: int | None


@dataclass(frozen=True)
class EventLine:
    """A step in the life of a Regression."""

    regression: int
    at: datetime
    actor: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True)
class CommitLine:
    """A Revision in which a Regression may have come."""

    regression: int
    revision: str
    title: str
    committed_at: datetime | None
    last_good: str
    """The last Revision that was measured at the old level."""


@dataclass(frozen=True)
class StepLine:
    """A step of a bisection."""

    regression: int | None
    bisection: int
    step: int
    kind: str
    base: str
    head: str
    title: str
    outcome: str
    effect: float | None
    low: float | None
    high: float | None
    pairs: int
    why: str
    opened_at: datetime
    settled_at: datetime | None


@dataclass(frozen=True)
class ComparisonLine:
    """A comparison of two Builds in interleaved blocks."""

    name: str
    label: str
    opened_at: datetime
    closed_at: datetime | None
    state: str
    outcome: str | None
    effect: float | None
    reason: str
    done: int
    planned: int


@dataclass(frozen=True)
class DecidedLine:
    """A Metric of a comparison with its Verdict."""

    comparison: str
    workload_class: str
    workload: str
    model: str
    metric: str
    unit: str
    better: str
    base: float | None
    head: float | None
    pairs: int
    outcome: str
    effect: float | None
    low: float | None
    high: float | None
    bar: float | None
    reason: str


@dataclass(frozen=True)
class MeanLine:
    """A geometric mean of head over base, minus one, over the Series that both sides measured."""

    base: str
    head: str
    workload_class: str
    metric: str
    better: str
    n: int
    effect: float


@dataclass(frozen=True)
class SubmissionLine:
    """What a long Run handed in."""

    run: str
    attempt: int
    place: int
    name: str
    elapsed_s: float
    metric: str
    unit: str
    validation: float | None
    held_out: float | None
    called: str
    reason: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class DeedLine:
    """A line of the audit log."""

    at: datetime
    actor: str
    way: str
    address: str
    deed: str
    allowed: str
    """yes or no."""
    why: str


def change(info: SeriesInfo, one: ChangeRow) -> ChangeLine:
    """A Change as a line."""
    low, high = one.interval or (None, None)
    return ChangeLine(
        change=one.id,
        series=info.id,
        subject=info.key.subject,
        workload=info.workload_name,
        metric=info.metric.name,
        unit=info.metric.unit,
        model=info.key.model,
        device_class=info.key.device_class,
        word="worse" if one.worse else "better",
        kind=one.kind.value,
        status=one.status.value,
        before=one.before,
        after=one.after,
        effect=one.effect,
        low=low,
        high=high,
        build=one.build,
        revision=one.revision,
        title=one.title,
        run=one.run,
        found_in=one.found_in,
        gone_at=one.gone_at,
        regression=one.regression_id,
    )


def events(regression: int, rows: Iterable[RegressionEvent]) -> Iterator[EventLine]:
    """The life of a Regression."""
    for row in rows:
        before = row.from_state.value if row.from_state else ""
        yield EventLine(regression, row.at, row.actor, before, row.to_state.value, row.reason)


def commits(regression: int, found: Commits | None) -> Iterator[CommitLine]:
    """The Revisions in which it came, newest first."""
    for one in found.listed if found else ():
        yield CommitLine(regression, one.name, one.title, one.committed_at, found.last_good if found else "")


def steps(rows: Iterable[BisectRow]) -> Iterator[StepLine]:
    """Every step of bisections."""
    return (_step(row, one) for row in rows for one in row.steps)


def _step(row: BisectRow, one: BisectStep) -> StepLine:
    low, high = one.interval or (None, None)
    return StepLine(
        regression=row.regression,
        bisection=row.id,
        step=one.number,
        kind=one.kind.value,
        base=row.path[one.base].revision,
        head=row.path[one.head].revision,
        title=row.path[one.head].title,
        outcome=one.outcome.value if one.outcome else "open",
        effect=one.effect,
        low=low,
        high=high,
        pairs=one.pairs,
        why=one.reason or one.why,
        opened_at=one.opened_at,
        settled_at=one.settled_at,
    )


def comparison(row: OccasionRow) -> ComparisonLine:
    """A comparison as a line."""
    verdict = (row.report or {}).get("verdict") or {}
    named = (row.occasion.name, row.occasion.label, row.opened_at, row.closed_at, row.state.value)
    counts = (row.runs.get("done", 0), sum(row.runs.values()))
    return ComparisonLine(*named, verdict.get("outcome"), verdict.get("effect"), verdict.get("reason", ""), *counts)


def decided(row: OccasionRow) -> Iterator[DecidedLine]:
    """The Verdicts of a comparison, as they were reported."""
    same = ("workload", "model", "metric", "unit", "better", "base", "head", "pairs")
    for one in (row.report or {}).get("rows", ()):
        verdict = one["verdict"]
        low, high = verdict["interval"] or (None, None)
        yield DecidedLine(
            comparison=row.occasion.name,
            workload_class=one.get("class", ""),
            low=low,
            high=high,
            **{name: one[name] for name in same},
            **{name: verdict[name] for name in ("outcome", "effect", "bar", "reason")},
        )


def means(base: str, head: str, rows: Iterable[CommonMean]) -> Iterator[MeanLine]:
    """Geometric means by class and Metric."""
    for row in rows:
        yield MeanLine(base, head, row.workload_class.value, row.metric, row.better.value, row.n, row.effect)


def submissions(run: str, came: Mapping[int, tuple[Submission, ...]]) -> Iterator[SubmissionLine]:
    """What a long Run handed in, try by try."""
    for attempt, rows in sorted(came.items()):
        called = {gap.place: gap.course.value for gap in gaps(rows)}
        for one in rows:
            yield SubmissionLine(
                run=run,
                attempt=attempt,
                place=one.place,
                name=one.name,
                elapsed_s=one.elapsed_s,
                metric=one.metric,
                unit=one.unit,
                validation=mean(one.validation) if one.validation else None,
                held_out=mean(one.held_out) if one.held_out else None,
                called=called.get(one.place, ""),
                reason=one.reason,
                size_bytes=one.size_bytes,
                sha256=one.digest,
            )


def deed(event: AuditEvent) -> DeedLine:
    """A line of the audit log."""
    allowed = "yes" if event.allowed else "no"
    return DeedLine(event.at, event.actor, event.way, event.address, event.deed, allowed, event.why)
