"""Builds: claimed by one worker at a time, and finished with their outcome."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, Engine, func, select, update

from perfd.domain.build import BuildOutcome, BuildSpec, BuildState
from perfd.domain.codec import from_json
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import PlannedBuild
from perfd.domain.run import FailureKind, OccasionKind, RunState
from perfd.domain.subject import Revision, SubjectKind, brief
from perfd.store import tables
from perfd.store.records import ClaimedBuild
from perfd.store.writing import clean

B = tables.build.c
MOST_ATTEMPTS = 3
"""A Build whose builder died so often is failed: it takes its builder down."""


@dataclass(frozen=True)
class Builds:
    """Questions about Builds."""

    engine: Engine

    def claim(self, worker: str, now: datetime, lease: timedelta) -> ClaimedBuild | None:
        """The Build that is first in the queue (`perfd.domain.purpose`) is this worker's; absent when none is queued."""
        first = (func.coalesce(B.ranks_at, B.queued_at), B.id)
        chosen = select(B.id).where(B.state == BuildState.QUEUED.value).order_by(*first).limit(1)
        taken = (
            update(tables.build)
            .where(B.id == chosen.with_for_update(skip_locked=True).scalar_subquery())
            .values(
                state=BuildState.BUILDING.value,
                claimed_by=worker,
                lease_until=now + lease,
                token=B.token + 1,
                attempts=B.attempts + 1,
            )
            .returning(B.id, B.token, B.spec, B.subject_id, B.attempts)
        )
        with self.engine.begin() as connection:
            row = connection.execute(taken).first()
            if row is None:
                return None
            kind = connection.execute(select(tables.subject.c.kind).where(tables.subject.c.id == row.subject_id)).scalar_one()
        return ClaimedBuild(row.id, row.token, from_json(BuildSpec, row.spec), SubjectKind(kind), row.attempts)

    def wanted_by(self, claimed: ClaimedBuild) -> tuple[Occasion, ...]:
        """Every occasion that ever planned the Build."""
        O, OB = tables.occasion.c, tables.occasion_build.c  # noqa: N806, E741  # columns
        asked = select(O.kind, O.nominal_at, O.label).join(tables.occasion_build, OB.occasion_id == O.id)
        with self.engine.begin() as connection:
            rows = connection.execute(asked.where(OB.build_id == claimed.id)).all()
        return tuple(Occasion(OccasionKind(row.kind), row.nominal_at, row.label) for row in rows)

    def heartbeat(self, claimed: ClaimedBuild, lease_until: datetime) -> bool:
        """The claim lasts until then; False when it is no longer ours."""
        held = update(tables.build).where(B.id == claimed.id, B.token == claimed.token, B.state == BuildState.BUILDING.value)
        with self.engine.begin() as connection:
            return connection.execute(held.values(lease_until=lease_until)).rowcount == 1

    def finish(self, claimed: ClaimedBuild, outcome: BuildOutcome, now: datetime) -> bool:
        """The outcome stands, for every occasion that waits for it; queued Runs of a failed Build are failed too.

        False (and nothing changed) when the claim is no longer ours.
        """
        with self.engine.begin() as connection:
            held = select(B.id).where(B.id == claimed.id, B.token == claimed.token, B.state == BuildState.BUILDING.value)
            if connection.execute(held.with_for_update()).first() is None:
                return False
            end(connection, claimed.id, outcome, now)
            return True

    def give_back(self, claimed: ClaimedBuild) -> bool:
        """The Build is queued as if it had never been claimed: a person stopped us, which is not the Build's fault."""
        held = update(tables.build).where(B.id == claimed.id, B.token == claimed.token, B.state == BuildState.BUILDING.value)
        back = {"state": BuildState.QUEUED.value, "claimed_by": None, "lease_until": None, "attempts": B.attempts - 1}
        with self.engine.begin() as connection:
            return connection.execute(held.values(**back)).rowcount == 1

    def requeue_lapsed(self, now: datetime, is_dead: Callable[[str], bool]) -> int:
        """Builds whose builder is gone are queued again (or failed, after too many tries); answers how many."""
        with self.engine.begin() as connection:
            asked = select(B.id, B.claimed_by, B.lease_until, B.attempts, B.spec).where(B.state == BuildState.BUILDING.value)
            gone = [
                row
                for row in connection.execute(asked.with_for_update(skip_locked=True))
                if row.lease_until < now or is_dead(row.claimed_by)
            ]
            for row in gone:
                if row.attempts >= MOST_ATTEMPTS:
                    end(connection, row.id, _lost(from_json(BuildSpec, row.spec), row.attempts), now)
                else:
                    back = {"state": BuildState.QUEUED.value, "claimed_by": None, "lease_until": None}
                    connection.execute(update(tables.build).where(B.id == row.id).values(**back))
            return len(gone)

    def built(self) -> dict[str, Path]:
        """The artifact's folder of every Build that is built, by digest: the planner looks whether they are still there."""
        asked = select(B.digest, B.artifact_path).where(B.state == BuildState.BUILT.value)
        with self.engine.begin() as connection:
            return {row.digest: Path(row.artifact_path) for row in connection.execute(asked)}

    def artifact(self, digest: str) -> Path | None:
        """The Build's folder; absent unless it is built."""
        with self.engine.begin() as connection:
            found = connection.execute(select(B.artifact_path).where(B.digest == digest)).scalar()
        return None if found is None else Path(found)

    def planned(self, digest: str) -> PlannedBuild | None:
        """The Build as it was planned last, at its Revision; absent where it is unknown."""
        OB, V, S = tables.occasion_build.c, tables.revision.c, tables.subject.c  # noqa: N806  # columns
        asked = (
            select(B.spec, S.kind, V.branch, V.name, V.ordinal, V.committed_at, V.title, V.parent)
            .join(tables.occasion_build, OB.build_id == B.id)
            .join(tables.revision, V.id == OB.revision_id)
            .join(tables.subject, S.id == B.subject_id)
            .where(B.digest == digest)
            .order_by(OB.occasion_id.desc())
            .limit(1)
        )
        with self.engine.begin() as connection:
            row = connection.execute(asked).first()
        if row is None:
            return None
        revision = Revision(row.name, row.ordinal, row.committed_at, row.title, row.parent)
        return PlannedBuild(from_json(BuildSpec, row.spec), SubjectKind(row.kind), revision, row.branch)

    def state(self, digest: str) -> BuildState | None:
        """Where the Build stands; absent where it is unknown."""
        with self.engine.begin() as connection:
            found = connection.execute(select(B.state).where(B.digest == digest)).scalar()
        return None if found is None else BuildState(found)


