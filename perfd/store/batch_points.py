"""Samples and Points of many Runs from elsewhere."""

from collections.abc import Mapping, Sequence

import psycopg
from sqlalchemy import insert

from perfd.domain.arrival import Arrival
from perfd.domain.codec import to_json
from perfd.domain.run import RunState, SeriesKey
from perfd.errors import PerfdError
from perfd.store import latest, partitions, tables
from perfd.store.batch import Batch, Row, ensure_all, place_of
from perfd.store.records import Reduced
from perfd.store.writing import clean


def write_samples(batch: Batch, new: Sequence[tuple[int, Arrival]]) -> None:
    """Every Sample and every look at a device stands there, the Samples by COPY."""
    for moment in {partitions.month_of(arrival.results.started_at)[0] for _, arrival in new}:
        partitions.ensure(batch.connection, moment)
    states = [
        {"run_id": run, "place": place, "at": state.at, "facts": clean(to_json(state.facts))}
        for run, arrival in new
        for place, state in enumerate(arrival.results.device_states)
    ]
    if states:
        batch.connection.execute(insert(tables.device_state), states)
    driver = batch.connection.connection.driver_connection
    if not isinstance(driver, psycopg.Connection):
        raise PerfdError("the database must be reached through psycopg: its URL begins with postgresql+psycopg://")
    with driver.cursor() as cursor, cursor.copy("COPY sample (run_id, metric_id, place, measured_at, value) FROM STDIN") as copy:
        for run, arrival in new:
            at = arrival.results.started_at.isoformat()
            for one in arrival.results.samples:
                head = f"{run}\t{batch.metrics[one.name, one.unit, one.better.value]}\t"
                copy.write("".join(f"{head}{place}\t{at}\t{value!r}\n" for place, value in enumerate(one.values)))


def write_points(batch: Batch, new: Sequence[tuple[int, Row, Arrival, Mapping[str, Reduced]]]) -> set[int]:
    """Every Point stands there in its Series, and the Series tell their last; the occasions of the last new Point of each."""
    done = [one for one in new if one[2].results.state is RunState.DONE]
    keys: dict[str, Row] = {}
    rows: list[Row] = []
    marks: list[str] = []
    for run, row, arrival, points in done:
        metrics = {one.name: batch.metrics[one.name, one.unit, one.better.value] for one in arrival.results.samples}
        for metric, point in points.items():
            key, series = _series(batch, row, arrival, (metric, metrics[metric]))
            keys.setdefault(key, series)
            marks.append(key)
            rows.append(_point(batch, run, row, arrival, point))
    if not rows:
        return set()
    batch.series = ensure_all(
        batch.connection, tables.series, [one | {"fingerprint": key} for key, one in sorted(keys.items())], "fingerprint"
    )
    batch.connection.execute(
        insert(tables.point), [row | {"series_id": batch.series[key]} for row, key in zip(rows, marks, strict=True)]
    )
    latest.refresh(batch.connection, set(batch.series.values()))
    newest: dict[str, Row] = {}
    for key, row in zip(marks, rows, strict=True):
        before = newest.get(key)
        if before is None or (before["ordinal"], before["measured_at"]) <= (row["ordinal"], row["measured_at"]):
            newest[key] = row
    return {row["occasion_id"] for row in newest.values()}


def _series(batch: Batch, row: Row, arrival: Arrival, metric: tuple[str, int]) -> tuple[str, Row]:
    one = arrival.identity
    words = {
        "branch": one.branch,
        "model": one.model,
        "quantisation": row["quantisation"],
        "parallelism": row["parallelism"],
        "device_class": row["device_class"],
    }
    key = SeriesKey(subject=one.subject, workload=arrival.workload.identity, metric=metric[0], **words)
    ids = {"subject_id": batch.subjects[one.subject], "workload_id": row["workload_id"], "metric_id": metric[1]}
    return key.fingerprint, words | ids | {"created_at": batch.now}


def _point(batch: Batch, run: int, row: Row, arrival: Arrival, point: Reduced) -> Row:
    revision = batch.revisions[place_of(batch, arrival)]
    where = batch.environments[arrival.results.environment.hash] if arrival.results.environment else None
    low, high = point.interval or (None, None)
    return {
        "run_id": run,
        "build_id": row["build_id"],
        "revision_id": revision,
        "occasion_id": row["occasion_id"],
        "device_id": None if where is None else where.device_id,
        "ordinal": batch.ordinals[revision],
        "measured_at": arrival.results.started_at,
        "hardware_hash": "" if where is None else where.hardware_hash,
        "epoch": "" if where is None else where.epoch,
        "value": point.value,
        "low": low,
        "high": high,
        "n": point.n,
    }
