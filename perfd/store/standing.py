"""What is owed, and how far it has come: everything that silence is told from."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine, and_, case, func, or_, select

from perfd.domain.alarm import OpenBisection, OpenOccasion, Standing, Stuck, Waiting
from perfd.domain.build import BuildState
from perfd.domain.occasion import OccasionState
from perfd.domain.run import OccasionKind, RunState
from perfd.store import occasions, tables
from perfd.store.launches import Launches

R = tables.run.c
B = tables.build.c
D = tables.device.c
K = tables.worker.c
Q = tables.quarantine.c
X = tables.outbox.c
Occ = tables.occasion.c
GIVEN_UP_FOR = timedelta(days=1)
"""How long a message that was given up is spoken of."""


def standing(engine: Engine, now: datetime) -> Standing:
    """How everything that is owed stands."""
    checkpoints = tuple(one for row in Launches(engine).every() for one in row.checkpoints)
    with engine.begin() as connection:
        service = connection.execute(select(tables.service)).first()
        nights = select(func.max(Occ.nominal_at)).where(Occ.kind == OccasionKind.NIGHT.value)
        return Standing(
            began_at=None if service is None else service.began_at,
            clock_at=None if service is None else service.clock_at,
            last_night=connection.execute(nights).scalar(),
            occasions=_open(connection),
            checkpoints=checkpoints,
            bisections=_bisections(connection),
            waiting=(*_runs(connection, now), *_builds(connection, now)),
            stuck=_stuck(connection, now),
        )


def _open(connection: Connection) -> tuple[OpenOccasion, ...]:
    asked = select(Occ.kind, Occ.nominal_at, Occ.label, Occ.opened_at).where(Occ.state != OccasionState.REPORTED.value)
    return tuple(OpenOccasion(occasions.as_occasion(row), row.opened_at) for row in connection.execute(asked.order_by(Occ.id)))


def _bisections(connection: Connection) -> tuple[OpenBisection, ...]:
    A, S = tables.bisect.c, tables.subject.c  # noqa: N806  # columns
    asked = select(A.id, S.name, A.opened_at, A.most_minutes).join(tables.subject, S.id == A.subject_id)
    return tuple(OpenBisection(*row) for row in connection.execute(asked.where(A.ended_at.is_(None)).order_by(A.id)))


def _runs(connection: Connection, now: datetime) -> tuple[Waiting, ...]:
    """By device class: Runs that could begin, and Runs whose worker has let its lease lapse."""
    free = and_(R.state == RunState.QUEUED.value, or_(R.not_before.is_(None), R.not_before <= now))
    dead = and_(R.state == RunState.CLAIMED.value, R.lease_until <= now)
    since = case((R.state == RunState.CLAIMED.value, R.lease_until), else_=func.greatest(R.queued_at, R.not_before))
    asked = (
        select(R.device_class, func.count().label("many"), func.min(since).label("since"))
        .join(tables.build, B.id == R.build_id)
        .where(B.state == BuildState.BUILT.value, or_(free, dead))
        .group_by(R.device_class)
        .order_by(R.device_class)
    )
    return tuple(_waiting(connection, row.device_class, (row.many, row.since), now) for row in connection.execute(asked).all())


def _waiting(connection: Connection, device_class: str, many: tuple[int, datetime], now: datetime) -> Waiting:
    asked = (
        select(D.name, D.host, D.looked_at, Q.opened_at)
        .outerjoin(tables.quarantine, and_(Q.device_id == D.id, Q.released_at.is_(None)))
        .where(D.device_class == device_class)
    )
    devices = connection.execute(asked.order_by(D.host, D.name)).all()
    out = tuple((f"{row.name} of {row.host}", row.opened_at) for row in devices if row.opened_at is not None)
    seen = [row.looked_at for row in devices if row.looked_at is not None]
    seen += _seen(connection, device_class, [row.host for row in devices], now)
    return Waiting(device_class, *many, max(seen, default=None), out, len(devices) - len(out))


def _seen(connection: Connection, device_class: str, hosts: list[str], now: datetime) -> list[datetime]:
    """When somebody was last seen to work who comes to such Runs in the end.

    A worker does one thing after another: while it builds, or measures on another device of its host, these Runs wait.
    Where no device of the class is known yet, any worker may be the one.
    """
    holds = select(R.id).where(R.device_class == device_class, R.state == RunState.CLAIMED.value, R.lease_until > now).limit(1)
    there = or_(K.device_class == device_class, K.host.in_(hosts)) if hosts else K.host != ""
    busy = select(func.max(K.seen_at)).where(K.doing != "", there)
    found = [connection.execute(busy).scalar()]
    if connection.execute(holds).first() is not None:
        found.append(now)
    return [moment for moment in found if moment is not None]


def _builds(connection: Connection, now: datetime) -> tuple[Waiting, ...]:
    """Builds that wait, or whose builder has let its lease lapse: whoever works may make them."""
    dead = and_(B.state == BuildState.BUILDING.value, B.lease_until <= now)
    since = case((B.state == BuildState.BUILDING.value, B.lease_until), else_=B.queued_at)
    asked = select(func.count(), func.min(since)).where(or_(B.state == BuildState.QUEUED.value, dead))
    count, first = connection.execute(asked).one()
    return (Waiting("", count, first, connection.execute(select(func.max(K.seen_at))).scalar()),) if count else ()


def _stuck(connection: Connection, now: datetime) -> tuple[Stuck, ...]:
    """By kind: what waits to be delivered, and what was given up lately."""
    lately = and_(X.given_up, X.done_at > now - GIVEN_UP_FOR)
    asked = (
        select(X.kind, func.count(), func.min(X.created_at), func.max(X.last_error), X.given_up)
        .where(or_(X.done_at.is_(None), lately))
        .group_by(X.kind, X.given_up)
        .order_by(X.kind, X.given_up)
    )
    return tuple(Stuck(*row) for row in connection.execute(asked))
