"""Runs: claimed by one worker at a time under a lease, put back when the worker dies, ended when nobody came."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Update, func, select, update

from perfd.domain.build import BuildSpec
from perfd.domain.codec import from_json
from perfd.domain.environment import Device
from perfd.domain.occasion import Occasion
from perfd.domain.results import Results
from perfd.domain.run import Arm, FailureKind, RunState
from perfd.domain.subject import SubjectKind
from perfd.errors import BadInputError
from perfd.store import occasions, queue, results, tables
from perfd.store.records import ClaimedRun, Reduced, Written
from perfd.store.workloads import read_model, read_workload
from perfd.store.writing import AnyRow, clean

R = tables.run.c
B = tables.build.c
MOST_ATTEMPTS = 3
"""A Run whose worker died so often is failed as lost; perfd/rules/retry.py decides about all other failures."""


@dataclass(frozen=True)
class Runs:
    """Questions about Runs."""

    engine: Engine

    def claim(
        self,
        device_class: str,
        worker: str,
        now: datetime,
        lease: timedelta,
        occasion: Occasion | None = None,
        *,
        device: Device | None = None,
    ) -> ClaimedRun | None:
        """The Run (of that occasion) that is next for a device class, on that device of it, is this worker's; see `queue`."""
        with self.engine.begin() as connection:
            chosen: int | None = connection.execute(queue.claimable(device_class, worker, device, now, occasion)).scalar()
            if chosen is None:
                return None
            taken = update(tables.run).where(R.id == chosen)
            connection.execute(
                taken.values(
                    state=RunState.CLAIMED.value,
                    claimed_by=worker,
                    lease_until=now + lease,
                    token=R.token + 1,
                    attempts=R.attempts + 1,
                    started_at=now,
                )
            )
            return _claimed(connection, chosen)

    def heartbeat(self, claimed: ClaimedRun, lease_until: datetime) -> bool:
        """The claim lasts until then; False when it is no longer ours: stop measuring."""
        held = _held(claimed)
        with self.engine.begin() as connection:
            return connection.execute(held.values(lease_until=lease_until)).rowcount == 1

    def finish(self, claimed: ClaimedRun, given: Results, points: Mapping[str, Reduced], now: datetime) -> Written:
        """The results and their Points (by Metric) stand there, all or none of them; see `Written` for what else may be.

        Points are written only where the occasion enters Series, and only for a done Run.
        """
        try:
            with self.engine.begin() as connection:
                return results.write(connection, claimed, given, points, now)
        except BadInputError as error:
            ended = _failed(FailureKind.NONSENSE, f"its results cannot be stored: {error.message}", now)
        with self.engine.begin() as connection:
            refused = connection.execute(_held(claimed).values(**ended)).rowcount == 1
        return Written.REFUSED if refused else Written.STALE

    def put_back(
        self,
        claimed: ClaimedRun,
        reason: str,
        not_before: datetime,
        now: datetime,
        failure: FailureKind = FailureKind.HARNESS,
    ) -> bool:
        """The Run is queued again for later, or failed after too many tries; its tries tell why. False when it is not ours."""
        if claimed.attempts >= MOST_ATTEMPTS:
            ended = _failed(failure, f"{reason} ({claimed.attempts} tries)", now)
        else:
            ended = _tried(failure, reason, now) | _queued() | {"reason": clean(reason), "not_before": not_before}
        with self.engine.begin() as connection:
            return connection.execute(_held(claimed).values(**ended)).rowcount == 1

    def give_back(self, claimed: ClaimedRun) -> bool:
        """The Run is queued as if it had never been claimed: a person stopped us, which is not the Run's fault."""
        with self.engine.begin() as connection:
            return connection.execute(_held(claimed).values(**_queued(), attempts=R.attempts - 1)).rowcount == 1

    def requeue_lapsed(self, now: datetime, is_dead: Callable[[str], bool]) -> int:
        """Runs whose worker is gone are queued again (or failed as lost, after too many tries); answers how many.

        A worker is gone when its lease has passed, or when `is_dead` says so of its name (host:pid:starttime).
        """
        with self.engine.begin() as connection:
            asked = select(R.id, R.claimed_by, R.lease_until, R.attempts).where(R.state == RunState.CLAIMED.value)
            gone = [
                row
                for row in connection.execute(asked.with_for_update(skip_locked=True))
                if row.lease_until < now or is_dead(row.claimed_by)
            ]
            for row in gone:
                lost = _failed(FailureKind.LOST, f"its worker ended {row.attempts} times while it ran", now)
                again = _tried(FailureKind.LOST, "its worker ended while it ran", now) | _queued()
                values = lost if row.attempts >= MOST_ATTEMPTS else again
                connection.execute(update(tables.run).where(R.id == row.id).values(**values))
            return len(gone)

    def close_missing(self, occasion: Occasion, reason: str, now: datetime, waited: timedelta = timedelta(0)) -> int:
        """Runs of the occasion that nobody claimed for so long are failed as missing; answers how many. Claimed ones are left."""
        with self.engine.begin() as connection:
            owed = update(tables.run).where(
                R.occasion_id == occasions.id_of(connection, occasion),
                R.state == RunState.QUEUED.value,
            )
            if waited:
                owed = owed.where(R.queued_at <= now - waited)
            return connection.execute(owed.values(**_failed(FailureKind.MISSING, reason, now))).rowcount

    def counts(self, occasion: Occasion) -> dict[RunState, int]:
        """How many Runs of the occasion are in each state; all five states are there."""
        with self.engine.begin() as connection:
            asked = select(R.state, func.count()).where(R.occasion_id == occasions.id_of(connection, occasion)).group_by(R.state)
            found = {RunState(state): count for state, count in connection.execute(asked)}
        return {state: found.get(state, 0) for state in RunState}

    def for_newer(self) -> dict[str, int]:
        """How many queued Runs only a newer perfd may measure, by the version that planned them."""
        with self.engine.begin() as connection:
            return queue.too_new(connection)

    def waiting_to_be_tried_again(self, occasion: Occasion, now: datetime) -> int:
        """How many Runs of the occasion may not be claimed before some time from `now` on."""
        asked = select(func.count()).where(
            R.occasion_id == select(tables.occasion.c.id).where(tables.occasion.c.name == occasion.name).scalar_subquery(),
            R.state == RunState.QUEUED.value,
            R.not_before > now,
        )
        with self.engine.begin() as connection:
            return int(connection.execute(asked).scalar_one())

    def unfinished(self, occasion: Occasion) -> int:
        """How many Runs of the occasion are queued or claimed."""
        found = self.counts(occasion)
        return found[RunState.QUEUED] + found[RunState.CLAIMED]


