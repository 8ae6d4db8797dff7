"""Many Runs that were measured elsewhere, written by sets: a history of thousands takes a few statements a table."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, Table, bindparam, func, select
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.dialects.postgresql import insert as pg_insert

from perfd import HARNESS_VERSION
from perfd.domain.arrival import Arrival
from perfd.domain.build import BuildState
from perfd.domain.codec import to_json
from perfd.domain.identity import digest
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import PlannedRun
from perfd.domain.run import OccasionKind
from perfd.errors import PerfdError
from perfd.store import environments, plans, results, tables
from perfd.store.batch import Batch, Row, ensure_all, place_of
from perfd.store.batch_points import write_points, write_samples
from perfd.store.placing import place
from perfd.store.records import Reduced, Taken, Written
from perfd.store.subjects import ensure_subject
from perfd.store.writing import clean, name

WHO = "elsewhere"


def take_all(
    connection: Connection, arrivals: Sequence[Arrival], points: Sequence[Mapping[str, Reduced]], now: datetime
) -> list[Taken]:
    """Each Run stands there with its Samples and Points, or stood there, or was refused; in the order of `arrivals`.

    An occasion with the last new Point of a Series waits for the judge; the others need none, for the judge reads the whole
    history at once.
    """
    batch = Batch(connection, now)
    standing = _standing(connection, arrivals)
    occasions = [standing.get(one.key) if not one.dated and one.key in standing else _occasion(one) for one in arrivals]
    _prepare(batch, arrivals, [one for one in occasions if one is not None])
    rows = [_run(batch, arrival, occasion) for arrival, occasion in zip(arrivals, occasions, strict=True) if occasion is not None]
    made = _insert(connection, tables.run, rows, "key")
    told = _told(connection, [row["key"] for row in rows if row["key"] not in made])
    new = [place for place, row in enumerate(rows) if row["key"] in made]
    write_samples(batch, [(made[rows[place]["key"]], arrivals[place]) for place in new])
    ends = write_points(batch, [(made[rows[place]["key"]], rows[place], arrivals[place], points[place]) for place in new])
    _settle(connection, [rows[place]["occasion_id"] for place in new], ends, now)
    return [_taken(row, arrival, made, told) for row, arrival in zip(rows, arrivals, strict=True)]


def _taken(row: Row, arrival: Arrival, made: Mapping[str, int], told: Mapping[str, str]) -> Taken:
    key = row["key"]
    if key in made:
        return Taken(key, Written.STORED)
    same = told.get(key) == row["results_digest"] or not arrival.dated
    return Taken(key, Written.ALREADY if same else Written.REFUSED)


def _occasion(arrival: Arrival) -> Occasion:
    return Occasion(OccasionKind.IMPORT, arrival.results.started_at.replace(microsecond=0), name(arrival.key, "a key"))


def _standing(connection: Connection, arrivals: Sequence[Arrival]) -> dict[str, Occasion]:
    """By key, the occasion of what has no date of its own and was taken before."""
    Occ = tables.occasion.c  # noqa: N806  # columns
    keys = sorted({one.key for one in arrivals if not one.dated})
    if not keys:
        return {}
    asked = select(Occ.label, Occ.nominal_at).where(Occ.kind == OccasionKind.IMPORT.value, Occ.label.in_(keys))
    return {
        row.label: Occasion(OccasionKind.IMPORT, row.nominal_at, row.label)
        for row in connection.execute(asked.order_by(Occ.id.desc()))
    }


def _prepare(batch: Batch, arrivals: Sequence[Arrival], occasions: Sequence[Occasion]) -> None:
    """Everything that the Runs refer to stands there."""
    connection, now = batch.connection, batch.now
    for one in {arrival.identity.subject: arrival.identity for arrival in arrivals}.values():
        batch.subjects[one.subject] = ensure_subject(connection, name(one.subject, "a subject"), one.subject_kind)
    _place(batch, arrivals)
    opened = [
        {"name": one.name, "kind": one.kind.value, "label": one.label, "nominal_at": one.nominal_at, "harness": HARNESS_VERSION}
        | {"state": OccasionState.PLANNED.value, "opened_at": now, "moved_at": now}
        for one in dict.fromkeys(occasions)
    ]
    batch.occasions = ensure_all(connection, tables.occasion, opened, "name")
    specs = {one.build.digest: one.build for one in arrivals}
    builds = [
        {"digest": key, "subject_id": batch.subjects[spec.subject], "revision": spec.revision, "spec": clean(to_json(spec))}
        | {"state": BuildState.BUILT.value, "artifact_path": WHO, "queued_at": now, "finished_at": now}
        for key, spec in specs.items()
    ]
    batch.builds = ensure_all(connection, tables.build, builds, "digest")
    batch.workloads = plans.write_workloads(connection, (one.workload for one in arrivals))
    batch.models = {one: plans.write_model(connection, one) for one in {arrival.model for arrival in arrivals} if one is not None}
    found = {one.results.environment.hash: one.results.environment for one in arrivals if one.results.environment is not None}
    batch.environments = {key: environments.write(connection, one) for key, one in sorted(found.items())}
    samples = {(one.name, one.unit, one.better.value): one for arrival in arrivals for one in arrival.results.samples}
    batch.metrics = {key: results.ensure_metric(connection, samples[key]) for key in sorted(samples)}
    owed = {
        (batch.occasions[occasion.name], batch.builds[one.build.digest]): batch.revisions[place_of(batch, one)]
        for one, occasion in zip(arrivals, occasions, strict=True)
    }
    rows = [
        {
            "occasion_id": occasion,
            "build_id": build,
            "revision_id": revision,
            "cached": True,
            "seconds": 0.0,
            "state": BuildState.BUILT.value,
        }
        for (occasion, build), revision in owed.items()
    ]
    connection.execute(pg_insert(tables.occasion_build).on_conflict_do_nothing(), rows)


def _place(batch: Batch, arrivals: Sequence[Arrival]) -> None:
    branches = dict.fromkeys((one.identity.subject, one.identity.branch) for one in arrivals)
    V = tables.revision.c  # noqa: N806  # columns
    for subject, branch in branches:
        here = {
            one.identity.revision: one.identity
            for one in arrivals
            if (one.identity.subject, one.identity.branch) == (subject, branch)
        }
        name(branch, "a branch")
        for revision in here:
            name(revision, "a Revision")
        subject_id = batch.subjects[subject]
        for revision, row in place(batch.connection, subject_id, branch, list(here.values())).items():
            batch.revisions[subject_id, branch, revision] = row
        asked = select(V.id, V.ordinal).where(V.subject_id == subject_id, V.branch == branch)
        batch.ordinals |= dict(batch.connection.execute(asked).all())


def _run(batch: Batch, arrival: Arrival, occasion: Occasion) -> Row:
    """The Run's row, ended as its results say."""
    given = arrival.results
    environment = given.environment
    if environment is None:
        raise PerfdError("results from elsewhere have an Environment")
    where = batch.environments[environment.hash]
    planned = PlannedRun(arrival.build, arrival.workload, environment.device.device_class, arrival.model)
    return (
        plans.run_row(planned, occasion.name)
        | results.ended(given, where)
        | {
            "occasion_id": batch.occasions[occasion.name],
            "build_id": batch.builds[arrival.build.digest],
            "workload_id": batch.workloads[arrival.workload.identity],
            "model_id": None if arrival.model is None else batch.models[arrival.model],
            "queued_at": batch.now,
            "finished_at": batch.now,
            "attempts": 1,
            "token": 1,
            "results_digest": digest(clean(to_json(given))),
        }
    )


