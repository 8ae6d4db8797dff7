"""Who is told of a Regression, and when: a message each, once, whatever happens between the deciding and the sending."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from perfd.domain.verdict import RegressionState
from perfd.rules.confirm import Case, ConfirmPolicy, why_told
from perfd.stages.aa import failing
from perfd.stages.context import Context
from perfd.stages.members import member_of
from perfd.store.records import ConfirmationRow, RegressionRow

KIND = "regression"
REPORTS_ONLY = "every Series in it fails its own A/A comparison: it is reported, and holds nothing up"
WINDOW = timedelta(days=30)
"""How far back A/A comparisons and re-measurements count."""


def case_of(context: Context, row: RegressionRow, tried: Sequence[ConfirmationRow]) -> Case:
    """A Regression as the rules see it: its members that still stand, and what re-measuring has shown."""
    return Case(
        state=row.state,
        members=tuple(member_of(info, change) for info, change in row.members if change.gone_at is None),
        tried=tuple(one.outcome for one in tried if one.outcome is not None),
        budget=row.cause is not None,
        remeasures=context.config.schedule.confirm_minutes > 0,
    )


def tell_due(context: Context) -> None:
    """Every Regression that a person is owed word of has its message in the outbox."""
    rows = [row for row in context.store.regressions.unanswered() if row.state is not RegressionState.SUSPECT]
    tried = context.store.confirmations.of_regressions(*(row.id for row in rows))
    for row in rows:
        why = why_told(case_of(context, row, tried[row.id]), ConfirmPolicy())
        if why is not None:
            _announce(context, row, why)


def told_key(regression: int) -> str:
    """The natural key of the message about a Regression."""
    return f"regression:{regression}:told"


def _announce(context: Context, row: RegressionRow, why: str) -> None:
    gates = is_gating(context, row)
    payload: dict[str, Any] = {"regression": row.id, "title": row.title, "why": why, "gates": gates}
    if not gates:
        payload["note"] = REPORTS_ONLY
    if context.store.outbox.put(told_key(row.id), KIND, payload, context.now()):
        context.tell.say("judge", f"REGRESSION {row.id}: {row.title} ({why})" + ("" if gates else f"; {REPORTS_ONLY}"))


def is_gating(context: Context, row: RegressionRow) -> bool:
    """Whether it may hold something up: some Series in it can be believed, by its own A/A comparisons."""
    wrong = failing(context, WINDOW)
    keys = [
        (info.key.subject, info.workload_name, info.key.model, info.key.device_class, info.key.metric) for info, _ in row.members
    ]
    return not keys or any(key not in wrong for key in keys)


def tell_fixed(context: Context, row: RegressionRow, reason: str) -> None:
    """Who was told of the Regression is told that it is over."""
    if context.store.outbox.stands(told_key(row.id)):
        payload = {"regression": row.id, "title": row.title, "why": reason}
        context.store.outbox.put(f"regression:{row.id}:fixed", "fixed", payload, context.now())
        context.tell.say("judge", f"fixed: {row.title} ({reason})")
