"""Two nights, days or Builds beside each other, Series by Series: the last Points that each gave, and how far they lie apart.

These are single Points, held to what is known of each Series: only a comparison in ABBA blocks decides (`perfd compare`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.sql.selectable import CTE

from perfd.domain.metric import Better
from perfd.domain.results import MetricSamples
from perfd.domain.run import OccasionKind
from perfd.domain.subject import brief
from perfd.domain.suite import WorkloadClass
from perfd.store import reading, tables
from perfd.store.pages import across
from perfd.store.pages.chosen import SeriesFilter, conditions
from perfd.store.reading import nonzero
from perfd.store.records import CommonMean, Differing, DifferingList, SeriesInfo, Side
from perfd.store.samples import of_runs as samples_of_runs
from perfd.store.writing import AnyRow

S = tables.series.c
P = tables.point.c
R = tables.run.c
B = tables.build.c
L = tables.series_latest.c
M = tables.metric.c
V = tables.revision.c
Occ = tables.occasion.c


class Apart(StrEnum):
    """How far two single Points lie apart."""

    WORSE = "worse"
    BETTER = "better"
    WITHIN = "within the bar"
    UNSURE = "unsure"
    """The Series was never judged, so that it has no bar."""
    NOT_COMPARABLE = "not comparable"
    """Measured on other hardware or with other clocks."""


class Sorting(StrEnum):
    """Which differences come first."""

    NOISE = "noise"
    """Effect over the noise of its Series, the largest first."""
    EFFECT = "effect"
    """The largest effect first, whichever way."""
    NAME = "name"


@dataclass(frozen=True)
class Question:
    """What is compared, and how it is listed."""

    base: Side
    head: Side
    wanted: SeriesFilter = field(default_factory=SeriesFilter)
    apart: Apart | None = None
    sorting: Sorting = Sorting.NOISE
    offset: int = 0
    limit: int = 100


def side(connection: Connection, name: str) -> Side | None:
    """What an address names: a night by its occasion's name, a day (UTC), or a Build by its digest.

    A day means the last night up to its end, and where there was none yet, the first one: the words say which.
    """
    if len(name) == 64:
        built = select(B.id, B.revision, tables.subject.c.name).join(tables.subject).where(B.digest == name)
        row = connection.execute(built).first()
        return None if row is None else Side(name, f"{row.name} at {brief(row.revision)}", build_id=row.id)
    nights = select(Occ.id, Occ.nominal_at, Occ.name).where(Occ.kind == OccasionKind.NIGHT.value)
    end = _end_of(name)
    if end is None:
        asked = [nights.where(Occ.name == name)]
    else:
        until = nights.where(Occ.nominal_at < end).order_by(Occ.nominal_at.desc())
        asked = [until, nights.order_by(Occ.nominal_at)]
    found = next((row for one in asked if (row := connection.execute(one.limit(1)).first()) is not None), None)
    return None if found is None else Side(found.name, f"the night of {found.nominal_at:%Y-%m-%d}", occasion_id=found.id)


def differing(connection: Connection, question: Question) -> DifferingList:
    """One page of the Series that both sides measured, and how all of them lie apart."""
    pairs = _pairs(question)
    each = _groups(pairs).subquery()
    told = select(func.json_agg(each.table_valued())).scalar_subquery()
    order = _order(question.sorting, pairs)
    first = func.row_number().over(order_by=order) == question.offset + 1
    shown = select(pairs, case((first, told)).label("groups"))  # in one statement the pairs are found once, and told once
    shown = shown if question.apart is None else shown.where(pairs.c.word == question.apart.value)
    found = connection.execute(shown.order_by(*order).offset(question.offset).limit(question.limit)).all()
    groups = (found[0].groups if found else connection.execute(select(told)).scalar_one()) or []
    words = {row.id: reading.as_series(row) for row in connection.execute(_series([row.series_id for row in found]))}
    return DifferingList(
        rows=tuple(_row(row, words[row.series_id]) for row in found),
        counts={one.value: sum(row["many"] for row in groups if row["word"] == one.value) for one in Apart},
        means=_means(groups),
    )


def samples(connection: Connection, question: Question, series_id: int) -> tuple[MetricSamples, MetricSamples] | None:
    """The raw Samples behind both Points of one Series; absent where the two sides do not both have them."""
    pairs = _pairs(question)
    row = connection.execute(select(pairs.c.base_run, pairs.c.head_run).where(pairs.c.series_id == series_id)).first()
    if row is None:
        return None
    metric = connection.execute(select(M.name).join(tables.series, S.metric_id == M.id).where(S.id == series_id)).scalar_one()
    found = samples_of_runs(connection, [row.base_run, row.head_run])
    both = [one for run in (row.base_run, row.head_run) for one in found.get(run, ()) if one.name == metric]
    return (both[0], both[1]) if len(both) == 2 else None


def _groups(pairs: CTE) -> Select[Any]:
    """By class, Metric and word: how many, and the sum of the logarithms of head over base where there is one."""
    ratio = pairs.c.head_value / nonzero(pairs.c.base_value)
    counts = (pairs.c.word != Apart.NOT_COMPARABLE.value) & (ratio > 0.0)
    logarithm = case((counts, func.ln(case((ratio > 0.0, ratio), else_=1.0))))
    workload = tables.workload.c
    return (
        select(
            workload["class"].label("workload_class"),
            M.name.label("metric"),
            M.better,
            pairs.c.word,
            func.count().label("many"),
            func.count(logarithm).label("n"),
            func.coalesce(func.sum(logarithm), 0.0).label("logs"),
        )
        .select_from(pairs)
        .join(tables.workload, workload.id == pairs.c.workload_id)
        .join(tables.metric, M.id == pairs.c.metric_id)
        .group_by(workload["class"], M.name, M.better, pairs.c.word)
    )


def _means(groups: Sequence[dict[str, Any]]) -> tuple[CommonMean, ...]:
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in groups:
        found.setdefault((row["workload_class"], row["metric"], row["better"]), []).append(row)
    sums = {key: (sum(row["n"] for row in rows), sum(row["logs"] for row in rows)) for key, rows in found.items()}
    return tuple(
        CommonMean(WorkloadClass(name), metric, Better(better), n, math.expm1(logs / n))
        for (name, metric, better), (n, logs) in sorted(sums.items())
        if n
    )


def _series(ids: list[int]) -> Select[Any]:
    return reading.series_select().where(S.id.in_(ids))


def _pairs(question: Question) -> CTE:
    """Both sides' Points of each Series that matches, and how they lie apart."""
    asked, column = across.sides(question.base, question.head) if question.head.part else _same_series(question)
    base, head = column["base_value"], column["head_value"]
    effect = case((head == base, 0.0), else_=head / nonzero(base) - 1.0)
    # Two Points differ by their noise times the root of two.
    over = func.abs(effect) / nonzero(column["noise"] * 2.0**0.5)
    named = [part.label(name) for name, part in column.items() if name not in {"judged", "comparable"}]
    asked = asked.add_columns(S.workload_id, S.metric_id, *named, effect.label("effect"), over.label("over"))
    asked = asked.add_columns(_word(column, effect).label("word"))
    matching = conditions(question.wanted)
    if matching or question.sorting is Sorting.NAME:  # names are joined only where something asks for them
        asked = (
            asked.add_columns(tables.subject.c.name.label("subject"), tables.workload.c.name.label("workload"), S.model)
            .add_columns(M.name.label("metric"))
            .join(tables.subject, tables.subject.c.id == S.subject_id)
            .join(tables.workload, tables.workload.c.id == S.workload_id)
            .join(tables.suite, tables.suite.c.id == tables.workload.c.suite_id)
            .where(*matching)
        )
    return asked.cte("pairs")


