"""A Build as a mark in the chart of one Series: its last Point, how many it gave, and the raw Samples behind that last one."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, or_, select

from perfd.store import reading, tables
from perfd.store.records import PointRow
from perfd.store.samples import of_runs

P = tables.point.c
S = tables.series.c
V = tables.revision.c
B = tables.build.c


@dataclass(frozen=True)
class Marked:
    """What a Series knows of one Build."""

    last: PointRow
    points: int
    """How many Points of the Series are this Build's."""
    samples: tuple[float, ...]
    """Of the last one's Run; none where only the Point was imported."""


def marked(connection: Connection, series_id: int, name: str) -> Marked | None:
    """The Build of the last Point of the Series whose Revision, or whose Build, begins so; absent where there is none."""
    named = or_(func.starts_with(V.name, name), func.starts_with(B.digest, name))
    newest = tuple(column.desc() for column in reading.IN_ORDER)
    row = connection.execute(reading.point_select().where(P.series_id == series_id, named).order_by(*newest).limit(1)).first()
    if row is None:
        return None
    same = select(func.count()).where(P.series_id == series_id, P.build_id == row.build_id)
    metric = select(tables.metric.c.name).join(tables.series, S.metric_id == tables.metric.c.id).where(S.id == series_id)
    wanted = connection.execute(metric).scalar_one()
    found = of_runs(connection, [row.run_id]).get(row.run_id, ())
    samples = next((one.values for one in found if one.name == wanted), ())
    return Marked(reading.as_point(row), connection.execute(same).scalar_one(), tuple(samples))
