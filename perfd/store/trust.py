"""How far perfd can be believed: A/A comparisons, and suspects that were not reproduced."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, func, select

from perfd.domain.run import OccasionKind
from perfd.domain.verdict import Outcome, Reproduced
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
        aa = [row.outcome for row in self.aa(since) if row.outcome in DECIDED]
        F = tables.confirmation.c  # noqa: N806  # columns
        answered = (Reproduced.YES.value, Reproduced.NO.value)
        asked = select(F.outcome, func.count()).where(F.settled_at >= since, F.outcome.in_(answered)).group_by(F.outcome)
        with self.engine.begin() as connection:
            told: dict[str, int] = dict(connection.execute(asked).all())
        refuted = told.get(Reproduced.NO.value, 0)
        return FalseAlarms(len(aa), sum(outcome in DIFFERENT for outcome in aa), sum(told.values()), refuted)


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