def _told(connection: Connection, keys: Sequence[str]) -> dict[str, str]:
    """By key, the digest of the results that stand there."""
    R = tables.run.c  # noqa: N806  # columns
    asked = select(R.key, R.results_digest).where(R.key == func.any(bindparam("keys", list(keys), ARRAY(TEXT))))
    return dict(connection.execute(asked).all()) if keys else {}


def _settle(connection: Connection, fresh: Sequence[int], ends: Collection[int], now: datetime) -> None:
    """Of the occasions that got Runs, those with the last new Point of a Series wait for the judge; the others are closed."""
    connection.exec_driver_sql(
        """
        UPDATE occasion SET state = CASE WHEN id = ANY(%(ends)s) THEN 'planned' ELSE 'reported' END,
            moved_at = %(now)s, closed_at = CASE WHEN NOT id = ANY(%(ends)s) THEN %(now)s::timestamptz END,
            report = CASE WHEN NOT id = ANY(%(ends)s) THEN '{}'::jsonb END
        WHERE id = ANY(%(ids)s)""",
        {"now": now, "ids": sorted(set(fresh)), "ends": sorted(ends)},
    )


def _insert(connection: Connection, table: Table, rows: Sequence[Row], key: str) -> dict[str, int]:
    """By natural key, the ids of the rows that were not there before; the others are left as they are."""
    added = pg_insert(table).on_conflict_do_nothing().returning(table.c[key], table.c.id)
    return dict(connection.execute(added, list(rows)).all()) if rows else {}
