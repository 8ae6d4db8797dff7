"""Budgets: a Series that has lost more since a pinned release than was allowed is a Regression, told once."""

from collections.abc import Sequence

from perfd.domain.budget import Budget
from perfd.domain.occasion import Occasion
from perfd.domain.run import Point
from perfd.domain.verdict import OPEN_STATES, Outcome, RegressionState
from perfd.rules.budget import Budget as Spending
from perfd.rules.budget import judge_budget
from perfd.rules.pins import applies, cause, comparable, pinned_build, title
from perfd.stages.context import Context
from perfd.stages.labels import label
from perfd.stages.telling import tell_fixed
from perfd.store.records import SeriesInfo

ACTOR = "budget"
HISTORY = 2000
"""Points among which the pinned release is looked for."""


def judge_budgets(context: Context, occasion: Occasion, series: SeriesInfo) -> tuple[Budget, ...]:
    """Every budget that is for the Series has been looked at: opened where it is overspent, closed where it is kept again.

    Answers those whose pinned release has no comparable Point here.
    """
    ours = [one for one in context.config.budgets if applies(one, series.key.subject, series.metric, series.workload_class)]
    points = context.store.judgements.history(series.id, HISTORY) if ours else ()
    return tuple(budget for budget in ours if not _judge(context, occasion, (budget, series), points))


def _judge(context: Context, occasion: Occasion, what: tuple[Budget, SeriesInfo], points: Sequence[Point]) -> bool:
    """False where there is nothing to hold the Series against."""
    budget, series = what
    alike = comparable(points)
    build = pinned_build(budget, alike)
    if build is None:
        return False
    verdict = judge_budget(alike, series.metric, Spending(build, budget.share))
    key = cause(budget, series.key.fingerprint)
    if verdict.outcome is Outcome.WORSE:
        said = title(budget, series.key.subject, label(series), verdict)
        context.store.regressions.open_budget(
            occasion, points[-1].build, key, said, actor=ACTOR, reason=verdict.reason, now=context.now()
        )
    elif verdict.outcome is Outcome.SAME:
        close_kept(context, key, verdict.reason, ACTOR)
    return True


def close_kept(context: Context, key: str, reason: str, actor: str) -> None:
    """An open Regression of that cause is fixed, and who was told of it is told of this."""
    for row in context.store.regressions.unanswered():
        if row.cause == key and row.state in OPEN_STATES:
            tell_fixed(context, row, reason)
            context.store.regressions.move(
                row.id, row.state, RegressionState.FIXED, actor=actor, reason=reason, now=context.now()
            )
