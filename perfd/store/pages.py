"""What pages and reports show; reads only."""

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, func, select

from perfd.domain.build import BuildSpec, BuildState
from perfd.domain.codec import from_json
from perfd.domain.environment import DeviceState
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import FailureKind, OccasionKind, Point, RunState
from perfd.domain.subject import SubjectKind
from perfd.store import occasions, reading, samples, tables
from perfd.store.records import (
    ArmSamples,
    BuildRow,
    ChangeRow,
    JudgedSeries,
    OccasionRow,
    OccasionSummary,
    PointRow,
    QueueRow,
    RunPage,
    SeriesPage,
    SeriesRow,
    Status,
    WorkerRow,
)
from perfd.store.runs import read_workload

S = tables.series.c
P = tables.point.c
R = tables.run.c
O = tables.occasion.c
B = tables.build.c
SPARK = 60
"""Values in a sparkline."""


@dataclass(frozen=True)
class SeriesFilter:
    """Which Series to list; every part that is given must match. `workload` is a Workload's name, not its identity."""

    subject: str | None = None
    branch: str | None = None
    suite: str | None = None
    workload: str | None = None
    workload_class: str | None = None
    metric: str | None = None
    model: str | None = None
    quantisation: str | None = None
    parallelism: str | None = None
    device_class: str | None = None


COLUMNS: dict[str, ColumnElement[Any]] = {
    "subject": tables.subject.c.name,
    "branch": S.branch,
    "suite": tables.suite.c.name,
    "workload": tables.workload.c.name,
    "workload_class": tables.workload.c["class"],
    "metric": tables.metric.c.name,
    "model": S.model,
    "quantisation": S.quantisation,
    "parallelism": S.parallelism,
    "device_class": S.device_class,
}


@dataclass(frozen=True)
class Pages:
    """Questions that pages and reports ask."""

    engine: Engine

    def series(self, wanted: SeriesFilter | None = None) -> tuple[SeriesRow, ...]:
        """Every Series that matches, with latest and previous Point, last Verdict and the values of a sparkline."""
        with self.engine.begin() as connection:
            asked = reading.series_select().where(*_conditions(wanted or SeriesFilter()))
            names = (tables.subject.c.name, tables.suite.c.name, tables.workload.c.name, tables.metric.c.id, S.id)
            rows = connection.execute(asked.order_by(*names)).all()
            ids = [row.id for row in rows]
            points = _last_points(connection, ids)
            verdicts = _last_verdicts(connection, ids)
            changes = _last_changes(connection, ids)
        return tuple(
            SeriesRow(
                info=reading.as_series(row),
                latest=points[row.id][0][-1],
                previous=points[row.id][0][-2] if len(points[row.id][0]) > 1 else None,
                verdict=verdicts.get(row.id),
                values=points[row.id][1],
                change_id=changes.get(row.id),
            )
            for row in rows
            if row.id in points
        )

    def choices(self) -> dict[str, tuple[str, ...]]:
        """For every part of `SeriesFilter`: the values that some Series has."""
        with self.engine.begin() as connection:
            every = reading.series_select()
            return {
                name: tuple(sorted(connection.execute(every.with_only_columns(column).distinct()).scalars()))
                for name, column in COLUMNS.items()
            }

    def one_series(self, series_id: int, last: int | None = None) -> SeriesPage | None:
        """The Series with its (last) Points, its Changes that stand, and its last Verdict."""
        with self.engine.begin() as connection:
            row = connection.execute(reading.series_select().where(S.id == series_id)).first()
            if row is None:
                return None
            change = tables.change.c
            V = tables.verdict.c  # noqa: N806  # columns
            workload_id = connection.execute(select(S.workload_id).where(S.id == series_id)).scalar_one()
            judged = connection.execute(
                select(tables.verdict, O.name.label("occasion"))
                .join(tables.occasion)
                .where(V.series_id == series_id)
                .order_by(O.nominal_at.desc(), O.id.desc())
                .limit(1)
            ).first()
            return SeriesPage(
                info=reading.as_series(row),
                workload=read_workload(connection, workload_id),
                points=reading.point_rows(connection, series_id, last),
                changes=reading.changes(connection, change.series_id == series_id, change.gone_at.is_(None)),
                verdict=None if judged is None else reading.as_verdict(judged),
                verdict_occasion=None if judged is None else judged.occasion,
            )

    def run(self, run_id: int) -> RunPage | None:
        """All about one Run."""
        with self.engine.begin() as connection:
            found = reading.run_rows(connection, R.id == run_id)
            if not found:
                return None
            row = connection.execute(select(tables.run, B.spec).join(tables.build).where(R.id == run_id)).one()
            return RunPage(
                run=found[0],
                workload=read_workload(connection, row.workload_id),
                spec=from_json(BuildSpec, row.spec),
                environment=None if row.environment_id is None else reading.environment(connection, row.environment_id),
                device_states=_device_states(connection, run_id),
                samples=samples.of_runs(connection, [run_id]).get(run_id, ()),
                points=_points_of_run(connection, run_id),
                log_tail=row.log_tail,
                harness_version=row.harness_version,
                definitions_version=row.definitions_version,
                extra=row.extra,
            )

    def run_id(self, key: str) -> int | None:
        """The number of the Run with that key digest."""
        with self.engine.begin() as connection:
            return connection.execute(select(R.id).where(R.key == key)).scalar()

    def occasion(self, occasion: Occasion) -> OccasionSummary:
        """The final table of an occasion; raises PerfdError where it was never opened."""
        with self.engine.begin() as connection:
            return _summary(connection, occasions.id_of(connection, occasion))

    def occasion_named(self, name: str) -> OccasionSummary | None:
        """The same, by the occasion's natural name."""
        with self.engine.begin() as connection:
            found = connection.execute(select(O.id).where(O.name == name)).scalar()
            return None if found is None else _summary(connection, found)

    def occasions(self, kind: OccasionKind | None = None, last: int = 50) -> tuple[OccasionRow, ...]:
        """The newest occasions (of a kind), newest first."""
        with self.engine.begin() as connection:
            where = () if kind is None else (O.kind == kind.value,)
            return _occasion_rows(connection, *where, last=last)

    def status(self, now: datetime, workers_seen_within: timedelta = timedelta(minutes=10)) -> Status:
        """How the service stands."""
        with self.engine.begin() as connection:
            newest = select(O.id).where(O.kind == OccasionKind.NIGHT.value).order_by(O.nominal_at.desc()).limit(1)
            night = connection.execute(newest).scalar()
            builds = dict(connection.execute(select(B.state, func.count()).group_by(B.state)).tuples().all())
            return Status(
                last_night=None if night is None else _summary(connection, night),
                open_occasions=_occasion_rows(connection, O.state != OccasionState.REPORTED.value, last=50),
                queue=_queue(connection),
                builds_queued=builds.get(BuildState.QUEUED.value, 0),
                builds_building=builds.get(BuildState.BUILDING.value, 0),
                workers=_workers(connection, now - workers_seen_within),
                outbox_waiting=connection.execute(
                    select(func.count()).select_from(tables.outbox).where(tables.outbox.c.done_at.is_(None))
                ).scalar_one(),
            )

    def blocks(self, occasion: Occasion) -> tuple[ArmSamples, ...]:
        """Every Run of a comparison with its raw Samples, by block."""
        with self.engine.begin() as connection:
            runs = reading.run_rows(connection, R.occasion_id == occasions.id_of(connection, occasion))
            measured = samples.of_runs(connection, [run.id for run in runs])
            E = tables.environment.c  # noqa: N806  # columns
            hashes = dict(
                connection.execute(
                    select(R.id, E.hardware_hash).join(tables.environment).where(R.id.in_([run.id for run in runs]))
                )
                .tuples()
                .all()
            )
        ordered = sorted(runs, key=lambda run: (run.workload, run.block, run.id))
        return tuple(ArmSamples(run, measured.get(run.id, ()), hashes.get(run.id)) for run in ordered)

    def build(self, digest: str) -> BuildRow | None:
        """What became of the Build on the last occasion that needed it."""
        with self.engine.begin() as connection:
            found = _build_rows(connection, B.digest == digest)
        return found[-1] if found else None


