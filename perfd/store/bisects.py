"""Bisections: opened with their path, taken forward step by step, each step and what it owes in one transaction."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, func, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.bisect import BisectEnd, Place, StepKind, StepOutcome, Target, Wanted
from perfd.domain.codec import from_json, to_json
from perfd.domain.occasion import Occasion
from perfd.domain.plan import Plan
from perfd.domain.run import OccasionKind
from perfd.domain.subject import SubjectKind
from perfd.domain.verdict import RegressionState
from perfd.store import occasions, regressions, tables
from perfd.store.plans import open_planned
from perfd.store.records import BisectEnded, BisectRow, BisectStep
from perfd.store.regressions import Step
from perfd.store.subjects import ensure_subject
from perfd.store.writing import AnyRow, added, clean

A = tables.bisect.c
T = tables.bisect_step.c
Occ = tables.occasion.c


@dataclass(frozen=True)
class Bisects:
    """Questions about bisections."""

    engine: Engine

    def open(self, given: BisectRow) -> int:
        """The bisection stands there; its number. A Regression has one that is open at most: then it is that one's number."""
        values: dict[str, Any] = {
            "regression_id": given.regression,
            "branch": given.branch,
            "path": clean(to_json(given.path)),
            "wanted": clean(to_json(given.wanted)),
            "target": None if given.target is None else clean(to_json(given.target)),
            "most_builds": given.most_builds,
            "most_minutes": given.most_minutes,
            "opened_at": given.opened_at,
        }
        with self.engine.begin() as connection:
            values["subject_id"] = ensure_subject(connection, given.subject, given.kind)
            row = insert(tables.bisect).values(**values).on_conflict_do_nothing().returning(A.id)
            made = connection.execute(row).scalar()
            if made is None:
                standing = select(A.id).where(A.regression_id == given.regression, A.ended_at.is_(None))
                made = connection.execute(standing).scalar_one()
        return int(made)

    def begin_step(self, bisect: int, step: BisectStep, plan: Plan, gone: Container[str]) -> bool:
        """The step is open and what it owes is planned; False (and nothing changed) when it was before."""
        with self.engine.begin() as connection:
            standing = select(T.id).where(T.bisect_id == bisect, T.number == step.number)
            ended = select(A.ended_at).where(A.id == bisect).with_for_update()  # one worker at a time opens a step
            if connection.execute(ended).scalar_one() is not None or connection.execute(standing).first() is not None:
                return False
            open_planned(connection, step.occasion, plan, gone, step.opened_at)
            values = {
                "bisect_id": bisect,
                "number": step.number,
                "kind": step.kind.value,
                "base": step.base,
                "head": step.head,
                "why": clean(step.why),
                "occasion_id": occasions.id_of(connection, step.occasion),
                "opened_at": step.opened_at,
            }
            return added(connection, insert(tables.bisect_step).values(**values))

    def settle_step(self, bisect: int, step: BisectStep, target: Target | None = None) -> bool:
        """What came of the step stands there, and what decides from now on; False when that was known before."""
        if step.outcome is None or step.settled_at is None:
            return False
        low, high = step.interval or (None, None)
        values = {
            "outcome": step.outcome.value,
            "broken": step.broken,
            "pairs": step.pairs,
            "effect": step.effect,
            "low": low,
            "high": high,
            "final": step.final,
            "reason": clean(step.reason),
            "settled_at": step.settled_at,
        }
        open_step = update(tables.bisect_step).where(T.bisect_id == bisect, T.number == step.number, T.outcome.is_(None))
        with self.engine.begin() as connection:
            if connection.execute(open_step.values(**values)).rowcount == 0:
                return False
            if target is not None:
                chosen = update(tables.bisect).where(A.id == bisect).values(target=clean(to_json(target)))
                connection.execute(chosen)
            return True

    def end(self, bisect: int, ended: BisectEnded, step: Step | None = None) -> bool:
        """The bisection is over, and its Regression has an event; False when it was over before."""
        values = {
            "outcome": ended.end.value,
            "good": ended.good,
            "bad": ended.bad,
            "reason": clean(ended.reason),
            "patch": clean(ended.patch),
            "proposal": clean(ended.proposal),
            "ended_at": ended.at,
        }
        still_open = update(tables.bisect).where(A.id == bisect, A.ended_at.is_(None)).values(**values).returning(A.regression_id)
        with self.engine.begin() as connection:
            row = connection.execute(still_open).first()
            if row is None:
                return False
            if row.regression_id is not None and step is not None:
                _write_event(connection, row.regression_id, step)
            return True

    def read(self, bisect: int) -> BisectRow | None:
        """The bisection with its steps."""
        found = self._rows(A.id == bisect)
        return found[0] if found else None

    def unended(self) -> tuple[BisectRow, ...]:
        """Those that go on, oldest first."""
        return self._rows(A.ended_at.is_(None))

    def of_regression(self, regression: int) -> tuple[BisectRow, ...]:
        """Every bisection of a Regression, oldest first."""
        return self._rows(A.regression_id == regression)

    def since(self, moment: datetime) -> tuple[BisectRow, ...]:
        """Those that go on, and those that ended from that moment on."""
        return self._rows(A.ended_at.is_(None) | (A.ended_at >= moment))

    def spent_s(self, bisect: int) -> float:
        """How long devices have measured for it."""
        R = tables.run.c  # noqa: N806  # columns
        seconds = func.sum(func.extract("epoch", R.finished_at - R.started_at))
        asked = select(seconds).join(tables.bisect_step, T.occasion_id == R.occasion_id).where(T.bisect_id == bisect)
        with self.engine.begin() as connection:
            measured = asked.where(R.started_at.is_not(None), R.finished_at.is_not(None))
            return float(connection.execute(measured).scalar() or 0.0)

    def _rows(self, *where: ColumnElement[bool]) -> tuple[BisectRow, ...]:
        asked = (
            select(tables.bisect, tables.subject.c.name.label("subject"), tables.subject.c.kind)
            .join(tables.subject, tables.subject.c.id == A.subject_id)
            .where(*where)
            .order_by(A.id)
        )
        with self.engine.begin() as connection:
            rows = connection.execute(asked).all()
            steps = _steps(connection, [row.id for row in rows])
        return tuple(_as_bisect(row, steps.get(row.id, ())) for row in rows)


