"""All about one Run, the blocks of a comparison, and all about one Build."""

from collections.abc import Collection

from sqlalchemy import Connection, func, select

from perfd.domain.build import BuildSpec, BuildState
from perfd.domain.codec import from_json
from perfd.domain.environment import DeviceState
from perfd.domain.run import Point
from perfd.domain.subject import SubjectKind
from perfd.store import reading, samples, tables
from perfd.store.records import ArmSamples, BuildPage, RunPage
from perfd.store.workloads import read_workload

S = tables.series.c
P = tables.point.c
R = tables.run.c
B = tables.build.c
LONG_NUMBER = 19
"""Digits that a number of the database cannot have, and a key of 64 always has."""


def page(connection: Connection, key: str) -> RunPage | None:
    """The Run with that key digest, or that number, with everything that was stored of it."""
    found = reading.run_rows(connection, R.id == int(key) if key.isdecimal() and len(key) < LONG_NUMBER else R.key == key)
    if not found:
        return None
    run = found[0]
    row = connection.execute(select(tables.run, B.spec).join(tables.build).where(R.id == run.id)).one()
    return RunPage(
        run=run,
        workload=read_workload(connection, row.workload_id),
        spec=from_json(BuildSpec, row.spec),
        environment=None if row.environment_id is None else reading.environment(connection, row.environment_id),
        device_states=states_of(connection, run.id),
        samples=samples.of_runs(connection, [run.id]).get(run.id, ()),
        points=_points(connection, run.id),
        log_tail=row.log_tail,
        harness_version=row.harness_version,
        definitions_version=row.definitions_version,
        extra=row.extra,
        tries=tuple(row.tries),
    )


def blocks(connection: Connection, occasion_id: int) -> tuple[ArmSamples, ...]:
    """Every Run of a comparison with its raw Samples, by Workload, Model and block."""
    runs = reading.run_rows(connection, R.occasion_id == occasion_id)
    ids = [run.id for run in runs]
    measured = samples.of_runs(connection, ids)
    hardware = select(R.id, tables.environment.c.hardware_hash).join(tables.environment).where(R.id.in_(ids))
    hashes: dict[int, str] = dict(connection.execute(hardware).all())
    ordered = sorted(runs, key=lambda run: (run.workload, run.model, run.block, run.id))
    return tuple(ArmSamples(run, measured.get(run.id, ()), hashes.get(run.id)) for run in ordered)


def build_page(connection: Connection, digest: str) -> BuildPage | None:
    """The Build with that digest, and every Run on it."""
    V, OB = tables.revision.c, tables.occasion_build.c  # noqa: N806  # columns
    titles = (
        select(V.title)
        .select_from(tables.occasion_build)
        .join(tables.revision, V.id == OB.revision_id)
        .where(OB.build_id == B.id)
        .order_by(OB.occasion_id.desc())
        .limit(1)
        .correlate(tables.build)
    )
    asked = (
        select(tables.build, tables.subject.c.kind, titles.scalar_subquery().label("title"))
        .select_from(tables.build)
        .join(tables.subject)
    )
    row = connection.execute(asked.where(B.digest == digest)).first()
    if row is None:
        return None
    return BuildPage(
        spec=from_json(BuildSpec, row.spec),
        kind=SubjectKind(row.kind),
        title=row.title or "",
        state=BuildState(row.state),
        seconds=row.seconds,
        artifact=row.artifact_path,
        log=row.log_path,
        log_tail=row.log_tail,
        finished_at=row.finished_at,
        runs=reading.run_rows(connection, R.build_id == row.id),
    )


def of_floor(connection: Connection, run_ids: Collection[int]) -> dict[int, float]:
    """By Run of a timed Kernel: its share of what the hardware allows; Runs that do not know theirs are left out."""
    share = R.extra["of_floor"]
    asked = select(R.id, share.as_float()).where(R.id.in_(run_ids), func.jsonb_typeof(share) == "number")
    found: dict[int, float] = dict(connection.execute(asked).all())
    return found


def states_of(connection: Connection, run_id: int) -> tuple[DeviceState, ...]:
    """Every look at the device during the Run, in order."""
    D = tables.device_state.c  # noqa: N806  # columns
    asked = select(D.at, D.facts).where(D.run_id == run_id).order_by(D.place)
    return tuple(DeviceState(row.at, row.facts) for row in connection.execute(asked))


def _points(connection: Connection, run_id: int) -> dict[str, tuple[int, Point]]:
    asked = (
        reading.point_select()
        .add_columns(tables.metric.c.name.label("metric"))
        .join(tables.series, S.id == P.series_id)
        .join(tables.metric, tables.metric.c.id == S.metric_id)
        .where(P.run_id == run_id)
    )
    return {row.metric: (row.series_id, reading.as_point(row).point) for row in connection.execute(asked)}
