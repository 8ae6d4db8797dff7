"""The tables of the pages with every column and in base units, to be taken away; `perfd export` writes the same."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime

from perfd.domain.build import BuildSpec
from perfd.domain.results import MetricSamples
from perfd.domain.table import Kind, Table, table
from perfd.domain.verdict import Verdict
from perfd.errors import BadInputError
from perfd.store import SeriesFilter, Store
from perfd.store.pages import Question
from perfd.store.records import RegressionRow, RunPage, RunRow, SeriesInfo, SeriesRow

T, N, W, AT = Kind.TEXT, Kind.NUMBER, Kind.WHOLE, Kind.TIME
MOST_POINTS = 1_000_000
MOST_SERIES = 100_000
IDENTITY = {
    "series": W, "subject": T, "branch": T, "suite": T, "workload": T, "class": T, "metric": T, "unit": T, "better": T,
    "model": T, "quantisation": T, "parallelism": T, "device_class": T,
}  # fmt: skip
MDE = (4, 7, 14)
"""Nights after a change, of the smallest effects that would have been found by then."""
VERDICT = {
    "verdict": T, "effect": N, "effect_low": N, "effect_high": N, "bar": N, "q": N, "noise": N, "judged_on": W,
    **{f"mde_{nights}": N for nights in MDE},
}  # fmt: skip
RUN = {
    "run": T, "occasion": T, "subject": T, "revision": T, "build": T, "suite": T, "workload": T, "class": T, "model": T,
    "quantisation": T, "parallelism": T, "device_class": T, "arm": T, "block": W, "state": T, "failure": T, "reason": T,
    "queued_at": AT, "started_at": AT, "finished_at": AT,
}  # fmt: skip


def series(store: Store, wanted: SeriesFilter) -> Table:
    """Every Series that matches, with its last Point and its last Verdict."""
    return _series(store.pages.series_rows(wanted))


def some_series(store: Store, ids: Sequence[int]) -> Table:
    """The same of these Series, in this order; those without a Point are left out."""
    found = {row.info.id: row for row in store.pages.some_rows(ids)}
    return _series(found[one] for one in ids if one in found)


def _series(rows: Iterable[SeriesRow]) -> Table:
    columns = IDENTITY | {"value": N, "low": N, "high": N, "n": W, "revision": T, "run": T, "measured_at": AT, "previous": N}
    return table(
        "series",
        columns | VERDICT,
        (
            (
                *_identity(row.info),
                row.latest.point.value,
                *(row.latest.point.interval or (None, None)),
                row.latest.point.n,
                row.latest.point.revision,
                row.latest.point.run,
                row.latest.point.measured_at,
                row.previous.point.value if row.previous else None,
                *_verdict(row.verdict),
            )
            for row in rows
        ),
    )


def _verdict(verdict: Verdict | None) -> tuple[str | float | None, ...]:
    """The columns of `VERDICT`."""
    if verdict is None:
        return (None,) * len(VERDICT)
    low, high = verdict.interval or (None, None)
    held = (verdict.bar, verdict.q, verdict.noise, verdict.n)
    return verdict.outcome.value, verdict.effect, low, high, *held, *(verdict.mde.get(nights) for nights in MDE)


def points(store: Store, ids: Iterable[int], start: int = 0, stop: int | None = None) -> Table:
    """Every Point of these Series from place `start` up to `stop`, in order; Series that do not exist are left out."""
    chosen = list(ids)
    if len(chosen) > MOST_SERIES:
        raise BadInputError(f"{len(chosen):,} Series, and the Points of at most {MOST_SERIES:,} are written at once")
    columns = {
        "series": W, "place": W, "revision": T, "ordinal": W, "value": N, "low": N, "high": N, "n": W, "measured_at": AT,
        "occasion": T, "run": T, "build": T, "hardware": T, "epoch": T,
    }  # fmt: skip
    rows = (
        (
            one, place, found.revisions[place], found.ordinals[place], found.values[place], found.lows[place], found.highs[place],
            found.counts[place], datetime.fromtimestamp(found.seconds[place], UTC), found.occasions[place], found.runs[place],
            found.builds[place], found.hardware[place], found.epochs[place],
        )
        for one, found in store.judgements.histories(chosen, MOST_POINTS).items()
        for place in range(*slice(start, stop).indices(len(found)))
    )  # fmt: skip
    return table("points", columns, rows)


def samples(page: RunPage) -> Table:
    """Every raw Sample of a Run."""
    columns = {"run": T, "metric": T, "unit": T, "better": T, "place": W, "value": N}
    rows = (
        (page.run.key, one.name, one.unit, one.better.value, place, value)
        for one in page.samples
        for place, value in enumerate(one.values)
    )
    return table("samples", columns, rows)


def sides(base: MetricSamples, head: MetricSamples) -> Table:
    """Every raw Sample behind both numbers of one line of a comparison."""
    columns = {"side": T, "metric": T, "unit": T, "place": W, "value": N}
    rows = (
        (side, one.name, one.unit, place, value)
        for side, one in (("base", base), ("head", head))
        for place, value in enumerate(one.values)
    )
    return table("samples", columns, rows)


def ingredients(spec: BuildSpec) -> Table:
    """What a Build is made of: tools and packages with their versions."""
    parts = (("tool", spec.toolchain), ("package", spec.dependencies))
    rows = ((spec.digest, kind, name, version) for kind, named in parts for name, version in sorted(named.items()))
    return table("ingredients", {"build": T, "kind": T, "name": T, "version": T}, rows)


def formulas(rows: Iterable[tuple[str, date, float]]) -> Table:
    """The values of formulas by day."""
    return table("formulas", {"formula": T, "day": T, "value": N}, ((text, day.isoformat(), value) for text, day, value in rows))


def runs(rows: Iterable[RunRow]) -> Table:
    """Runs, each with what became of it."""
    return table(
        "runs",
        RUN,
        (
            (
                one.key, one.occasion, one.subject, one.revision, one.build, one.suite, one.workload, one.workload_class.value,
                one.model, one.quantisation, one.parallelism, one.device_class, one.arm.value, one.block, one.state.value,
                one.failure.value if one.failure else None, one.reason, one.queued_at, one.started_at, one.finished_at,
            )
            for one in rows
        ),
    )  # fmt: skip


def comparison(store: Store, question: Question) -> Table:
    """Two nights, days or Builds Series by Series: one page of the answer."""
    columns = IDENTITY | {
        "base": N, "base_low": N, "base_high": N, "head": N, "head_low": N, "head_high": N, "effect": N, "noise": N, "bar": N,
        "over_noise": N, "word": T,
    }  # fmt: skip
    rows = (
        (
            *_identity(one.info), one.base, *(one.base_interval or (None, None)), one.head, *(one.head_interval or (None, None)),
            one.effect, one.noise, one.bar, one.over_noise, one.word,
        )
        for one in store.pages.differing(question).rows
    )  # fmt: skip
    return table("comparison", columns, rows)


def regressions(rows: Iterable[RegressionRow]) -> Table:
    """Regressions, a line a member."""
    columns = {
        "regression": W, "title": T, "state": T, "owner": T, "opened_at": AT, "moved_at": AT, "revision": T, "build": T,
        "series": W, "subject": T, "workload": T, "metric": T, "unit": T, "device_class": T, "before": N, "after": N, "effect": N,
    }  # fmt: skip
    lines = (
        (
            one.id, one.title, one.state.value, one.owner, one.opened_at, one.moved_at, one.revision, one.build,
            info.id, info.key.subject, info.workload_name, info.metric.name, info.metric.unit, info.key.device_class,
            change.before, change.after, change.effect,
        )
        for one in rows
        for info, change in one.members
    )  # fmt: skip
    return table("regressions", columns, lines)


def _identity(info: SeriesInfo) -> tuple[object, ...]:
    key = info.key
    return (
        info.id, key.subject, key.branch, info.suite, info.workload_name, info.workload_class.value, info.metric.name,
        info.metric.unit, info.metric.better.value, key.model, key.quantisation, key.parallelism, key.device_class,
    )  # fmt: skip
