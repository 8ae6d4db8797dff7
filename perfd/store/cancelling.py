"""Work that will not be done: each queued Run that is cancelled ends as failed, says why, and stands in its occasion's report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, exists, select, update
from sqlalchemy.dialects.postgresql import distinct_on

from perfd.domain.build import BuildOutcome, BuildSpec, BuildState
from perfd.domain.codec import from_json
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import FailureKind, OccasionKind, RunState
from perfd.store import builds, occasions, tables
from perfd.store.writing import clean

R = tables.run.c
B = tables.build.c
OB = tables.occasion_build.c
Occ = tables.occasion.c
BEGUN = tuple(state.value for state in (OccasionState.PLANNED, OccasionState.JUDGED, OccasionState.REPORTED))


@dataclass(frozen=True)
class Cancelling:
    """Questions about work that will not be done. What a worker has claimed is never touched."""

    engine: Engine

    def supersede(self, occasion: Occasion, reason: str, now: datetime) -> int:
        """The occasion's queued Runs are superseded, and its queued Builds that nobody else needs; answers how many Runs."""
        with self.engine.begin() as connection:
            return _supersede(connection, [occasions.id_of(connection, occasion)], reason, now)

    def overtaken(self, now: datetime) -> Mapping[str, int]:
        """Nights whose next night is planned have no queued Runs; answers how many each had, by its name.

        The next night is the one of the same label that was opened last, whatever its date says: clocks jump.
        """
        waiting = exists().where(R.occasion_id == Occ.id, R.state == RunState.QUEUED.value)
        nights = select(Occ.id, Occ.name, Occ.label).where(Occ.kind == OccasionKind.NIGHT.value)
        last = nights.where(Occ.state.in_(BEGUN)).ext(distinct_on(Occ.label)).order_by(Occ.label, Occ.id.desc())
        with self.engine.begin() as connection:
            newest = {row.label: row for row in connection.execute(last)}
            found = connection.execute(nights.where(Occ.state == OccasionState.PLANNED.value, waiting).order_by(Occ.id)).all()
            overtaken = {row: newest[row.label].name for row in found if row.id < newest[row.label].id}
            return {
                row.name: _supersede(connection, [row.id], f"{by} began before anybody measured it", now)
                for row, by in overtaken.items()
            }

    def over_budget(self, night: Occasion, device_class: str, reason: str, now: datetime) -> int:
        """The night's queued Runs on that device class are ended, since its minutes there are spent; answers how many."""
        with self.engine.begin() as connection:
            where = (R.occasion_id == occasions.id_of(connection, night), R.device_class == device_class)
            return _cancel(connection, where, FailureKind.BUDGET, reason, now)


def _supersede(connection: Connection, occasion_ids: Sequence[int], reason: str, now: datetime) -> int:
    cancelled = _cancel(connection, (R.occasion_id.in_(occasion_ids),), FailureKind.SUPERSEDED, reason, now)
    for build_id, spec in _useless(connection, occasion_ids):
        builds.end(connection, build_id, BuildOutcome(spec, None, Path(), f"cancelled: {reason}", 0.0), now)
    return cancelled


def _cancel(connection: Connection, where: Sequence[ColumnElement[bool]], kind: FailureKind, reason: str, now: datetime) -> int:
    ended: dict[str, Any] = {
        "state": RunState.FAILED.value,
        "failure": kind.value,
        "reason": clean(reason),
        "finished_at": now,
    }
    chosen = select(R.id).where(R.state == RunState.QUEUED.value, *where).with_for_update(skip_locked=True)
    return connection.execute(update(tables.run).where(R.id.in_(chosen)).values(**ended)).rowcount


def _useless(connection: Connection, occasion_ids: Sequence[int]) -> list[tuple[int, BuildSpec]]:
    """Builds that are queued, and that no Run and no other open occasion waits for."""
    wanted = exists().where(R.build_id == B.id, R.state.in_([RunState.QUEUED.value, RunState.CLAIMED.value]))
    others = (
        exists()
        .where(OB.build_id == B.id, OB.occasion_id.not_in(occasion_ids))
        .where(OB.occasion_id == Occ.id, Occ.state != OccasionState.REPORTED.value)
    )
    asked = (
        select(B.id, B.spec)
        .join(tables.occasion_build, OB.build_id == B.id)
        .where(OB.occasion_id.in_(occasion_ids), B.state == BuildState.QUEUED.value, ~wanted, ~others)
        .with_for_update(of=tables.build, skip_locked=True)
    )
    return [(row.id, from_json(BuildSpec, row.spec)) for row in connection.execute(asked)]
