"""All that is stored of a Launch, in one transaction that only reads."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, func, select

from perfd.domain.launch import Effect, LaunchFacts, Todo
from perfd.domain.subject import Revision
from perfd.store import reading, tables
from perfd.store.launch_rows import LaunchRow

S = tables.series.c
V = tables.revision.c
R = tables.run.c
Occ = tables.occasion.c


def facts(connection: Connection, row: LaunchRow, todos: tuple[Todo, ...]) -> LaunchFacts:
    """The Launch with its Checkpoints' reports, the Changes of its Series, its Engine's Revisions and its list."""
    opened = {one.occasion.name: one.day for one in row.checkpoints if one.occasion is not None}
    reports = _reports(connection, opened)
    branch = next((str(told["branch"]) for told in reports.values() if told.get("branch")), None)
    return LaunchFacts(
        number=row.id,
        launch=row.launch,
        checkpoints=row.checkpoints,
        reports={opened[name]: told for name, told in reports.items()},
        runs=_runs(connection, opened),
        effects=_effects(connection, row),
        revisions=() if branch is None else _revisions(connection, row.launch.engine, branch),
        todos=todos,
        comparisons=_reports(connection, {one.comparison for one in todos if one.comparison}),
    )


def _reports(connection: Connection, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    asked = select(Occ.name, Occ.report).where(Occ.name.in_(list(names)), Occ.report.is_not(None))
    return dict(connection.execute(asked).all())


def _runs(connection: Connection, opened: dict[str, int]) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {day: {} for day in opened.values()}
    asked = select(Occ.name, R.state, func.count()).join(tables.run, R.occasion_id == Occ.id).where(Occ.name.in_(opened))
    for name, state, count in connection.execute(asked.group_by(Occ.name, R.state)):
        found[opened[name]][state] = count
    return found


def _effects(connection: Connection, row: LaunchRow) -> tuple[Effect, ...]:
    asked = reading.series_select().where(tables.subject.c.name == row.launch.engine, S.model == row.launch.model)
    series = {one.id: reading.as_series(one) for one in connection.execute(asked)}
    C = tables.change.c  # noqa: N806  # columns
    changes = reading.changes(connection, C.series_id.in_(series), C.gone_at.is_(None)) if series else ()
    return tuple(
        Effect(
            change=one.id,
            series=one.series_id,
            workload=series[one.series_id].workload_name,
            workload_class=series[one.series_id].workload_class.value,
            metric=series[one.series_id].metric.name,
            worse=one.worse,
            status=one.status.value,
            effect=one.effect,
            interval=one.interval,
            build=one.build,
            revision=one.revision,
            title=one.title,
            ordinal=one.ordinal,
            regression=one.regression_id,
        )
        for one in changes
    )


def _revisions(connection: Connection, subject: str, branch: str) -> tuple[Revision, ...]:
    asked = (
        select(V.name, V.ordinal, V.committed_at, V.title, V.parent)
        .join(tables.subject)
        .where(tables.subject.c.name == subject, V.branch == branch)
        .order_by(V.ordinal, V.id)
    )
    return tuple(Revision(*one) for one in connection.execute(asked))
