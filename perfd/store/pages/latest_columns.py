"""The last value of every Series, in columns: JSON that Postgres writes itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Float, Select, Text, cast, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by

from perfd.store import reading, tables
from perfd.store.pages.chosen import SeriesFilter, conditions

S = tables.series.c
L = tables.series_latest.c
WORDS = {
    "subject": "subject",
    "branch": "branch",
    "suite": "suite",
    "workload": "workload_name",
    "class": "workload_class",
    "metric": "metric_name",
    "unit": "metric_unit",
    "better": "metric_better",
    "model": "model",
    "quantisation": "quantisation",
    "parallelism": "parallelism",
    "device_class": "device_class",
}
"""The columns that say what a Series is, and their names in `reading.series_select()`."""
NUMBERS: dict[str, ColumnElement[Any]] = {
    "value": L.value,
    "low": L.low,
    "high": L.high,
    "previous": L.previous,
    "week_ago": L.week_ago,
    "month_ago": L.month_ago,
    "measured_at": cast(func.extract("epoch", L.measured_at), Float),
    "verdict": L.outcome,
    "effect": L.effect,
    "noise": L.noise,
}
"""The columns that say how it stands."""


@dataclass(frozen=True)
class Names:
    """What every Series is, which no night changes: two thirds of the work of writing the columns of all of them."""

    ids: str
    """[…], in order."""
    words: str
    """{"subject": […], …} of the same length."""


def latest(connection: Connection, wanted: SeriesFilter) -> str:
    """{"id": […], "subject": […], …, "value": […], …}: every column as long as there are Series that match, ordered by id."""
    asked = _standing().add_columns(*(column.label(name) for name, column in NUMBERS.items())).where(*conditions(wanted))
    ids, words, numbers = connection.execute(_written(asked, WORDS, {name: name for name in NUMBERS})).one()
    return _joined(ids, words, numbers)


def names(connection: Connection) -> Names:
    """What the Series are that have Points."""
    return Names(*connection.execute(_written(_standing(), WORDS)).one())


def latest_of_all(connection: Connection, known: Names) -> str | None:
    """As `latest`, of all Series, where these are still the ones that are known; absent where others have Points by now."""
    asked = select(L.series_id.label("id"), *(column.label(name) for name, column in NUMBERS.items()))
    ids, numbers = connection.execute(_written(asked, {name: name for name in NUMBERS})).one()
    return _joined(ids, known.words, numbers) if ids == known.ids else None


def _standing() -> Select[Any]:
    """Every Series that has Points, with its words and its row of series_latest."""
    return reading.series_select().join(tables.series_latest, L.series_id == S.id)


def _written(asked: Select[Any], *objects: Mapping[str, str]) -> Select[Any]:
    """The ids of all rows, and an object of columns for each mapping of its names to those of the question; as JSON text."""
    one = asked.subquery().c
    written = [func.array_to_json(func.array_agg(aggregate_order_by(one.id, one.id)))]
    for columns in objects:
        parts = [part for name, own in columns.items() for part in (name, func.array_agg(aggregate_order_by(one[own], one.id)))]
        written.append(func.json_build_object(*parts))
    return select().add_columns(*(cast(each, Text) for each in written))


def _joined(ids: str | None, words: str, numbers: str) -> str:
    return f'{{"id":{ids or "null"},{words[1:-1]},{numbers[1:-1]}}}'
