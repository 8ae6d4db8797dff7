"""How far perfd can be believed: A/A comparisons, and suspects that were not reproduced."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, Select, func, select

from perfd.domain.run import OccasionKind
from perfd.domain.verdict import Outcome, RegressionState, Reproduced
from perfd.store import occasions, tables
from perfd.store.records import AaRow, FalseAlarms
from perfd.store.writing import AnyRow

Occ = tables.occasion.c
R = tables.run.c
DECIDED = frozenset({Outcome.BETTER, Outcome.WORSE, Outcome.SAME})
DIFFERENT = frozenset({Outcome.BETTER, Outcome.WORSE})


@dataclass(frozen=True)
class Trust:
    """Questions about perfd's own errors."""

    engine: Engine

    def aa(self, since: datetime) -> tuple[AaRow, ...]:
        """Every A/A comparison that was due from then on, oldest first."""
        asked = (
            select(
                Occ.kind,
                Occ.nominal_at,
                Occ.label,
                Occ.report,
                tables.subject.c.name.label("subject"),
                tables.workload.c.name.label("workload"),
                func.coalesce(tables.model.c.name, "").label("model"),
                R.device_class,
            )
            .select_from(tables.occasion)
            .join(tables.run, R.occasion_id == Occ.id)
            .join(tables.build, tables.build.c.id == R.build_id)
            .join(tables.subject, tables.subject.c.id == tables.build.c.subject_id)
            .join(tables.workload, tables.workload.c.id == R.workload_id)
            .outerjoin(tables.model, tables.model.c.id == R.model_id)
            .where(Occ.kind == OccasionKind.AA.value, Occ.nominal_at >= since, R.block == 0)
            .order_by(Occ.nominal_at, Occ.id)
        )
        with self.engine.begin() as connection:
            return tuple(_as_aa(row) for row in connection.execute(asked))

    def false_alarms(self, since: datetime) -> FalseAlarms:
        """A/A comparisons called different and suspects that were not reproduced, from then on, beside all that were decided."""
        return self.false_alarms_by([since])[0]

    def false_alarms_by(self, moments: Sequence[datetime]) -> list[FalseAlarms]:
        """The same from each of these moments on, read once for all of them."""
        first = min(moments)
        aa = [row for row in self.aa(first) if row.outcome in DECIDED]
        with self.engine.begin() as connection:
            settled = connection.execute(_answers(first)).all()
        found = []
        for since in moments:
            judged = [row.outcome for row in aa if row.occasion.nominal_at >= since]
            told = list({regression: outcome for at, outcome, regression in settled if at >= since}.values())
            different = sum(outcome in DIFFERENT for outcome in judged)
            found.append(FalseAlarms(len(judged), different, len(told), told.count(Reproduced.NO.value)))
        return found


def _answers(since: datetime) -> Select[Any]:
    """What re-measuring has answered, oldest first; the last answer on a Regression is the one that counts.

    "Not reproduced" is none while other Builds are still to be compared, as the Regression's place may be off.
    """
    F, G = tables.confirmation.c, tables.regression.c  # noqa: N806  # columns
    waits = (RegressionState.SUSPECT.value, RegressionState.DETECTED.value)
    over = (F.outcome == Reproduced.YES.value) | ((F.outcome == Reproduced.NO.value) & G.state.not_in(waits))
    asked = select(F.settled_at, F.outcome, F.regression_id).join(tables.regression, G.id == F.regression_id)
    return asked.where(F.settled_at >= since, over).order_by(F.settled_at, F.occasion_id)


def _as_aa(row: AnyRow) -> AaRow:
    report = row.report or {}
    rows = {one["metric"]: Outcome(one["verdict"]["outcome"]) for one in report.get("rows", ())}
    return AaRow(
        occasion=occasions.as_occasion(row),
        subject=row.subject,
        workload=row.workload,
        model=row.model,
        device_class=row.device_class,
        outcome=Outcome(report["verdict"]["outcome"]) if report else None,
        different=frozenset(metric for metric, outcome in rows.items() if outcome in DIFFERENT),
        judged=frozenset(metric for metric, outcome in rows.items() if outcome in DECIDED),
    )
