"""Nights counted in the database: the last one, and what came of those of a span of days."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, select

from perfd.domain.build import BuildState
from perfd.domain.run import OccasionKind, RunState
from perfd.domain.verdict import OPEN_STATES, ChangeStatus, Outcome
from perfd.store import occasions as asking
from perfd.store import reading, tables
from perfd.store.pages import occasions
from perfd.store.records import Movement, NightSummary, OccasionRow, Span

R = tables.run.c
C = tables.change.c
G = tables.regression.c
V = tables.verdict.c
L = tables.series_latest.c
M = tables.metric.c
Occ = tables.occasion.c
MOST_LOST = 500
ENDED = (RunState.FAILED.value, RunState.VOID.value)


def night(connection: Connection, occasion_id: int) -> NightSummary:
    """A night in counts, with the Runs that have no result, ended ones first, and what went wrong besides."""
    built = tables.occasion_build.c
    lost = reading.run_select().where(R.occasion_id == occasion_id, R.state != RunState.DONE.value)
    failed = (built.occasion_id == occasion_id, built.state == BuildState.FAILED.value)
    counts = select(V.outcome, func.count()).where(V.occasion_id == occasion_id).group_by(V.outcome)
    told: dict[str, int] = dict(connection.execute(counts).all())
    return NightSummary(
        row=_row(connection, occasion_id),
        verdict_counts={outcome: told[outcome.value] for outcome in Outcome if outcome.value in told},
        lost=tuple(
            reading.as_run(row)
            for row in connection.execute(lost.order_by(R.state.not_in(ENDED), R.queued_at, R.id).limit(MOST_LOST))
        ),
        failed_builds=occasions.build_rows(connection, *failed),
        findings=asking.findings(connection, occasion_id),
    )


def span(connection: Connection, since: datetime, days: int) -> Span:
    """What came of the nights from then on, `days` being how many were due."""
    due = and_(Occ.kind == OccasionKind.NIGHT.value, Occ.nominal_at >= since)
    runs = select(R.state, func.count()).join(tables.occasion, Occ.id == R.occasion_id).where(due).group_by(R.state)
    counted: dict[str, int] = dict(connection.execute(runs).all())
    found = (
        select(C.worse, func.count())
        .join(tables.occasion, Occ.id == C.found_in)
        .where(due, C.gone_at.is_(None), C.status == ChangeStatus.DETECTED.value)
        .group_by(C.worse)
    )
    changes: dict[bool, int] = dict(connection.execute(found).all())
    opened = select(func.count(), func.count().filter(G.state.in_([one.value for one in OPEN_STATES]))).where(
        G.opened_at >= since
    )
    total, unanswered = connection.execute(opened).one()
    return Span(
        days=days,
        nights=connection.execute(select(func.count()).select_from(tables.occasion).where(due)).scalar_one(),
        runs={state: counted.get(state.value, 0) for state in RunState},
        changes_better=changes.get(False, 0),
        changes_worse=changes.get(True, 0),
        regressions=total,
        regressions_open=unanswered,
    )


def movement(connection: Connection, now: datetime, days: int) -> Movement:
    """How today's Points stand against those of a week (7) or a month (30) ago, Series by Series, held to each one's bar.

    A Series whose last Point is older than three days, or that has nothing comparable so long ago, is counted as unknown.
    """
    then = L.week_ago if days == 7 else L.month_ago
    fresh = L.measured_at >= now - timedelta(days=3)
    effect = L.value / func.nullif(then, 0.0) - 1.0
    beyond = func.abs(effect) > func.greatest(L.bar, M.relevant)
    up = (effect > 0) == (M.better == "higher")
    known = and_(fresh, effect.is_not(None), L.bar.is_not(None))
    asked: Select[Any] = (
        select(*(func.count().filter(part) for part in (and_(known, beyond, up), and_(known, beyond, ~up), and_(known, ~beyond))))
        .add_columns(func.count())
        .select_from(tables.series_latest)
        .join(tables.series, tables.series.c.id == L.series_id)
        .join(tables.metric, M.id == tables.series.c.metric_id)
    )
    better, worse, within, total = connection.execute(asked).one()
    return Movement(days, better, worse, within, total - better - worse - within)


def severities(connection: Connection) -> dict[str, int]:
    """Regressions that someone must answer, by the largest effect among their Changes; those without any count as `unsized`."""
    member = tables.regression_member.c
    largest: ColumnElement[Any] = func.max(func.abs(C.effect))
    sizes = (
        select(G.id, largest.label("effect"))
        .outerjoin(tables.regression_member, member.regression_id == G.id)
        .outerjoin(tables.change, C.id == member.change_id)
        .where(G.state.in_([one.value for one in OPEN_STATES]))
        .group_by(G.id)
        .subquery()
    )
    effect = sizes.c.effect
    word = case((effect.is_(None), "unsized"), (effect >= 0.2, "20 % or more"), (effect >= 0.05, "5 to 20 %"), else_="below 5 %")
    return dict(connection.execute(select(word, func.count()).group_by(word)).all())


def _row(connection: Connection, occasion_id: int) -> OccasionRow:
    return occasions.rows(connection, Occ.id == occasion_id, last=1)[0]
