"""What a device measured while it was not to be trusted becomes void: its Runs stay with all that they say, and stop counting.

A void Run keeps its Samples and gives no Point, as everywhere: its Points leave their Series, and no page and no judge sees them.
Changes that began there are gone, and their Regressions say why; the judge begins again with those Series.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, select, update

from perfd.domain.run import FailureKind, RunState
from perfd.domain.verdict import OPEN_STATES, RegressionState
from perfd.store import latest, tables
from perfd.store.regressions import Step, write_event

R = tables.run.c
P = tables.point.c
C = tables.change.c
L = tables.series_latest.c
ACTOR = "quarantine"


def void(
    connection: Connection, device_ids: Sequence[int], quarantine_id: int, reason: str, span: tuple[datetime, datetime]
) -> None:
    """Every done Run that one of these devices has finished since the first moment is void; `span` is that moment and now."""
    since, now = span
    ended = (
        update(tables.run)
        .where(R.device_id.in_(device_ids), R.state == RunState.DONE.value, R.finished_at >= since)
        .values(
            state=RunState.VOID.value,
            failure=FailureKind.DEVICE.value,
            reason=f"its device was quarantined later: {reason}",
            quarantine_id=quarantine_id,
        )
    )
    runs = connection.execute(ended.returning(R.id)).scalars().all()
    if runs:
        series = _forget_points(connection, runs)
        _tell_regressions(connection, runs, Step(ACTOR, f"a Change of it lies on Runs that are void now: {reason}", now))
        connection.execute(update(tables.change).where(C.run_id.in_(runs), C.gone_at.is_(None)).values(gone_at=now))
        latest.touch(connection, series)


def _forget_points(connection: Connection, runs: Sequence[int]) -> tuple[int, ...]:
    """The Runs give no Points any more, and no Verdict that rested on these is shown; answers the Series that had some."""
    series = tuple(connection.execute(select(P.series_id).where(P.run_id.in_(runs)).distinct()).scalars())
    connection.execute(delete(tables.point).where(P.run_id.in_(runs)))
    connection.execute(delete(tables.track).where(tables.track.c.series_id.in_(series)))
    empty = L.series_id.not_in(select(P.series_id).where(P.series_id.in_(series)))
    connection.execute(delete(tables.series_latest).where(L.series_id.in_(series), empty))
    unjudged = dict.fromkeys(("outcome", "effect", "bar", "noise", "judged_in", "judged_for"))
    connection.execute(update(tables.series_latest).where(L.series_id.in_(series)).values(**unjudged))
    latest.refresh(connection, series)
    return series


def _tell_regressions(connection: Connection, runs: Sequence[int], step: Step) -> None:
    G, member = tables.regression.c, tables.regression_member.c  # noqa: N806  # columns
    asked = (
        select(G.id, G.state)
        .distinct()
        .join(tables.regression_member, member.regression_id == G.id)
        .join(tables.change, C.id == member.change_id)
        .where(C.run_id.in_(runs), C.gone_at.is_(None), G.state.in_(sorted(state.value for state in OPEN_STATES)))
    )
    for row in connection.execute(asked).all():
        write_event(connection, row.id, RegressionState(row.state), RegressionState(row.state), step)
