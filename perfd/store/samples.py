"""Raw Samples of Runs, read back by Metric."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by

from perfd.domain.metric import Better
from perfd.domain.results import MetricSamples
from perfd.store import tables

X = tables.sample.c
M = tables.metric.c
R = tables.run.c


def of_runs(connection: Connection, run_ids: Sequence[int]) -> dict[int, tuple[MetricSamples, ...]]:
    """By Run: its Samples by Metric (by name), each in the order measured; Runs without any are left out."""
    began = select(R.started_at).where(R.id.in_(run_ids), R.started_at.is_not(None)).distinct()
    moments = connection.execute(began).scalars().all()  # asked first, so that Postgres plans for the months of these Runs only
    asked = (
        select(X.run_id, M.name, M.unit, M.better, func.array_agg(aggregate_order_by(X.value, X.place)).label("numbers"))
        .join(tables.metric, M.id == X.metric_id)
        .where(X.run_id.in_(run_ids), X.measured_at.in_(moments))
        .group_by(X.run_id, M.id)
        .order_by(X.run_id, M.name)
    )
    found: dict[int, tuple[MetricSamples, ...]] = {}
    for row in connection.execute(asked):
        one = MetricSamples(row.name, row.unit, Better(row.better), tuple(row.numbers))
        found[row.run_id] = (*found.get(row.run_id, ()), one)
    return found
