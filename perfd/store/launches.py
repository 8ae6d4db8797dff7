"""Launches and their Checkpoints: declared once, each Checkpoint opened exactly once, its comparison beside it."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.codec import to_json
from perfd.domain.launch import Checkpoint, LaunchFacts, ModelLaunch
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import Plan
from perfd.domain.subject import SubjectKind
from perfd.errors import BadInputError
from perfd.store import launch_facts, occasions, tables
from perfd.store.launch_rows import Beside, LaunchRow, Own, rows, with_occasions
from perfd.store.plans import open_planned
from perfd.store.subjects import ensure_subject
from perfd.store.todos import Todos
from perfd.store.writing import clean

L = tables.launch.c
K = tables.checkpoint.c
Occ = tables.occasion.c


class Declared(StrEnum):
    """What became of a Launch that was handed in."""

    NEW = "new"
    SAME = "as it was"
    CHANGED = "changed"


@dataclass(frozen=True)
class Launches:
    """Questions about Launches."""

    engine: Engine

    def declare(self, launch: ModelLaunch, owed: Container[int], now: datetime) -> Declared:
        """The Launch stands there as given, each new day with whether it is `owed`; Checkpoints that were opened stay.

        Raises BadInputError where a day that is no rehearsal was opened and the Launch would move, or lose that day.
        """
        with self.engine.begin() as connection:
            launch_id, new = _ensure(connection, launch, now)
            standing = rows(connection, L.id == launch_id)[0]
            back = {one.day for one in standing.checkpoints if one.occasion is None and not one.owed and one.day in owed}
            if not new and standing.launch == launch and not back:
                return Declared.SAME
            _refuse_rewriting(standing, launch)
            values = {"at": launch.at, "suites": list(launch.suites), "compare_minutes": launch.compare_minutes}
            connection.execute(update(tables.launch).where(L.id == launch_id).values(**values))
            _write_days(connection, launch_id, standing, launch, owed)
            revived = update(tables.checkpoint).where(K.launch_id == launch_id, K.day.in_(back))
            connection.execute(revived.values(owed=True))
            return Declared.NEW if new else Declared.CHANGED

    def drop(self, launch: ModelLaunch) -> int:
        """The days that were not opened are owed no more; how many these were. What was measured stays."""
        waiting = update(tables.checkpoint).where(K.launch_id == _id(launch), K.occasion_id.is_(None), K.owed)
        with self.engine.begin() as connection:
            return connection.execute(waiting.values(owed=False)).rowcount

    def every(self) -> tuple[LaunchRow, ...]:
        """All Launches, the newest day 0 first."""
        with self.engine.begin() as connection:
            return rows(connection)

    def find(self, model: str, engine: str | None = None) -> tuple[LaunchRow, ...]:
        """The Launches of a Model (on that Engine)."""
        where = (L.model == model,) if engine is None else (L.model == model, tables.subject.c.name == engine)
        with self.engine.begin() as connection:
            return rows(connection, *where)

    def numbered(self, launch_id: int) -> LaunchRow | None:
        """The Launch with that number."""
        with self.engine.begin() as connection:
            return next(iter(rows(connection, L.id == launch_id)), None)

    def facts(self, row: LaunchRow) -> LaunchFacts:
        """Everything that is stored of a Launch: reports, Changes, Revisions, and what it can still use."""
        todos = Todos(self.engine).of(row.id)
        with self.engine.begin() as connection:
            return launch_facts.facts(connection, row, todos)

    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """The Checkpoints of every Launch."""
        return tuple(one for row in self.every() for one in row.checkpoints)

    def open(self, launch: ModelLaunch, day: int, now: datetime) -> Occasion | None:
        """The Checkpoint was opened just now; absent when it was before. Two clocks that fire at once open it once."""
        occasion = launch.occasion(day)
        with self.engine.begin() as connection:
            mine = (K.launch_id == _id(launch), K.day == day)
            standing = connection.execute(select(K.occasion_id).where(*mine, K.owed).with_for_update()).first()
            if standing is None or standing.occasion_id is not None:
                return None
            occasions.open_in(connection, occasion, OccasionState.DUE, now)
            opened = occasions.id_of(connection, occasion)
            connection.execute(update(tables.checkpoint).where(*mine).values(occasion_id=opened))
        return occasion

    def of(self, occasion: Occasion) -> tuple[LaunchRow, Checkpoint] | None:
        """The Launch and the Checkpoint that the occasion measures; absent where it is none."""
        return self._of(Own.c.name == occasion.name)

    def of_comparison(self, comparison: Occasion) -> tuple[LaunchRow, Checkpoint] | None:
        """The Launch and the Checkpoint that the comparison belongs to; absent where it belongs to none."""
        return self._of(Beside.c.name == comparison.name)

    def _of(self, where: ColumnElement[bool]) -> tuple[LaunchRow, Checkpoint] | None:
        with self.engine.begin() as connection:
            found = connection.execute(with_occasions(select(K.launch_id, K.day)).where(where)).first()
            row = None if found is None else rows(connection, L.id == found.launch_id)[0]
        day = None if row is None or found is None else row.day(found.day)
        return None if row is None or day is None else (row, day)

    def remember(self, occasion: Occasion, launched_with: Mapping[str, Any]) -> None:
        """How the Engine was started at this Checkpoint stands there; what stood there before is replaced."""
        given = clean(to_json(launched_with))
        with self.engine.begin() as connection:
            own = update(tables.checkpoint).where(K.occasion_id == occasions.id_of(connection, occasion))
            connection.execute(own.values(launched_with=given))

    def open_comparison(self, occasion: Occasion, comparison: Occasion, plan: Plan, gone: Container[str], now: datetime) -> bool:
        """The comparison is planned and belongs to the Checkpoint; False (and nothing changed) when that was settled before."""
        with self.engine.begin() as connection:
            own = K.occasion_id == occasions.id_of(connection, occasion)
            asked = select(K.comparison_id, K.why_no_comparison).where(own).with_for_update()
            standing = connection.execute(asked).one()
            if standing.comparison_id is not None or standing.why_no_comparison:
                return False
            open_planned(connection, comparison, plan, gone, now)
            opened = occasions.id_of(connection, comparison)
            connection.execute(update(tables.checkpoint).where(own).values(comparison_id=opened))
            return True

    def no_comparison(self, occasion: Occasion, why: str) -> bool:
        """The Checkpoint has none, and says why; False (and nothing changed) when that was settled before."""
        with self.engine.begin() as connection:
            own = update(tables.checkpoint).where(
                K.occasion_id == occasions.id_of(connection, occasion),
                K.comparison_id.is_(None),
                K.why_no_comparison == "",
            )
            return connection.execute(own.values(why_no_comparison=clean(why))).rowcount == 1

    def spent_s(self, occasion: Occasion) -> float:
        """How long devices have measured for an occasion."""
        R = tables.run.c  # noqa: N806  # columns
        asked = select(func.sum(func.extract("epoch", R.finished_at - R.started_at))).where(
            R.started_at.is_not(None), R.finished_at.is_not(None)
        )
        with self.engine.begin() as connection:
            own = asked.where(R.occasion_id == occasions.id_of(connection, occasion))
            return float(connection.execute(own).scalar() or 0.0)

    def kept_builds(self) -> frozenset[str]:
        """Digests of the Builds of every Checkpoint: whoever cleans artifacts leaves these."""
        OB, B = tables.occasion_build.c, tables.build.c  # noqa: N806  # columns
        asked = (
            select(B.digest)
            .join(tables.occasion_build, OB.build_id == B.id)
            .join(tables.checkpoint, K.occasion_id == OB.occasion_id)
        )
        with self.engine.begin() as connection:
            return frozenset(connection.execute(asked).scalars())


def _ensure(connection: Connection, launch: ModelLaunch, now: datetime) -> tuple[int, bool]:
    subject_id = ensure_subject(connection, launch.engine, SubjectKind.ENGINE)
    row = insert(tables.launch).values(
        model=launch.model,
        subject_id=subject_id,
        at=launch.at,
        suites=list(launch.suites),
        compare_minutes=launch.compare_minutes,
        known_at=now,
    )
    made = connection.execute(row.on_conflict_do_nothing().returning(L.id)).scalar()
    if made is not None:
        return int(made), True
    standing = select(L.id).where(L.model == launch.model, L.subject_id == subject_id).with_for_update()
    return int(connection.execute(standing).scalar_one()), False


def _refuse_rewriting(standing: LaunchRow, launch: ModelLaunch) -> None:
    begun = [one.day for one in standing.checkpoints if one.occasion is not None]
    if any(day >= 0 for day in begun) and launch.at != standing.launch.at:
        raise BadInputError(
            f"{launch.name} was launched on {standing.launch.at:%Y-%m-%d %H:%M} UTC and day {max(begun)} was opened; "
            "a launch that has begun cannot move, though days may be added to it"
        )
    lost = [day for day in begun if day not in launch.days]
    if lost:
        raise BadInputError(f"day {lost[0]} of {launch.name} was opened already; name it among the days")


def _write_days(connection: Connection, launch_id: int, standing: LaunchRow, launch: ModelLaunch, owed: Container[int]) -> None:
    begun = {one.day for one in standing.checkpoints if one.occasion is not None}
    keep = (
        begun if launch.at != standing.launch.at else begun | {one.day for one in standing.checkpoints if one.day in launch.days}
    )
    connection.execute(delete(tables.checkpoint).where(K.launch_id == launch_id, K.day.not_in(keep)))
    rows = [
        {"launch_id": launch_id, "day": day, "due_at": launch.due_at(day), "owed": day in owed}
        for day in launch.days
        if day not in keep
    ]
    if rows:
        connection.execute(insert(tables.checkpoint), rows)


def _id(launch: ModelLaunch) -> Any:
    asked = select(L.id).join(tables.subject).where(L.model == launch.model, tables.subject.c.name == launch.engine)
    return asked.scalar_subquery()