def _conditions(wanted: SeriesFilter) -> list[ColumnElement[bool]]:
    given = ((field.name, getattr(wanted, field.name)) for field in fields(wanted))
    return [COLUMNS[name] == value for name, value in given if value is not None]


def _last_points(connection: Connection, ids: list[int]) -> dict[int, tuple[list[PointRow], tuple[float, ...]]]:
    """By Series: its last two Points, and the values of its last SPARK Points, oldest first."""
    descending = [column.desc() for column in reading.IN_ORDER]
    place = func.row_number().over(partition_by=P.series_id, order_by=descending).label("place")
    ranked = select(P.series_id, P.run_id, P.value, place).where(P.series_id.in_(ids)).subquery()
    values: dict[int, list[float]] = {}
    for series_id, value in connection.execute(
        select(ranked.c.series_id, ranked.c.value)
        .where(ranked.c.place <= SPARK)
        .order_by(ranked.c.series_id, ranked.c.place.desc())
    ):
        values.setdefault(series_id, []).append(value)
    asked = (
        reading.point_select()
        .join(ranked, (ranked.c.series_id == P.series_id) & (ranked.c.run_id == P.run_id))
        .where(ranked.c.place <= 2)
        .order_by(P.series_id, ranked.c.place.desc())
    )
    points: dict[int, list[PointRow]] = {}
    for row in connection.execute(asked):
        points.setdefault(row.series_id, []).append(reading.as_point(row))
    return {series_id: (rows, tuple(values[series_id])) for series_id, rows in points.items()}


def _last_verdicts(connection: Connection, ids: list[int]) -> dict[int, Any]:
    V = tables.verdict.c  # noqa: N806  # columns
    asked = (
        select(tables.verdict)
        .join(tables.occasion)
        .where(V.series_id.in_(ids))
        .distinct(V.series_id)
        .order_by(V.series_id, O.nominal_at.desc(), O.id.desc())
    )
    return {row.series_id: reading.as_verdict(row) for row in connection.execute(asked)}


