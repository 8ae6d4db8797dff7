"""Series that differ in one part of the key, paired: two engines, devices or Models beside each other, at their last Points."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select

from perfd.store import tables
from perfd.store.records import Side

S = tables.series.c
L = tables.series_latest
P = tables.point
M = tables.metric.c
COLUMNS = ("subject_id", "branch", "workload_id", "metric_id", "model", "quantisation", "parallelism", "device_class")
PARTS = {
    "subject": "subject_id",
    "device": "device_class",
    "model": "model",
    "quantisation": "quantisation",
    "parallelism": "parallelism",
    "branch": "branch",
}
"""The word in an address, and the column in which the two sides differ."""


def sides(base: Side, head: Side) -> tuple[Select[Any], dict[str, ColumnElement[Any]]]:
    """Every Series of `head` joined with the one of `base` that is equal in all other parts, and columns that say how they stand.

    The head's Series is `tables.series`, so that conditions on Series apply to it.
    """
    other = tables.series.alias("other")
    old, new = L.alias("old"), L.alias("new")
    old_point, new_point = P.alias("old_point"), P.alias("new_point")
    part = PARTS[head.part]
    equal = and_(*(other.c[name] == S[name] for name in COLUMNS if name != part))
    joined = (
        select(S.id.label("series_id"))
        .select_from(tables.series)
        .join(other, equal)
        .join(old, old.c.series_id == other.c.id)
        .join(new, new.c.series_id == S.id)
        .join(old_point, (old_point.c.series_id == old.c.series_id) & (old_point.c.run_id == old.c.run_id))
        .join(new_point, (new_point.c.series_id == new.c.series_id) & (new_point.c.run_id == new.c.run_id))
        .join(tables.metric, M.id == S.metric_id)
        .where(_is(other.c[part], base), _is(S[part], head))
    )
    columns: dict[str, ColumnElement[Any]] = {
        "base_series": other.c.id,
        "base_value": old.c.value,
        "base_low": old.c.low,
        "base_high": old.c.high,
        "base_run": old.c.run_id,
        "head_value": new.c.value,
        "head_low": new.c.low,
        "head_high": new.c.high,
        "head_run": new.c.run_id,
        "noise": func.greatest(old.c.noise, new.c.noise),
        "bar": func.greatest(old.c.bar, new.c.bar),
        "judged": and_(old.c.bar.is_not(None), new.c.bar.is_not(None)),
        # Two devices are other hardware by intention; two engines on two devices of one class may be so by accident.
        "comparable": old_point.c.hardware_hash == new_point.c.hardware_hash if head.part != "device" else M.id.is_not(None),
    }
    return joined, columns


def paired(connection: Connection, part: str) -> tuple[str, ...]:
    """The values of that part which have another one beside them: in two Series with Points that are equal in all else."""
    column = tables.subject.c.name if part == "subject" else S[PARTS[part]]
    grouped = (
        select(func.unnest(func.array_agg(column.distinct())).label("value"))
        .select_from(tables.series)
        .join(tables.subject, tables.subject.c.id == S.subject_id)
        .join(L, L.c.series_id == S.id)
        .group_by(*(S[name] for name in COLUMNS if name != PARTS[part]))
        .having(func.count(column.distinct()) > 1)
        .subquery()
    )
    return tuple(sorted(connection.execute(select(grouped.c.value).distinct()).scalars()))


def _is(column: ColumnElement[Any], side: Side) -> ColumnElement[bool]:
    if side.part != "subject":
        return column == side.name
    return column.in_(select(tables.subject.c.id).where(tables.subject.c.name == side.name))