def _lost(spec: BuildSpec, attempts: int) -> BuildOutcome:
    sentence = f"its builder ended {attempts} times without an outcome (killed, or out of memory); build it by hand to see why"
    return BuildOutcome(spec, None, Path(), sentence, 0.0)


def end(connection: Connection, build_id: int, outcome: BuildOutcome, now: datetime) -> None:
    """As `Builds.finish`, inside a transaction of the caller's, and whoever holds the claim."""
    ended = {
        "state": outcome.state.value,
        "artifact_path": None if outcome.artifact is None else str(outcome.artifact),
        "log_path": str(outcome.log),
        "log_tail": clean(outcome.log_tail),
        "seconds": outcome.seconds,
        "claimed_by": None,
        "lease_until": None,
        "finished_at": now,
    }
    connection.execute(update(tables.build).where(B.id == build_id).values(**ended))
    OB, O = tables.occasion_build.c, tables.occasion.c  # noqa: N806, E741  # columns
    still_open = select(O.id).where(O.state != OccasionState.REPORTED.value)
    waiting = update(tables.occasion_build).where(
        OB.build_id == build_id, OB.state == BuildState.QUEUED.value, OB.occasion_id.in_(still_open)
    )
    connection.execute(waiting.values(state=outcome.state.value, cached=outcome.cached, seconds=outcome.seconds))
    if outcome.state is BuildState.FAILED:
        _fail_runs(connection, build_id, outcome, now)


def _fail_runs(connection: Connection, build_id: int, outcome: BuildOutcome, now: datetime) -> None:
    run = tables.run.c
    waiting = update(tables.run).where(run.build_id == build_id, run.state == RunState.QUEUED.value)
    connection.execute(
        waiting.values(
            state=RunState.FAILED.value,
            failure=FailureKind.BUILD.value,
            reason=f"its Build {outcome.spec.subject} {brief(outcome.spec.revision)} could not be made",
            log_tail=clean(outcome.log_tail),
            finished_at=now,
        )
    )
