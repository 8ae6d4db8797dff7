"""Which Run a number on a page comes from."""

from sqlalchemy import ColumnElement, Connection, func, select

from perfd.store import tables
from perfd.store.records import Side

P = tables.point.c
R = tables.run.c
B = tables.build.c


def origin(connection: Connection, series_id: int, side: Side | None = None, before: str = "") -> str | None:
    """Key digest of the Run of the last Point of a Series; absent where there is none.

    With a side, of its last Point in that night or of that Build; with the digest of a Build in `before`, of the last Point
    that stands before the first one of that Build.
    """
    order = (P.ordinal, P.measured_at, P.run_id)
    where: list[ColumnElement[bool]] = [P.series_id == series_id]
    if side is not None:
        where.append(P.occasion_id == side.occasion_id if side.build_id is None else R.build_id == side.build_id)
    if before:
        built = select(*order).join(tables.run, R.id == P.run_id).join(tables.build, B.id == R.build_id)
        row = connection.execute(built.where(P.series_id == series_id, B.digest == before).order_by(*order).limit(1)).first()
        if row is None:
            return None
        where.append(func.row(*order) < func.row(*row))
    last = select(R.key).select_from(tables.point).join(tables.run, R.id == P.run_id).where(*where)
    # What a side's last Point is, is decided by time, as in comparing.py; the Series itself is in the order of its commits.
    newest = (P.measured_at, P.run_id) if side is not None else order
    return connection.execute(last.order_by(*(column.desc() for column in newest)).limit(1)).scalar()
