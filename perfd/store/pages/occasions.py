"""Occasions as lists and as final tables: what was built, measured and judged, and what is missing."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, func, select

from perfd.domain.build import BuildState
from perfd.domain.occasion import OccasionState
from perfd.domain.run import FailureKind, OccasionKind, RunState
from perfd.domain.subject import SubjectKind
from perfd.store import occasions, reading, tables
from perfd.store.records import BuildRow, JudgedSeries, OccasionRow, OccasionSummary
from perfd.store.writing import AnyRow

S = tables.series.c
P = tables.point.c
R = tables.run.c
B = tables.build.c
V = tables.verdict.c
Occ = tables.occasion.c


def summary(connection: Connection, occasion_id: int) -> OccasionSummary:
    """The final table of an occasion."""
    change = tables.change.c
    return OccasionSummary(
        row=rows(connection, Occ.id == occasion_id, last=1)[0],
        builds=build_rows(connection, tables.occasion_build.c.occasion_id == occasion_id),
        runs=reading.run_rows(connection, R.occasion_id == occasion_id),
        verdicts=_judged(connection, occasion_id),
        findings=occasions.findings(connection, occasion_id),
        changes=reading.changes(connection, change.found_in == occasion_id, change.gone_at.is_(None)),
    )


@dataclass(frozen=True)
class OccasionFilter:
    """Which occasions; an absent part means all."""

    kind: OccasionKind
    state: str | None = None
    outcome: str | None = None
    """The outcome of the Verdict in its report."""


def listed(
    connection: Connection, wanted: OccasionFilter, offset: int, limit: int, *, whole: bool
) -> tuple[int, tuple[OccasionRow, ...]]:
    """How many occasions match, and one page of them, newest first; where it is not to be `whole`, a report is its Verdict alone.

    Reports of comparisons have some 50 kB each.
    """
    where = [Occ.kind == wanted.kind.value]
    where += [Occ.state == wanted.state] if wanted.state else []
    where += [Occ.report["verdict"]["outcome"].astext == wanted.outcome] if wanted.outcome else []
    total = connection.execute(select(func.count()).select_from(tables.occasion).where(*where)).scalar_one()
    verdict = case((Occ.report.is_not(None), func.jsonb_build_object("verdict", Occ.report["verdict"])))
    columns = [column for column in Occ if column is not Occ.report]
    asked = select(tables.occasion) if whole else select(*columns, verdict.label("report"))
    return total, _rows(
        connection, asked.where(*where).order_by(Occ.nominal_at.desc(), Occ.id.desc()).offset(offset).limit(limit)
    )


def rows(connection: Connection, *where: ColumnElement[bool], last: int) -> tuple[OccasionRow, ...]:
    """Occasions with their Runs counted, newest first."""
    asked = select(tables.occasion).where(*where).order_by(Occ.nominal_at.desc(), Occ.id.desc()).limit(last)
    return _rows(connection, asked)


def _rows(connection: Connection, asked: Select[Any]) -> tuple[OccasionRow, ...]:
    found = connection.execute(asked).all()
    counted: dict[int, dict[str, int]] = {row.id: {state.value: 0 for state in RunState} | {"missing": 0} for row in found}
    missing = func.count().filter(R.failure == FailureKind.MISSING.value)
    counts = select(R.occasion_id, R.state, func.count(), missing).where(R.occasion_id.in_(counted))
    for occasion_id, state, count, missed in connection.execute(counts.group_by(R.occasion_id, R.state)):
        counted[occasion_id][state] = count
        counted[occasion_id]["missing"] += missed
    return tuple(_as_occasion_row(row, counted[row.id]) for row in found)


def _as_occasion_row(row: AnyRow, counts: dict[str, int]) -> OccasionRow:
    return OccasionRow(
        id=row.id,
        occasion=occasions.as_occasion(row),
        state=OccasionState(row.state),
        opened_at=row.opened_at,
        closed_at=row.closed_at,
        runs={state.value: counts[state.value] for state in RunState},
        missing=counts["missing"],
        report=row.report,
    )


def build_rows(connection: Connection, *where: ColumnElement[bool]) -> tuple[BuildRow, ...]:
    """What occasions got built, in the order of the Builds."""
    OB, V = tables.occasion_build.c, tables.revision.c  # noqa: N806  # columns
    asked = (
        select(
            B.id,
            B.digest,
            B.spec,
            B.log_path,
            B.log_tail,
            B.artifact_path,
            OB.state,
            OB.cached,
            OB.seconds,
            V.name,
            V.title,
            V.ordinal,
            tables.subject.c.name.label("subject"),
            tables.subject.c.kind,
        )
        .select_from(tables.occasion_build)
        .join(tables.build, B.id == OB.build_id)
        .join(tables.revision, V.id == OB.revision_id)
        .join(tables.subject, tables.subject.c.id == B.subject_id)
        .where(*where)
        .order_by(OB.occasion_id, OB.build_id)
    )
    return tuple(_as_build_row(row) for row in connection.execute(asked))


def _as_build_row(row: AnyRow) -> BuildRow:
    return BuildRow(
        id=row.id,
        digest=row.digest,
        subject=row.subject,
        subject_kind=SubjectKind(row.kind),
        revision=row.name,
        title=row.title,
        ordinal=row.ordinal,
        recipe=row.spec["recipe"],
        state=BuildState(row.state),
        cached=row.cached,
        seconds=row.seconds,
        log_path=row.log_path,
        log_tail=row.log_tail,
        artifact=row.artifact_path,
    )


def _judged(connection: Connection, occasion_id: int) -> tuple[JudgedSeries, ...]:
    verdicts = {
        row.series_id: reading.as_verdict(row)
        for row in connection.execute(select(tables.verdict).where(V.occasion_id == occasion_id))
    }
    points = {
        row.series_id: reading.as_point(row)
        for row in connection.execute(reading.point_select().where(P.occasion_id == occasion_id).order_by(*reading.IN_ORDER))
    }
    asked = reading.series_select().where(S.id.in_(verdicts)).order_by(S.id)
    return tuple(JudgedSeries(reading.as_series(row), verdicts[row.id], points.get(row.id)) for row in connection.execute(asked))
