"""The jobs of answering heads of pull requests: at most one that is open a pull request, each with a deadline."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.codec import from_json, to_json
from perfd.domain.occasion import Occasion
from perfd.domain.pull import OPEN_JOBS, Approval, Asked, JobState
from perfd.domain.run import OccasionKind
from perfd.store import occasions, tables
from perfd.store.pulls import PullRow, as_pull
from perfd.store.writing import AnyRow, clean

R = tables.forge_repository.c
Q = tables.pull_request.c
J = tables.pull_job.c
Occ = tables.occasion.c
OPEN = [state.value for state in sorted(OPEN_JOBS)]


@dataclass(frozen=True)
class JobRow:
    """The answering of one head."""

    id: int
    """A check's slot is this number as text."""
    pull: PullRow
    head: str
    head_at: datetime
    """Since when the pull request has had this head, by the forge's clock; one that was pushed back counts anew."""
    attempt: int
    state: JobState
    reason: str
    asked: Asked
    merge_base: str
    approval: Approval | None
    occasion: Occasion | None
    facts: Mapping[str, Any]
    verdict: Any
    opened_at: datetime
    deadline_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True)
class PullJobs:
    """Questions about the answering of pull requests."""

    engine: Engine

    def open(
        self,
        pull: PullRow,
        asked: Asked,
        now: datetime,
        *,
        deadline_at: datetime,
        approval: Approval | None = None,
        waits: bool = False,
        delivery: int | None = None,
    ) -> JobRow:
        """A job for the pull request's head, waiting for approval or queued; whatever was open there is superseded.

        The same delivery, handled again after a crash, finds the job that it opened.
        """
        values = {
            "pull_request_id": pull.id,
            "state": (JobState.WAITING if waits else JobState.QUEUED).value,
            "asked": clean(to_json(asked)),
            "approved_by": approval.by if approval else None,
            "approved_at": approval.at if approval else None,
            "opened_at": now,
            "moved_at": now,
            "deadline_at": deadline_at,
            "delivery_id": delivery,
        }
        with self.engine.begin() as connection:
            # The head is read here, under the lock: another event may have come in since the caller looked.
            stands = connection.execute(select(Q.head, Q.updated_at).where(Q.id == pull.id).with_for_update()).one()
            made = _of_delivery(connection, delivery)
            if made is None:
                supersede(connection, pull, f"asked again: {asked.why}", now)
                before = select(J.head, J.head_at).where(J.pull_request_id == pull.id).order_by(J.id)
                jobs = connection.execute(before).all()
                count = sum(job.head == stands.head for job in jobs)
                # A head that was pushed back after another one is there since that push, not since it was there first.
                since = jobs[-1].head_at if jobs and jobs[-1].head == stands.head else stands.updated_at
                row = {**values, "head": stands.head, "attempt": count + 1, "head_at": since}
                made = connection.execute(insert(tables.pull_job).values(**row).returning(J.id)).scalar_one()
        return self._rows(J.id == made)[0]

    def end_open(self, pull: PullRow, reason: str, now: datetime) -> bool:
        """Whatever is open there is superseded; False when nothing was."""
        with self.engine.begin() as connection:
            return supersede(connection, pull, reason, now)

    def read(self, job: int) -> JobRow | None:
        """The job of that number."""
        return next(iter(self._rows(J.id == job)), None)

    def newest_at(self, head: str) -> JobRow | None:
        """The newest job for that commit."""
        return next(iter(reversed(self._rows(J.head == head))), None)

    def in_state(self, *states: JobState) -> tuple[JobRow, ...]:
        """The jobs in these states, oldest first."""
        return self._rows(J.state.in_([state.value for state in states]))

    def of(self, pull: PullRow) -> tuple[JobRow, ...]:
        """Every job of the pull request, oldest first."""
        return self._rows(J.pull_request_id == pull.id)

    def of_occasion(self, occasion: Occasion) -> JobRow | None:
        """The job that the comparison measures for."""
        return next(iter(self._rows(Occ.name == occasion.name)), None)

    def approve(self, job: JobRow, approval: Approval, now: datetime) -> bool:
        """A job that waits is queued; False where it does not wait, or another head stands than the one that was approved."""
        stands = select(Q.id).where(Q.id == J.pull_request_id, Q.head == approval.head).exists()
        moved = update(tables.pull_job).where(J.id == job.id, J.state == JobState.WAITING.value, J.head == approval.head, stands)
        values = {
            "state": JobState.QUEUED.value,
            "reason": "",
            "moved_at": now,
            "approved_by": approval.by,
            "approved_at": approval.at,
        }
        with self.engine.begin() as connection:
            return connection.execute(moved.values(**values)).rowcount == 1

    def learn(self, job: JobRow, facts: Mapping[str, Any], merge_base: str = "") -> None:
        """What is told of the job besides, added to what is known."""
        values: dict[str, Any] = {"facts": J.facts.concat(clean(to_json(facts)))}
        if merge_base:
            values["merge_base"] = merge_base
        with self.engine.begin() as connection:
            connection.execute(update(tables.pull_job).where(J.id == job.id).values(**values))

    def start(self, job: JobRow, occasion: Occasion, now: datetime) -> bool:
        """A queued job runs as that comparison; False where it is not queued any more."""
        with self.engine.begin() as connection:
            values = {"state": JobState.RUNNING.value, "occasion_id": occasions.id_of(connection, occasion), "moved_at": now}
            queued = update(tables.pull_job).where(J.id == job.id, J.state == JobState.QUEUED.value)
            return connection.execute(queued.values(**values)).rowcount == 1

    def end(self, job: JobRow, state: JobState, reason: str, now: datetime, verdict: Any = None) -> bool:
        """An open job is over, with its reason; False where it was before."""
        values = {"state": state.value, "reason": clean(reason), "moved_at": now, "ended_at": now}
        if verdict is not None:
            values["verdict"] = clean(to_json(verdict))
        still = update(tables.pull_job).where(J.id == job.id, J.state.in_(OPEN))
        with self.engine.begin() as connection:
            return connection.execute(still.values(**values)).rowcount == 1

    def overdue(self, now: datetime) -> tuple[JobRow, ...]:
        """Jobs that are open, and whose deadline has passed."""
        return self._rows(J.state.in_(OPEN), J.deadline_at <= now)

    def _rows(self, *where: ColumnElement[bool]) -> tuple[JobRow, ...]:
        pull = [column for column in tables.pull_request.c if column.name not in {"id", "head"}]
        asked = (
            select(tables.pull_job, *pull, Q.head.label("pull_head"), R.name, Occ.kind, Occ.nominal_at, Occ.label)
            .join(tables.pull_request, Q.id == J.pull_request_id)
            .join(tables.forge_repository, R.id == Q.repository_id)
            .join(tables.occasion, Occ.id == J.occasion_id, isouter=True)
            .where(*where)
            .order_by(J.id)
        )
        with self.engine.begin() as connection:
            return tuple(_as_job(row) for row in connection.execute(asked))