def _last_changes(connection: Connection, ids: list[int]) -> dict[int, int]:
    change = tables.change.c
    standing = (change.series_id.in_(ids), change.gone_at.is_(None))
    return {row.series_id: row.id for row in reading.changes(connection, *standing)}


def _device_states(connection: Connection, run_id: int) -> tuple[DeviceState, ...]:
    D = tables.device_state.c  # noqa: N806  # columns
    asked = select(D.at, D.facts).where(D.run_id == run_id).order_by(D.place)
    return tuple(DeviceState(row.at, row.facts) for row in connection.execute(asked))


def _points_of_run(connection: Connection, run_id: int) -> dict[str, tuple[int, Point]]:
    asked = (
        reading.point_select()
        .add_columns(tables.metric.c.name.label("metric"))
        .join(tables.series, S.id == P.series_id)
        .join(tables.metric, tables.metric.c.id == S.metric_id)
        .where(P.run_id == run_id)
    )
    return {row.metric: (row.series_id, reading.as_point(row).point) for row in connection.execute(asked)}


def _occasion_rows(connection: Connection, *where: ColumnElement[bool], last: int) -> tuple[OccasionRow, ...]:
    asked = select(tables.occasion).where(*where).order_by(O.nominal_at.desc(), O.id.desc()).limit(last)
    rows = connection.execute(asked).all()
    counted: dict[int, dict[str, int]] = {row.id: {state.value: 0 for state in RunState} | {"missing": 0} for row in rows}
    missing = func.count().filter(R.failure == FailureKind.MISSING.value)
    counts = select(R.occasion_id, R.state, func.count(), missing).where(R.occasion_id.in_(counted))
    for occasion_id, state, count, missed in connection.execute(counts.group_by(R.occasion_id, R.state)):
        counted[occasion_id][state] = count
        counted[occasion_id]["missing"] += missed
    return tuple(_as_occasion_row(row, counted[row.id]) for row in rows)


def _as_occasion_row(row: Row[Any], counts: dict[str, int]) -> OccasionRow:
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


def _build_rows(connection: Connection, *where: ColumnElement[bool]) -> tuple[BuildRow, ...]:
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


def _as_build_row(row: Row[Any]) -> BuildRow:
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


def _summary(connection: Connection, occasion_id: int) -> OccasionSummary:
    return OccasionSummary(
        row=_occasion_rows(connection, O.id == occasion_id, last=1)[0],
        builds=_build_rows(connection, tables.occasion_build.c.occasion_id == occasion_id),
        runs=reading.run_rows(connection, R.occasion_id == occasion_id),
        verdicts=_judged(connection, occasion_id),
        findings=occasions.findings(connection, occasion_id),
        changes=_found(connection, occasion_id),
    )


def _found(connection: Connection, occasion_id: int) -> tuple[ChangeRow, ...]:
    change = tables.change.c
    return reading.changes(connection, change.found_in == occasion_id, change.gone_at.is_(None))


def _judged(connection: Connection, occasion_id: int) -> tuple[JudgedSeries, ...]:
    V = tables.verdict.c  # noqa: N806  # columns
    verdicts = {
        row.series_id: reading.as_verdict(row)
        for row in connection.execute(select(tables.verdict).where(V.occasion_id == occasion_id))
    }
    points = {
        row.series_id: reading.as_point(row)
        for row in connection.execute(_in_order(reading.point_select().where(P.occasion_id == occasion_id)))
    }
    asked = reading.series_select().where(S.id.in_(verdicts)).order_by(S.id)
    return tuple(JudgedSeries(reading.as_series(row), verdicts[row.id], points.get(row.id)) for row in connection.execute(asked))


def _in_order(asked: Select[Any]) -> Select[Any]:
    return asked.order_by(*reading.IN_ORDER)


def _queue(connection: Connection) -> tuple[QueueRow, ...]:
    queued, claimed = R.state == RunState.QUEUED.value, R.state == RunState.CLAIMED.value
    asked = (
        select(
            R.device_class,
            func.count().filter(queued).label("queued"),
            func.count().filter(claimed).label("claimed"),
            func.min(R.queued_at).filter(queued).label("oldest"),
        )
        .where(R.state.in_([RunState.QUEUED.value, RunState.CLAIMED.value]))
        .group_by(R.device_class)
        .order_by(R.device_class)
    )
    return tuple(QueueRow(row.device_class, row.queued, row.claimed, row.oldest) for row in connection.execute(asked))


def _workers(connection: Connection, since: datetime) -> tuple[WorkerRow, ...]:
    K = tables.worker.c  # noqa: N806  # columns
    asked = select(K.name, K.host, K.device_class, K.doing, K.started_at, K.seen_at).where(K.seen_at >= since)
    return tuple(WorkerRow(*row) for row in connection.execute(asked.order_by(K.seen_at.desc())))
