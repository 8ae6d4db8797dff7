"""Nights counted in the database: the last one, and what came of those of a span of days."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, select

from perfd.domain.build import BuildState
from perfd.domain.metric import Better
from perfd.domain.run import OccasionKind, RunState
from perfd.domain.verdict import OPEN_STATES, ChangeStatus, Outcome, RegressionState
from perfd.store import occasions as asking
from perfd.store import reading, tables
from perfd.store.pages import occasions
from perfd.store.reading import nonzero
from perfd.store.records import Movement, NightCounts, NightSummary, OpenRegression, RunRow, Span

R = tables.run.c
C = tables.change.c
G = tables.regression.c
V = tables.verdict.c
L = tables.series_latest.c
M = tables.metric.c
Occ = tables.occasion.c
MOST_LOST = 500
MOVED = ("better", "worse", "within", "unknown")
"""In the order of the fields of Movement."""
ENDED = (RunState.FAILED.value, RunState.VOID.value)


def newest(connection: Connection) -> int | None:
    """The night that was due last."""
    asked = select(Occ.id).where(Occ.kind == OccasionKind.NIGHT.value).order_by(Occ.nominal_at.desc(), Occ.id.desc()).limit(1)
    return connection.execute(asked).scalar()


def counts(connection: Connection, occasion_id: int, most_lost: int) -> NightCounts:
    """A night in counts, with the Runs that have no result, ended ones first, and at most so many."""
    row = occasions.rows(connection, Occ.id == occasion_id, last=1)[0]
    outcomes = select(V.outcome, func.count()).where(V.occasion_id == occasion_id).group_by(V.outcome)
    told: dict[str, int] = dict(connection.execute(outcomes).all())
    lost: tuple[RunRow, ...] = ()
    if any(number for state, number in row.runs.items() if state != RunState.DONE.value):
        asked = reading.run_select().where(R.occasion_id == occasion_id, R.state != RunState.DONE.value)
        asked = asked.order_by(R.state.not_in(ENDED), R.queued_at, R.id).limit(most_lost)
        lost = tuple(map(reading.as_run, connection.execute(asked)))
    return NightCounts(row, {outcome: told[outcome.value] for outcome in Outcome if outcome.value in told}, lost)


def night(connection: Connection, occasion_id: int) -> NightSummary:
    """The same with the first few hundred of those Runs, and what went wrong besides."""
    built = tables.occasion_build.c
    failed = (built.occasion_id == occasion_id, built.state == BuildState.FAILED.value)
    found = counts(connection, occasion_id, MOST_LOST)
    return NightSummary(
        row=found.row,
        verdict_counts=found.verdict_counts,
        lost=found.lost,
        failed_builds=occasions.build_rows(connection, *failed),
        findings=asking.findings(connection, occasion_id),
    )


def spans(connection: Connection, since: Mapping[int, datetime]) -> dict[int, Span]:
    """What came of the nights from those moments on, by how many nights were due since each."""
    begin = min(since.values())
    due = and_(Occ.kind == OccasionKind.NIGHT.value, Occ.nominal_at >= begin)
    nights = _counts(connection, since, select(Occ.kind).where(due), Occ.nominal_at)
    runs = _counts(connection, since, select(R.state).join(tables.occasion, Occ.id == R.occasion_id).where(due), Occ.nominal_at)
    found = select(C.worse).join(tables.occasion, Occ.id == C.found_in)
    found = found.where(due, C.gone_at.is_(None), C.status == ChangeStatus.DETECTED.value)
    changes = _counts(connection, since, found, Occ.nominal_at)
    regressions = _counts(connection, since, select(G.state).where(G.opened_at >= begin), G.opened_at)
    return {
        days: Span(
            days=days,
            nights=sum(nights[days].values()),
            runs={state: runs[days].get(state.value, 0) for state in RunState},
            changes_better=changes[days].get(False, 0),
            changes_worse=changes[days].get(True, 0),
            regressions=sum(regressions[days].values()),
            regressions_open=sum(regressions[days].get(one.value, 0) for one in OPEN_STATES),
        )
        for days in since
    }


def _counts(
    connection: Connection, since: Mapping[int, datetime], asked: Select[Any], at: ColumnElement[datetime]
) -> dict[int, dict[Any, int]]:
    """By span: how many rows of each word (the one column that is asked for) fall into it; one question for all spans."""
    word = asked.selected_columns[0]
    columns = [func.count().filter(at >= moment) for moment in since.values()]
    rows = connection.execute(asked.add_columns(*columns).group_by(word)).all()
    return {days: {row[0]: row[place + 1] for row in rows} for place, days in enumerate(since)}


def movements(connection: Connection, now: datetime) -> tuple[Movement, Movement]:
    """How today's Points stand against those of a week and of a month ago, Series by Series, held to each one's bar.

    A Series whose last Point is older than three days, or that has nothing comparable so long ago, is counted as unknown.
    """
    words = [_moved(now, then).label(name) for name, then in (("week", L.week_ago), ("month", L.month_ago))]
    asked = (
        select(*words, func.count().label("many"))
        .select_from(tables.series_latest)
        .join(tables.series, tables.series.c.id == L.series_id)
        .join(tables.metric, M.id == tables.series.c.metric_id)
        .group_by(*words)
    )
    rows = connection.execute(asked).all()
    week, month = ({word: sum(row.many for row in rows if row[at] == word) for word in MOVED} for at in (0, 1))
    return Movement(7, *week.values()), Movement(30, *month.values())


def _moved(now: datetime, then: ColumnElement[Any]) -> ColumnElement[str]:
    effect = L.value / nonzero(then) - 1.0
    known = and_(L.measured_at >= now - timedelta(days=3), effect.is_not(None), L.bar.is_not(None))
    up = (L.value > then) == (M.better == Better.HIGHER.value)
    better, worse, within, unknown = MOVED
    return case((~known, unknown), (func.abs(effect) <= func.greatest(L.bar, M.relevant), within), (up, better), else_=worse)


def unanswered(connection: Connection) -> tuple[OpenRegression, ...]:
    """Every Regression that someone must answer in a line, the newest first."""
    member = tables.regression_member.c
    asked = (
        select(G.id, G.title, G.state, func.max(func.abs(C.effect)).label("effect"))
        .outerjoin(tables.regression_member, member.regression_id == G.id)
        .outerjoin(tables.change, C.id == member.change_id)
        .where(G.state.in_(sorted(one.value for one in OPEN_STATES)))
        .group_by(G.id)
        .order_by(G.id.desc())
    )
    return tuple(OpenRegression(row.id, row.title, RegressionState(row.state), row.effect) for row in connection.execute(asked))