def _write_event(connection: Connection, regression: int, step: Step) -> None:
    G = tables.regression.c  # noqa: N806  # columns
    state = RegressionState(connection.execute(select(G.state).where(G.id == regression).with_for_update()).scalar_one())
    regressions.write_event(connection, regression, state, state, step)


def _steps(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[BisectStep, ...]]:
    asked = (
        select(tables.bisect_step, Occ.kind.label("occasion_kind"), Occ.nominal_at, Occ.label)
        .join(tables.occasion, Occ.id == T.occasion_id)
        .where(T.bisect_id.in_(ids))
        .order_by(T.bisect_id, T.number)
    )
    found: dict[int, tuple[BisectStep, ...]] = {}
    for row in connection.execute(asked):
        found[row.bisect_id] = (*found.get(row.bisect_id, ()), _as_step(row))
    return found


def _as_step(row: AnyRow) -> BisectStep:
    return BisectStep(
        number=row.number,
        kind=StepKind(row.kind),
        base=row.base,
        head=row.head,
        why=row.why,
        occasion=Occasion(OccasionKind(row.occasion_kind), row.nominal_at, row.label),
        opened_at=row.opened_at,
        outcome=None if row.outcome is None else StepOutcome(row.outcome),
        broken=row.broken,
        pairs=row.pairs,
        effect=row.effect,
        interval=None if row.low is None else (row.low, row.high),
        final=row.final,
        reason=row.reason,
        settled_at=row.settled_at,
    )


def _as_bisect(row: AnyRow, steps: tuple[BisectStep, ...]) -> BisectRow:
    return BisectRow(
        id=row.id,
        subject=row.subject,
        kind=SubjectKind(row.kind),
        regression=row.regression_id,
        branch=row.branch,
        path=tuple(from_json(Place, one) for one in row.path),
        wanted=from_json(Wanted, row.wanted),
        target=None if row.target is None else from_json(Target, row.target),
        most_builds=row.most_builds,
        most_minutes=row.most_minutes,
        opened_at=row.opened_at,
        ended=None
        if row.outcome is None
        else BisectEnded(BisectEnd(row.outcome), row.good, row.bad, row.reason, row.ended_at, row.patch, row.proposal),
        steps=steps,
    )
