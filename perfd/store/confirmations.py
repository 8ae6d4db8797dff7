"""Re-measurements of Regressions: each an occasion planned at once, and settled in one transaction with what it moves."""

from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Engine, Select, func, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import Plan
from perfd.domain.verdict import RegressionState, Reproduced
from perfd.store import occasions, regressions, tables
from perfd.store.plans import open_planned
from perfd.store.records import ConfirmationRow
from perfd.store.regressions import Step
from perfd.store.writing import AnyRow, clean

F = tables.confirmation.c
Occ = tables.occasion.c


@dataclass(frozen=True)
class Confirmations:
    """Questions about re-measurements."""

    engine: Engine

    def open(
        self, regression: int, occasion: Occasion, plan: Plan, gone: Container[str], *, reason: str = "", now: datetime
    ) -> bool:
        """The comparison is planned and belongs to the Regression; False (and nothing changed) when it stood there before."""
        with self.engine.begin() as connection:
            if not open_planned(connection, occasion, plan, gone, now):
                return False
            values = {
                "occasion_id": occasions.id_of(connection, occasion),
                "regression_id": regression,
                "opened_at": now,
                "reason": clean(reason),
            }
            connection.execute(insert(tables.confirmation).values(**values))
            return True

    def settle(
        self,
        row: ConfirmationRow,
        outcome: Reproduced,
        step: Step,
        to: RegressionState | None,
        at: tuple[str, str] | None = None,
    ) -> bool:
        """The outcome stands, and the Regression has moved to `to`, or (absent) stays with an event; False when it was settled.

        `at` is the Build (by digest) that it belongs to from now on, and its title; absent where both stay. A Regression that a
        person has taken over meanwhile stays where it is, and has the event.
        """
        changed = update(tables.confirmation).where(F.occasion_id == _id(row.occasion), F.outcome.is_(None))
        values = {"outcome": outcome.value, "reason": clean(step.reason), "settled_at": step.now}
        G = tables.regression.c  # noqa: N806  # columns
        with self.engine.begin() as connection:
            if connection.execute(changed.values(**values)).rowcount == 0:
                return False
            stands = select(G.state).where(G.id == row.regression).with_for_update()
            state = RegressionState(connection.execute(stands).scalar_one())
            if to is None or state not in {RegressionState.SUSPECT, RegressionState.DETECTED}:
                regressions.write_event(connection, row.regression, state, state, step)
            else:
                place = {} if at is None else {"build_id": _build(at[0]), "title": clean(at[1])}
                regressions.move(connection, row.regression, state, {"state": to.value, "duplicate_of": None, **place}, step)
            return True

    def of(self, occasion: Occasion) -> ConfirmationRow | None:
        """The re-measurement that the occasion is; absent where it is none."""
        found = self._rows(Occ.name == occasion.name)
        return found[0] if found else None

    def of_regressions(self, *ids: int) -> dict[int, tuple[ConfirmationRow, ...]]:
        """What was tried for each of these Regressions, oldest first."""
        found = self._rows(F.regression_id.in_(ids))
        return {one: tuple(row for row in found if row.regression == one) for one in ids}

    def unsettled(self) -> tuple[ConfirmationRow, ...]:
        """Those whose comparison is judged and whose Regression has not heard of it, oldest first."""
        over = (OccasionState.JUDGED.value, OccasionState.REPORTED.value)
        return self._rows(F.outcome.is_(None), Occ.state.in_(over))

    def spent_s(self, night: Occasion) -> float:
        """How long devices have measured for the night's re-measurements."""
        R = tables.run.c  # noqa: N806  # columns
        seconds = func.sum(func.extract("epoch", R.finished_at - R.started_at))
        asked = (
            select(seconds)
            .join(tables.confirmation, F.occasion_id == R.occasion_id)
            .join(tables.occasion, Occ.id == R.occasion_id)
            .where(Occ.nominal_at == night.nominal_at, R.started_at.is_not(None), R.finished_at.is_not(None))
        )
        with self.engine.begin() as connection:
            return float(connection.execute(asked).scalar() or 0.0)

    def _rows(self, *where: ColumnElement[bool]) -> tuple[ConfirmationRow, ...]:
        columns = (tables.confirmation, Occ.kind, Occ.nominal_at, Occ.label, Occ.state)
        asked = select(*columns).join(tables.occasion, Occ.id == F.occasion_id).where(*where)
        with self.engine.begin() as connection:
            return tuple(_as_row(row) for row in connection.execute(asked.order_by(F.opened_at, F.occasion_id)))


def _id(occasion: Occasion) -> Any:
    asked: Select[int] = select(Occ.id).where(Occ.name == occasion.name)
    return asked.scalar_subquery()


def _build(digest: str) -> Any:
    asked: Select[int] = select(tables.build.c.id).where(tables.build.c.digest == digest)
    return asked.scalar_subquery()


def _as_row(row: AnyRow) -> ConfirmationRow:
    return ConfirmationRow(
        occasion=occasions.as_occasion(row),
        state=OccasionState(row.state),
        regression=row.regression_id,
        opened_at=row.opened_at,
        outcome=None if row.outcome is None else Reproduced(row.outcome),
        reason=row.reason,
        settled_at=row.settled_at,
    )
