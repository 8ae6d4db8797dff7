"""Results that were measured elsewhere: everything that a plan would have written, and the results, in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, Engine, func, select, update

from perfd.domain.arrival import Arrival
from perfd.domain.build import BuildState
from perfd.domain.occasion import Occasion
from perfd.domain.plan import Plan, PlannedBuild, PlannedRun
from perfd.domain.run import Arm, OccasionKind, RunState
from perfd.domain.subject import Revision
from perfd.store import occasions, plans, results, tables
from perfd.store.batches import take_all
from perfd.store.records import ClaimedRun, Reduced, Taken, Written
from perfd.store.subjects import ensure_subject
from perfd.store.writing import name

R = tables.run.c
B = tables.build.c
V = tables.revision.c
WHO = "elsewhere"
LEASE = timedelta(minutes=1)


@dataclass(frozen=True)
class Arrivals:
    """Questions of those who measured without perfd."""

    engine: Engine

    def take(self, arrival: Arrival, points: Mapping[str, Reduced], now: datetime) -> Taken:
        """The Run stands there, done and with its Points, or stood there; raises BadInputError, and then nothing was written.

        The same results again are `already`; other results under the same key are `refused`. The judge looks at the Series next.
        """
        occasion = Occasion(OccasionKind.IMPORT, arrival.results.started_at.replace(microsecond=0), name(arrival.key, "a key"))
        with self.engine.begin() as connection:
            if plans.open_planned(connection, occasion, _plan(connection, arrival), frozenset(), now):
                _built(connection, occasion, arrival, now)
            claimed = _claimed(connection, occasion, arrival, now)
            if claimed is None:
                return Taken("", Written.REFUSED)
            written = results.write(connection, claimed, arrival.results, points, now)
            return Taken(claimed.key, Written.REFUSED if written is Written.STALE else written)

    def take_all(self, arrivals: Sequence[Arrival], points: Sequence[Mapping[str, Reduced]], now: datetime) -> list[Taken]:
        """As `take`, for all Runs of a file in one transaction: each is written, stood there or is refused, or none is.

        Runs with one key share an occasion. Cost: about 4 ms a Run with one Metric.
        """
        with self.engine.begin() as connection:
            return take_all(connection, arrivals, points, now)


def _plan(connection: Connection, arrival: Arrival) -> Plan:
    one = arrival.identity
    for what, word in (("a subject", one.subject), ("a Revision", one.revision), ("a Workload", one.workload)):
        name(word, what)
    revision = _placed(connection, arrival)
    device_class = arrival.results.environment.device.device_class if arrival.results.environment else ""
    return Plan(
        (PlannedBuild(arrival.build, one.subject_kind, revision, one.branch),),
        (PlannedRun(arrival.build, arrival.workload, device_class, arrival.model),),
    )


def _placed(connection: Connection, arrival: Arrival) -> Revision:
    """The Revision at the place where it stands, or was said to stand, or behind all others."""
    one = arrival.identity
    subject_id = ensure_subject(connection, one.subject, one.subject_kind)
    here = (V.subject_id == subject_id, V.branch == one.branch)
    known = connection.execute(select(V.ordinal, V.committed_at, V.title, V.parent).where(*here, V.name == one.revision)).first()
    if known is not None:
        return Revision(one.revision, known.ordinal, known.committed_at, known.title, known.parent)
    if one.ordinal is not None:
        return Revision(one.revision, one.ordinal, one.committed_at, one.title)
    last: int | None = connection.execute(select(func.max(V.ordinal)).where(*here)).scalar()
    return Revision(one.revision, 0 if last is None else last + 1, one.committed_at, one.title)


def _built(connection: Connection, occasion: Occasion, arrival: Arrival, now: datetime) -> None:
    """Nobody here makes the Build: it exists where it was measured."""
    here = update(tables.build).where(B.digest == arrival.build.digest, B.state != BuildState.BUILT.value)
    connection.execute(here.values(state=BuildState.BUILT.value, artifact_path=WHO, finished_at=now))
    owed = tables.occasion_build.c
    got = update(tables.occasion_build).where(owed.occasion_id == occasions.id_of(connection, occasion))
    connection.execute(got.values(state=BuildState.BUILT.value, cached=True, seconds=0.0))


def _claimed(connection: Connection, occasion: Occasion, arrival: Arrival, now: datetime) -> ClaimedRun | None:
    """The one Run of the occasion, this transaction's own; absent where the key belongs to a Run of something else."""
    asked = select(R.id, R.key, R.token, R.state, R.build_id, R.device_class).where(
        R.occasion_id == occasions.id_of(connection, occasion),
        R.build_id.in_(select(B.id).where(B.digest == arrival.build.digest)),
    )
    row = connection.execute(asked.with_for_update()).first()
    if row is None:
        return None
    token = row.token
    if row.state == RunState.QUEUED.value:
        token += 1
        held = {"state": RunState.CLAIMED.value, "claimed_by": WHO, "lease_until": now + LEASE, "token": token, "attempts": 1}
        connection.execute(update(tables.run).where(R.id == row.id).values(**held))
    return ClaimedRun(
        id=row.id,
        key=row.key,
        token=token,
        spec=arrival.build,
        kind=arrival.identity.subject_kind,
        artifact=Path(WHO),
        workload=arrival.workload,
        model=arrival.model,
        device_class=row.device_class,
        occasion=occasion,
        arm=Arm.ONLY,
        block=0,
        attempts=1,
    )
