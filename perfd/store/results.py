"""Results of Runs: Samples, Environment, device states and Points, written in one transaction or not at all."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import psycopg
from sqlalchemy import Connection, func, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.codec import to_json
from perfd.domain.identity import digest
from perfd.domain.metric import METRICS, Metric, MetricKind
from perfd.domain.results import MetricSamples, Results
from perfd.domain.run import RunState, SeriesKey
from perfd.errors import BadInputError, PerfdError
from perfd.store import environments, latest, partitions, tables
from perfd.store.records import ClaimedRun, Reduced, Written
from perfd.store.writing import AnyRow, clean, ensure, name

R = tables.run.c


def write(connection: Connection, claimed: ClaimedRun, given: Results, points: Mapping[str, Reduced], now: datetime) -> Written:
    """As `Runs.finish`, inside a transaction of the caller's."""
    told = digest(clean(to_json(given)))
    run = connection.execute(select(tables.run).where(R.id == claimed.id).with_for_update()).one()
    if run.results_digest == told:
        return Written.ALREADY
    if run.state != RunState.CLAIMED.value or run.token != claimed.token:
        return Written.STALE
    where = None if given.environment is None else environments.write(connection, given.environment)
    connection.execute(
        update(tables.run).where(R.id == run.id).values(**ended(given, where), finished_at=now, results_digest=told)
    )
    _write_device_states(connection, run.id, given)
    in_order = sorted(
        given.samples, key=lambda samples: samples.name
    )  # two writers that add the same names never wait in a circle
    metrics = {samples.name: ensure_metric(connection, samples) for samples in in_order}
    _write_samples(connection, run.id, given, metrics)
    if where is not None and given.state is RunState.DONE and claimed.occasion.kind.enters_series:
        _write_points(connection, run, where, points, metrics)
    return Written.STORED


def ended(given: Results, where: AnyRow | None) -> dict[str, Any]:
    """The columns of a Run that its results tell."""
    return {
        "state": given.state.value,
        "failure": None if given.failure is None else given.failure.value,
        "reason": clean(given.reason),
        "log_tail": clean(given.log_tail),
        "claimed_by": None,
        "lease_until": None,
        "device_id": None if where is None else where.device_id,
        "environment_id": None if where is None else where.id,
        "started_at": given.started_at,
        "harness_version": clean(given.harness_version),
        "definitions_version": clean(given.definitions_version),
        "extra": clean(to_json(given.extra)),
    }


def ensure_metric(connection: Connection, samples: MetricSamples) -> int:
    """The id of the Metric; raises BadInputError when it stands there with another unit or direction."""
    unit = name(samples.unit, "a unit")
    new = Metric(name(samples.name, "a Metric"), unit, samples.better, MetricKind.SPEED, "")
    known = METRICS.get(samples.name, new)
    M = tables.metric.c  # noqa: N806  # columns
    made = ensure(
        connection,
        tables.metric,
        {"name": known.name},
        {
            "unit": known.unit,
            "better": known.better.value,
            "kind": known.kind.value,
            "reduction": known.reduction.value,
            "relevant": known.relevant,
            "sentence": known.sentence,
        },
    )
    row = connection.execute(select(M.unit, M.better).where(M.id == made)).one()
    if (row.unit, row.better) != (unit, samples.better.value):
        raise BadInputError(
            f"the Metric {known.name} came in {unit} ({samples.better} is better), and is stored in {row.unit} "
            f"({row.better} is better); give one of the two another name"
        )
    return made


def _write_device_states(connection: Connection, run_id: int, given: Results) -> None:
    rows = [
        {"run_id": run_id, "place": place, "at": state.at, "facts": clean(to_json(state.facts))}
        for place, state in enumerate(given.device_states)
    ]
    if rows:
        connection.execute(insert(tables.device_state), rows)


def _write_samples(connection: Connection, run_id: int, given: Results, metrics: Mapping[str, int]) -> None:
    """Every Sample stands there, by COPY: about ten times the speed of INSERT."""
    if not any(samples.values for samples in given.samples):
        return
    partitions.ensure(connection, given.started_at)
    driver = connection.connection.driver_connection
    if not isinstance(driver, psycopg.Connection):
        raise PerfdError("the database must be reached through psycopg: its URL begins with postgresql+psycopg://")
    at = given.started_at.isoformat()
    with driver.cursor() as cursor, cursor.copy("COPY sample (run_id, metric_id, place, measured_at, value) FROM STDIN") as copy:
        for samples in given.samples:  # lines in COPY's own form: the driver takes three times as long to make them of rows
            head = f"{run_id}\t{metrics[samples.name]}\t"
            copy.write("".join(f"{head}{place}\t{at}\t{value!r}\n" for place, value in enumerate(samples.values)))


def _write_points(
    connection: Connection, run: AnyRow, where: AnyRow, points: Mapping[str, Reduced], metrics: Mapping[str, int]
) -> None:
    place = _place(connection, run)
    began = connection.execute(select(R.started_at).where(R.id == run.id)).scalar_one()
    common = {
        "run_id": run.id,
        "build_id": run.build_id,
        "revision_id": place.revision_id,
        "occasion_id": run.occasion_id,
        "device_id": where.device_id,
        "ordinal": place.ordinal,
        "measured_at": began,
        "hardware_hash": where.hardware_hash,
        "epoch": where.epoch,
    }
    series = {metric: _ensure_series(connection, run, place, (metric, metrics[metric])) for metric in sorted(points)}
    for metric, series_id in series.items():
        low, high = points[metric].interval or (None, None)
        numbers = {"series_id": series_id, "value": points[metric].value, "low": low, "high": high, "n": points[metric].n}
        connection.execute(insert(tables.point).values(**common, **numbers))
    latest.refresh(connection, series.values())


def _place(connection: Connection, run: AnyRow) -> AnyRow:
    """Where the Run's Build stands on the branch that its occasion follows, and the words that key its Series."""
    OB, V = tables.occasion_build.c, tables.revision.c  # noqa: N806  # columns
    asked = (
        select(
            OB.revision_id,
            V.ordinal,
            V.branch,
            V.subject_id,
            tables.subject.c.name.label("subject"),
            tables.workload.c.identity.label("workload"),
            tables.model.c.name.label("model"),
        )
        .select_from(tables.occasion_build)
        .join(tables.revision, V.id == OB.revision_id)
        .join(tables.subject, tables.subject.c.id == V.subject_id)
        .join(tables.workload, tables.workload.c.id == run.workload_id)
        .outerjoin(tables.model, tables.model.c.id == run.model_id)
        .where(OB.occasion_id == run.occasion_id, OB.build_id == run.build_id)
    )
    return connection.execute(asked).one()


def _ensure_series(connection: Connection, run: AnyRow, place: AnyRow, metric: tuple[str, int]) -> int:
    """The id of the Series of that Metric (name, id) that the Run belongs to."""
    metric_name, metric_id = metric
    words = {
        "branch": place.branch,
        "model": place.model or "",
        "quantisation": run.quantisation,
        "parallelism": run.parallelism,
        "device_class": run.device_class,
    }
    key = SeriesKey(subject=place.subject, workload=place.workload, metric=metric_name, **words)
    rest = {"subject_id": place.subject_id, "workload_id": run.workload_id, "metric_id": metric_id, **words}
    return ensure(connection, tables.series, {"fingerprint": key.fingerprint}, rest | {"created_at": func.now()})
