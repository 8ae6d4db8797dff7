"""How the service stands: the last night, what waits, and who works."""

from sqlalchemy import Connection, func, select

from perfd.domain.build import BuildState
from perfd.domain.occasion import OccasionState
from perfd.domain.run import RunState
from perfd.store import tables
from perfd.store.occasions import as_occasion
from perfd.store.pages import nights, occasions
from perfd.store.records import QueueRow, Status, UnsentRow, WaitingRow, WorkerRow

R = tables.run.c
B = tables.build.c
Occ = tables.occasion.c
MOST = 50
MOST_WAITING = 30
"""Runs and messages that are listed; the others are counted."""


def status(connection: Connection) -> Status:
    """The newest night, everything that is open, and the workers seen last."""
    night = nights.newest(connection)
    waiting = select(func.count()).select_from(tables.outbox).where(tables.outbox.c.done_at.is_(None))
    return Status(
        last_night=None if night is None else nights.night(connection, night),
        open_occasions=occasions.rows(connection, Occ.state != OccasionState.REPORTED.value, last=MOST),
        queue=_queue(connection),
        builds_queued=_builds(connection, BuildState.QUEUED),
        builds_building=_builds(connection, BuildState.BUILDING),
        workers=_workers(connection),
        outbox_waiting=connection.execute(waiting).scalar_one(),
    )


def queued(connection: Connection) -> int:
    """How many Runs wait."""
    return connection.execute(select(func.count()).where(R.state == RunState.QUEUED.value)).scalar_one()


def _builds(connection: Connection, state: BuildState) -> int:
    return connection.execute(select(func.count()).select_from(tables.build).where(B.state == state.value)).scalar_one()


def _queue(connection: Connection) -> tuple[QueueRow, ...]:
    queued, claimed = R.state == RunState.QUEUED.value, R.state == RunState.CLAIMED.value
    asked = (
        select(
            R.device_class,
            func.count().filter(queued).label("queued"),
            func.count().filter(claimed).label("claimed"),
            func.min(R.queued_at).filter(queued).label("oldest"),
        )
        .where(R.state.in_([RunState.QUEUED.value, RunState.CLAIMED.value]))
        .group_by(R.device_class)
        .order_by(R.device_class)
    )
    return tuple(QueueRow(row.device_class, row.queued, row.claimed, row.oldest) for row in connection.execute(asked))


def waiting(connection: Connection) -> tuple[WaitingRow, ...]:
    """The Runs that are first in the queue, in its order, over all device classes."""
    at = func.coalesce(R.ranks_at, R.queued_at)
    asked = (
        select(R.key, R.device_class, R.queued_at, tables.workload.c.name, tables.subject.c.name.label("subject"), Occ.kind)
        .add_columns(Occ.nominal_at, Occ.label)
        .join(tables.occasion, Occ.id == R.occasion_id)
        .join(tables.workload, tables.workload.c.id == R.workload_id)
        .join(tables.build, B.id == R.build_id)
        .join(tables.subject, tables.subject.c.id == B.subject_id)
        .where(R.state == RunState.QUEUED.value)
        .order_by(at, R.id)
        .limit(MOST_WAITING)
    )
    return tuple(
        WaitingRow(row.key, row.subject, row.name, row.device_class, as_occasion(row), row.queued_at)
        for row in connection.execute(asked)
    )


def unsent(connection: Connection) -> tuple[UnsentRow, ...]:
    """Messages that are not sent yet, the one that has waited longest first."""
    X = tables.outbox.c  # noqa: N806  # columns
    asked = select(X.kind, X.dedupe_key, X.attempts, X.last_error, X.created_at, X.next_at).where(X.done_at.is_(None))
    return tuple(UnsentRow(*row) for row in connection.execute(asked.order_by(X.created_at, X.id).limit(MOST_WAITING)))


def _workers(connection: Connection) -> tuple[WorkerRow, ...]:
    K = tables.worker.c  # noqa: N806  # columns
    asked = select(K.name, K.host, K.device_class, K.doing, K.started_at, K.seen_at).order_by(K.seen_at.desc()).limit(MOST)
    return tuple(WorkerRow(*row) for row in connection.execute(asked))


def quarantined(connection: Connection) -> tuple[tuple[int, str, str], ...]:
    """Number, name and reason of every device in quarantine, by host and name."""
    D, Q = tables.device.c, tables.quarantine.c  # noqa: N806  # columns
    asked = select(D.id, D.name, D.host, Q.reason).join(tables.quarantine, Q.device_id == D.id).where(Q.released_at.is_(None))
    return tuple((row.id, f"{row.name} of {row.host}", row.reason) for row in connection.execute(asked.order_by(D.host, D.name)))