def _held(claimed: ClaimedRun) -> Update:
    return update(tables.run).where(R.id == claimed.id, R.token == claimed.token, R.state == RunState.CLAIMED.value)


def _queued() -> dict[str, Any]:
    return {"state": RunState.QUEUED.value, "claimed_by": None, "lease_until": None, "started_at": None}


def _tried(failure: FailureKind, reason: str, now: datetime) -> dict[str, Any]:
    """A try without a result is remembered, with the time that it held a device."""
    said = func.jsonb_build_object("at", now.isoformat(), "by", R.claimed_by, "failure", failure.value, "reason", clean(reason))
    held_s = func.greatest(0.0, func.extract("epoch", now - R.started_at))
    return {"tries": R.tries.concat(said), "lost_s": func.coalesce(R.lost_s, 0.0) + held_s}


def _failed(kind: FailureKind, reason: str, now: datetime) -> dict[str, Any]:
    return {
        "state": RunState.FAILED.value,
        "failure": kind.value,
        "reason": clean(reason),
        "claimed_by": None,
        "lease_until": None,
        "finished_at": now,
    }


def _claimed(connection: Connection, run_id: int) -> ClaimedRun:
    asked = (
        select(tables.run, B.spec, B.artifact_path, tables.subject.c.kind.label("subject_kind"))
        .join(tables.build, B.id == R.build_id)
        .join(tables.subject)
        .where(R.id == run_id)
    )
    row = connection.execute(asked).one()
    return ClaimedRun(
        id=row.id,
        key=row.key,
        token=row.token,
        spec=from_json(BuildSpec, row.spec),
        kind=SubjectKind(row.subject_kind),
        artifact=Path(row.artifact_path),
        workload=read_workload(connection, row.workload_id),
        model=None if row.model_id is None else read_model(connection, row.model_id),
        device_class=row.device_class,
        occasion=_read_occasion(connection, row),
        arm=Arm(row.arm),
        block=row.block,
        attempts=row.attempts,
    )


def _read_occasion(connection: Connection, run: AnyRow) -> Occasion:
    O = tables.occasion.c  # noqa: N806, E741  # columns
    return occasions.as_occasion(connection.execute(select(O.kind, O.nominal_at, O.label).where(O.id == run.occasion_id)).one())
