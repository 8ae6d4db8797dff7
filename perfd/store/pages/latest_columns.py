"""The last value of every Series, in columns: JSON that Postgres writes itself."""

from sqlalchemy import Connection, Float, Text, cast, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by

from perfd.store import reading, tables
from perfd.store.pages.chosen import SeriesFilter, conditions

S = tables.series.c
L = tables.series_latest.c


def latest(connection: Connection, wanted: SeriesFilter) -> str:
    """{"id": […], "subject": […], …, "value": […], …}: every column as long as there are Series that match, ordered by id."""
    chosen = (
        reading.series_select()
        .add_columns(L.value, L.low, L.high, L.previous, L.week_ago, L.month_ago, L.measured_at, L.outcome, L.effect, L.noise)
        .join(tables.series_latest, L.series_id == S.id)
        .where(*conditions(wanted))
        .subquery()
    )
    one = chosen.c
    columns = {
        "id": one.id,
        "subject": one.subject,
        "branch": one.branch,
        "suite": one.suite,
        "workload": one.workload_name,
        "class": one.workload_class,
        "metric": one.metric_name,
        "unit": one.metric_unit,
        "better": one.metric_better,
        "model": one.model,
        "quantisation": one.quantisation,
        "parallelism": one.parallelism,
        "device_class": one.device_class,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "previous": one.previous,
        "week_ago": one.week_ago,
        "month_ago": one.month_ago,
        "measured_at": cast(func.extract("epoch", one.measured_at), Float),
        "verdict": one.outcome,
        "effect": one.effect,
        "noise": one.noise,
    }
    parts = [part for name, column in columns.items() for part in (name, func.array_agg(aggregate_order_by(column, one.id)))]
    document = func.json_build_object(*parts)
    return str(connection.execute(select(cast(document, Text))).scalar_one())