def _same_series(question: Question) -> tuple[Select[Any], dict[str, ColumnElement[Any]]]:
    """Every Series that both sides measured, and the columns that say how it stood on either."""
    base, head = _points(question.base, "base"), _points(question.head, "head")
    joined = (
        select(base.c.series_id)
        .select_from(base)
        .join(head, head.c.series_id == base.c.series_id)
        .join(tables.series, S.id == base.c.series_id)
        .join(tables.metric, M.id == S.metric_id)
        .outerjoin(tables.series_latest, L.series_id == S.id)
    )
    both = {
        f"{side}_{name}": one.c[column]
        for side, one in (("base", base), ("head", head))
        for name, column in (("value", "value"), ("low", "low"), ("high", "high"), ("run", "run_id"))
    }
    rest = {"noise": L.noise, "bar": L.bar, "judged": L.bar.is_not(None)}
    comparable = base.c.hardware_hash == head.c.hardware_hash
    return joined, {"base_series": base.c.series_id, **both, **rest, "comparable": comparable}


def _end_of(name: str) -> datetime | None:
    """Where the day of that name ends, in UTC; absent where it names none."""
    try:
        return datetime.combine(date.fromisoformat(name), time.min, UTC) + timedelta(days=1)
    except ValueError:
        return None
    except OverflowError:  # the last day that there is
        return datetime.max.replace(tzinfo=UTC)


def _points(one: Side, name: str) -> CTE:
    """The last Point that a side gave each Series."""
    if one.build_id is None:
        where: ColumnElement[bool] = P.occasion_id == one.occasion_id
    else:
        where = P.run_id.in_(select(R.id).where(R.build_id == one.build_id))
    columns = (P.series_id, P.run_id, P.value, P.low, P.high, P.hardware_hash)
    newest = (
        select(*columns).where(where).ext(distinct_on(P.series_id)).order_by(P.series_id, P.measured_at.desc(), P.run_id.desc())
    )
    return newest.cte(name)


def _word(column: dict[str, ColumnElement[Any]], effect: ColumnElement[Any]) -> ColumnElement[str]:
    beyond = func.abs(effect) > func.greatest(column["bar"], M.relevant)
    higher = effect > 0
    better = or_(and_(higher, M.better == Better.HIGHER.value), and_(~higher, M.better == Better.LOWER.value))
    return case(
        (~column["comparable"], Apart.NOT_COMPARABLE.value),
        (or_(~column["judged"], effect.is_(None)), Apart.UNSURE.value),
        (~beyond, Apart.WITHIN.value),
        (better, Apart.BETTER.value),
        else_=Apart.WORSE.value,
    )


def _order(sorting: Sorting, pairs: CTE) -> tuple[ColumnElement[Any], ...]:
    one = pairs.c
    if sorting is Sorting.NAME:
        return (one.subject, one.workload, one.model, one.metric, one.series_id)
    largest = func.abs(one.effect).desc().nulls_last()
    if sorting is Sorting.NOISE:
        return (one.over.desc().nulls_last(), largest, one.series_id)
    return (largest, one.series_id)


def _row(row: AnyRow, info: SeriesInfo) -> Differing:
    return Differing(
        info=info,
        base=row.base_value,
        base_interval=None if row.base_low is None else (row.base_low, row.base_high),
        head=row.head_value,
        head_interval=None if row.head_low is None else (row.head_low, row.head_high),
        effect=row.effect,
        noise=row.noise,
        bar=row.bar,
        over_noise=row.over,
        word=row.word,
        base_series=row.base_series,
    )
