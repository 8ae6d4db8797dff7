"""How the service stands: the last night, what waits, and who works."""

from sqlalchemy import Connection, func, select

from perfd.domain.build import BuildState
from perfd.domain.occasion import OccasionState
from perfd.domain.run import OccasionKind, RunState
from perfd.store import tables
from perfd.store.pages import nights, occasions
from perfd.store.records import QueueRow, Status, WorkerRow

R = tables.run.c
B = tables.build.c
Occ = tables.occasion.c
MOST = 50


def status(connection: Connection) -> Status:
    """The newest night, everything that is open, and the workers seen last."""
    newest = select(Occ.id).where(Occ.kind == OccasionKind.NIGHT.value).order_by(Occ.nominal_at.desc(), Occ.id.desc()).limit(1)
    night = connection.execute(newest).scalar()
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


def _workers(connection: Connection) -> tuple[WorkerRow, ...]:
    K = tables.worker.c  # noqa: N806  # columns
    asked = select(K.name, K.host, K.device_class, K.doing, K.started_at, K.seen_at).order_by(K.seen_at.desc()).limit(MOST)
    return tuple(WorkerRow(*row) for row in connection.execute(asked))


def quarantined(connection: Connection) -> tuple[tuple[int, str, str], ...]:
    """Number, name and reason of every device in quarantine, by host and name."""
    D, Q = tables.device.c, tables.quarantine.c  # noqa: N806  # columns
    asked = select(D.id, D.name, D.host, Q.reason).join(tables.quarantine, Q.device_id == D.id).where(Q.released_at.is_(None))
    return tuple((row.id, f"{row.name} of {row.host}", row.reason) for row in connection.execute(asked.order_by(D.host, D.name)))
