"""Rows into words: the selects and constructors that several questions share."""

from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Double, Select, func, select

from perfd.domain.environment import Device, Environment
from perfd.domain.metric import Better, Metric, MetricKind, Reduction
from perfd.domain.run import Arm, FailureKind, Point, RunState, SeriesKey
from perfd.domain.subject import SubjectKind
from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import ChangeKind, ChangeStatus, Outcome, Verdict
from perfd.store import tables
from perfd.store.records import ChangeRow, PointRow, RunRow, SeriesInfo
from perfd.store.writing import AnyRow

S = tables.series.c
P = tables.point.c
C = tables.change.c
R = tables.run.c
M = tables.metric.c
W = tables.workload.c
V = tables.revision.c
B = tables.build.c
Occ = tables.occasion.c


def nonzero(number: ColumnElement[Any]) -> ColumnElement[float]:
    """The number to divide by; NULL for zero.

    It says that it is a double: else SQLAlchemy has Postgres divide by it as NUMERIC, four times as slow, and rounded.
    """
    return func.nullif(number, 0.0, type_=Double)


@cache  # put together once: each page asks it several times, and a select never changes
def series_select() -> Select[Any]:
    """Every Series with the words for its parts; see `as_series`."""
    return (
        select(
            S.id,
            S.branch,
            S.model,
            S.quantisation,
            S.parallelism,
            S.device_class,
            tables.subject.c.name.label("subject"),
            tables.subject.c.kind.label("subject_kind"),
            W.identity.label("workload"),
            W.name.label("workload_name"),
            W["class"].label("workload_class"),
            tables.suite.c.name.label("suite"),
            *metric_columns(),
        )
        .select_from(tables.series)
        .join(tables.subject, tables.subject.c.id == S.subject_id)
        .join(tables.workload, W.id == S.workload_id)
        .join(tables.suite, tables.suite.c.id == W.suite_id)
        .join(tables.metric, M.id == S.metric_id)
    )


def metric_columns() -> list[ColumnElement[Any]]:
    """The columns that `as_metric` reads."""
    names = ("name", "unit", "better", "kind", "sentence", "reduction", "relevant")
    return [M[name].label(f"metric_{name}") for name in names]


def as_metric(row: AnyRow) -> Metric:
    """The Metric of a row with `metric_columns()`."""
    return Metric(
        row.metric_name,
        row.metric_unit,
        Better(row.metric_better),
        MetricKind(row.metric_kind),
        row.metric_sentence,
        Reduction(row.metric_reduction),
        row.metric_relevant,
    )


def as_series(row: AnyRow) -> SeriesInfo:
    """The Series of a row of `series_select()`."""
    key = SeriesKey(
        subject=row.subject,
        branch=row.branch,
        workload=row.workload,
        metric=row.metric_name,
        model=row.model,
        quantisation=row.quantisation,
        parallelism=row.parallelism,
        device_class=row.device_class,
    )
    return SeriesInfo(
        id=row.id,
        key=key,
        subject_kind=SubjectKind(row.subject_kind),
        metric=as_metric(row),
        suite=row.suite,
        workload_name=row.workload_name,
        workload_class=WorkloadClass(row.workload_class),
    )


@cache
def point_select() -> Select[Any]:
    """Points with what pages say beside them; see `as_point`."""
    return (
        select(
            tables.point,
            R.key.label("run_key"),
            B.digest,
            V.name.label("revision"),
            V.title,
            Occ.name.label("occasion"),
            Occ.nominal_at,
            tables.device.c.host,
        )
        .select_from(tables.point)
        .join(tables.run, R.id == P.run_id)
        .join(tables.build, B.id == P.build_id)
        .join(tables.revision, V.id == P.revision_id)
        .join(tables.occasion, Occ.id == P.occasion_id)
        .join(tables.device, tables.device.c.id == P.device_id)
    )


IN_ORDER = (P.ordinal, P.measured_at, P.run_id)
"""The order of a Series: by commit, then by when it was measured."""


def point_rows(connection: Connection, series_id: int, last: int | None = None) -> tuple[PointRow, ...]:
    """The (last) Points of a Series in order, oldest first."""
    asked = point_select().where(P.series_id == series_id).order_by(*(column.desc() for column in IN_ORDER)).limit(last)
    return tuple(as_point(row) for row in connection.execute(asked))[::-1]


def as_point(row: AnyRow) -> PointRow:
    """The Point of a row of `point_select()`."""
    point = Point(
        run=row.run_key,
        build=row.digest,
        revision=row.revision,
        ordinal=row.ordinal,
        occasion=row.occasion,
        measured_at=row.measured_at,
        value=row.value,
        interval=None if row.low is None else (row.low, row.high),
        n=row.n,
        hardware_hash=row.hardware_hash,
        epoch=row.epoch,
    )
    return PointRow(point, row.run_id, row.title, row.host, row.nominal_at)