def _of_delivery(connection: Connection, delivery: int | None) -> int | None:
    if delivery is None:
        return None
    return connection.execute(select(J.id).where(J.delivery_id == delivery)).scalar()


def supersede(connection: Connection, pull: PullRow, reason: str, now: datetime) -> bool:
    """The open job of the pull request is over because something else counts now; False where none is open."""
    values = {"state": JobState.SUPERSEDED.value, "reason": clean(reason), "moved_at": now, "ended_at": now}
    still = update(tables.pull_job).where(J.pull_request_id == pull.id, J.state.in_(OPEN))
    return connection.execute(still.values(**values)).rowcount > 0


def _as_job(row: AnyRow) -> JobRow:
    occasion = None if row.kind is None else Occasion(OccasionKind(row.kind), row.nominal_at, row.label)
    return JobRow(
        id=row.id,
        pull=as_pull(row, row.pull_request_id, row.pull_head),
        head=row.head,
        head_at=row.head_at,
        attempt=row.attempt,
        state=JobState(row.state),
        reason=row.reason,
        asked=from_json(Asked, row.asked),
        merge_base=row.merge_base,
        approval=None if row.approved_by is None else Approval(row.approved_by, row.head, row.approved_at),
        occasion=occasion,
        facts=row.facts,
        verdict=row.verdict,
        opened_at=row.opened_at,
        deadline_at=row.deadline_at,
        ended_at=row.ended_at,
    )