def as_verdict(row: AnyRow) -> Verdict:
    """The Verdict of a row of the table."""
    return Verdict(
        outcome=Outcome(row.outcome),
        reason=row.reason,
        detector=row.detector,
        n=row.n,
        effect=row.effect,
        interval=None if row.low is None else (row.low, row.high),
        bar=row.bar,
        q=row.q,
        noise=row.noise,
        mde={int(nights): effect for nights, effect in row.mde.items()},
    )


def changes(connection: Connection, *where: ColumnElement[bool]) -> tuple[ChangeRow, ...]:
    """Changes with their places, in the order of their Series; the Point at one may be gone, if its Run became void."""
    member, OB = tables.regression_member.c, tables.occasion_build.c  # noqa: N806  # columns
    asked = (
        select(
            tables.change,
            B.digest,
            V.ordinal,
            V.name.label("revision"),
            V.title,
            R.key.label("run_key"),
            Occ.name.label("occasion"),
            member.regression_id,
        )
        .join(tables.build, B.id == C.build_id)
        .join(tables.run, R.id == C.run_id)
        .join(tables.occasion_build, (OB.occasion_id == R.occasion_id) & (OB.build_id == R.build_id))
        .join(tables.revision, V.id == OB.revision_id)
        .join(tables.occasion, Occ.id == C.found_in)
        .outerjoin(tables.regression_member, member.change_id == C.id)
        .where(*where)
        .order_by(C.series_id, V.ordinal, R.started_at, R.id)
    )
    return tuple(as_change(row) for row in connection.execute(asked))


def as_change(row: AnyRow) -> ChangeRow:
    """The Change of a row of `changes`."""
    return ChangeRow(
        id=row.id,
        series_id=row.series_id,
        kind=ChangeKind(row.kind),
        status=ChangeStatus(row.status),
        before=row.before,
        after=row.after,
        effect=row.effect,
        interval=None if row.low is None else (row.low, row.high),
        q=row.q,
        worse=row.worse,
        build=row.digest,
        revision=row.revision,
        title=row.title,
        ordinal=row.ordinal,
        run=row.run_key,
        found_in=row.occasion,
        detected_at=row.detected_at,
        gone_at=row.gone_at,
        regression_id=row.regression_id,
    )


def run_rows(connection: Connection, *where: ColumnElement[bool]) -> tuple[RunRow, ...]:
    """Runs with the words that lists show, in the order they were planned."""
    return tuple(as_run(row) for row in connection.execute(run_select().where(*where).order_by(R.queued_at, R.id)))


@cache
def run_select() -> Select[Any]:
    """Runs with the words that lists show; see `as_run`."""
    OB = tables.occasion_build.c  # noqa: N806  # columns
    return (
        select(
            tables.run,
            Occ.name.label("occasion"),
            B.digest,
            B.revision,
            V.title,
            tables.subject.c.name.label("subject"),
            tables.subject.c.kind.label("subject_kind"),
            tables.suite.c.name.label("suite"),
            W.name.label("workload"),
            W["class"].label("workload_class"),
            tables.model.c.name.label("model"),
        )
        .join(tables.occasion, Occ.id == R.occasion_id)
        .join(tables.build, B.id == R.build_id)
        .join(tables.subject, tables.subject.c.id == B.subject_id)
        .join(tables.occasion_build, (OB.occasion_id == R.occasion_id) & (OB.build_id == R.build_id))
        .join(tables.revision, V.id == OB.revision_id)
        .join(tables.workload, W.id == R.workload_id)
        .join(tables.suite, tables.suite.c.id == W.suite_id)
        .outerjoin(tables.model, tables.model.c.id == R.model_id)
    )


def as_run(row: AnyRow) -> RunRow:
    """The Run of a row of `run_select()`."""
    return RunRow(
        id=row.id,
        key=row.key,
        occasion=row.occasion,
        subject=row.subject,
        subject_kind=SubjectKind(row.subject_kind),
        revision=row.revision,
        title=row.title,
        build=row.digest,
        suite=row.suite,
        workload=row.workload,
        workload_class=WorkloadClass(row.workload_class),
        model=row.model or "",
        quantisation=row.quantisation,
        parallelism=row.parallelism,
        device_class=row.device_class,
        arm=Arm(row.arm),
        block=row.block,
        state=RunState(row.state),
        failure=None if row.failure is None else FailureKind(row.failure),
        reason=row.reason,
        attempts=row.attempts,
        claimed_by=row.claimed_by,
        queued_at=row.queued_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def environment(connection: Connection, environment_id: int) -> Environment:
    """The Environment as it was reported."""
    E, D = tables.environment.c, tables.device.c  # noqa: N806  # columns
    asked = select(tables.environment, D.host, D.name, D.device_class).join(tables.device).where(E.id == environment_id)
    row = connection.execute(asked).one()
    return Environment(Device(row.host, row.name, row.device_class), row.hardware, row.clock_policy, row.software)
