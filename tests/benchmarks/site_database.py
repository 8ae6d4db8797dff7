"""A database as large as five years of nights make it: 5,000 Series of 2,000 Points each, 10 million Samples, 1 million Runs.

It is written with COPY in the order in which nights would have written it, one transaction for ten nights, and goes on where it
was stopped. Verdicts are written for the last sixty nights only; nothing that is measured reads older ones.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from sqlalchemy import select

from perfd.domain.build import BuildSpec
from perfd.domain.codec import to_json
from perfd.domain.identity import canonical, digest
from perfd.domain.metric import METRICS
from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind, SeriesKey
from perfd.domain.suite import Workload, WorkloadClass
from perfd.store import latest, make_engine, migrate, partitions, tables
from perfd.store.embedded import EmbeddedPostgres
from perfd.store.tables.judging import IN_ORDER

ENGINES = ("vllm", "sglang", "trtllm", "llamacpp", "lmdeploy")
MODELS = ("Llama-4-Scout", "MiniMax-M3", "DeepSeek-V4", "Qwen4-72B", "gpt-oss-120b")
DEVICES = ("gpu:NVIDIA H200:1", "gpu:NVIDIA H200:8", "gpu:AMD MI355X:8", "gpu:NVIDIA B300:8")
WORKLOADS = (
    Workload("nightly", "chat-short", WorkloadClass.CHAT, {"requests": 512}, 7, ""),
    Workload("nightly", "agent-tools", WorkloadClass.AGENTIC, {"sessions": 64}, 7, ""),
    Workload("nightly", "prompt-128k", WorkloadClass.LONG_CONTEXT, {"requests": 64}, 7, ""),
    Workload("nightly", "images", WorkloadClass.MULTIMODAL, {"requests": 128}, 7, ""),
    Workload("nightly", "offline", WorkloadClass.BATCH, {"requests": 4096}, 7, ""),
)
LEVELS = {
    "ttft_s": 0.21,
    "itl_s": 0.011,
    "tpot_s": 0.012,
    "e2e_s": 4.1,
    "output_tokens_per_s": 5200.0,
    "ready_s": 64.0,
    "peak_memory_bytes": 9.1e10,
    "session_s": 38.0,
    "kv_pool_tokens": 1.4e6,
    "energy_j_per_token": 0.31,
}
"""By Metric, the level that its Series begin near."""
NIGHTS = 2000
JUDGED_NIGHTS = 60
AT_ONCE = 10
VERSION = 2
"""Of what this file writes; a database of another version is made anew."""
CARELESS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "4GB",
}
"""While the database is made; it is measured with the settings that perfd serves with."""
LONG_NIGHTS = 200_000
"""Points of one Series more, as an engine that is measured every quarter of an hour has them."""
INDEXES = {
    "pk_point": "ALTER TABLE point ADD CONSTRAINT pk_point PRIMARY KEY (series_id, run_id)",
    "ix_point_order": "CREATE INDEX ix_point_order ON point (series_id, ordinal, measured_at, run_id) "
    f"INCLUDE ({', '.join(IN_ORDER)})",
    "ix_point_latest": "CREATE INDEX ix_point_latest ON point (series_id, measured_at)",
    "ix_point_occasion_id": "CREATE INDEX ix_point_occasion_id ON point (occasion_id)",
    "ix_point_run_id": "CREATE INDEX ix_point_run_id ON point (run_id)",
}


@dataclass(frozen=True)
class Combination:
    """What one Run of every night measures: an Engine, a Workload, a Model, a device; places in the tuples above, from 0."""

    engine: int
    workload: int
    model: int
    device: int


COMBINATIONS = tuple(
    Combination(*places)
    for places in product(range(len(ENGINES)), range(len(WORKLOADS)), range(len(MODELS)), range(len(DEVICES)))
)
NAMES = tuple(LEVELS)


def say(sentence: str) -> None:
    """One line of progress."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')}  {sentence}\n")


def copy(connection: psycopg.Connection, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
    """The rows stand in the table."""
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as writer:
        for row in rows:
            writer.write_row(row)


def copy_lines(connection: psycopg.Connection, table: str, columns: str, lines: Iterator[str]) -> None:
    """The same, from lines in COPY's own form: three times as quick."""
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as writer:
        writer.write("".join(lines))


def history(seed: int) -> NDArray[np.float64]:
    """(nights, Series) in base units: a level with three steps of a few per cent, and one per cent of noise."""
    chance = np.random.default_rng(seed)
    many = len(COMBINATIONS) * len(NAMES)
    level = np.tile(np.array([LEVELS[name] for name in NAMES]), len(COMBINATIONS)) * chance.lognormal(0.0, 0.4, many)
    nights = np.arange(NIGHTS)[:, None]
    steps = np.ones((NIGHTS, many))
    for _ in range(3):
        at, size = chance.integers(50, NIGHTS - 5, many), chance.normal(0.0, 0.04, many)
        steps *= np.where(nights >= at, 1.0 + size, 1.0)
    found: NDArray[np.float64] = level * steps * chance.normal(1.0, 0.01, (NIGHTS, many))
    return found


def fill(connection: psycopg.Connection, first: datetime) -> None:
    """The database holds everything; what stood there from an earlier try is kept. `first` is when the first night was due."""
    connection.execute("SET session_replication_role = replica")  # no foreign key is looked up 40 million times
    connection.execute("SET synchronous_commit = off")
    done = connection.execute("SELECT count(*) FROM occasion").fetchone()
    begun = done[0] if done else 0
    if begun == 0:
        _write_words(connection, first)
        for name in INDEXES:
            drop = f"ALTER TABLE point DROP CONSTRAINT {name}" if name == "pk_point" else f"DROP INDEX {name}"
            connection.execute(drop)
        connection.commit()
    values = history(11)
    for night in range(begun, NIGHTS, AT_ONCE):
        _write_nights(connection, first, range(night, min(NIGHTS, night + AT_ONCE)), values)
        connection.commit()
        if night % 100 == 0:
            say(f"{night:,} of {NIGHTS:,} nights stand there")
    for name, statement in INDEXES.items():
        if connection.execute("SELECT to_regclass(%s)", [name]).fetchone() == (None,):
            say(f"making {name}")
            connection.execute(f"SET maintenance_work_mem = '1GB'; {statement}")
            connection.commit()
    _write_verdicts(connection)
    _write_changes(connection)
    _write_long_series(connection, first)
    connection.commit()
    _count_on(connection)


def moment(first: datetime, night: int) -> datetime:
    """When a night was due."""
    return first + timedelta(days=night)


def _write_words(connection: psycopg.Connection, first: datetime) -> None:
    """Subjects, Workloads, Metrics, Models, devices, Environments and Series: everything that no night adds to."""
    copy(connection, "subject", "id, name, kind", [(at + 1, name, "engine") for at, name in enumerate(ENGINES)])
    copy(connection, "suite", "id, name", [(1, "nightly")])
    columns = 'id, identity, suite_id, name, "class", parameters, seed, time_limit_s'
    rows = [
        (at + 1, one.identity, 1, one.name, one.workload_class.value, canonical(one.parameters), one.seed, 300.0)
        for at, one in enumerate(WORKLOADS)
    ]
    copy(connection, "workload", columns, rows)
    copy(connection, "metric", "id, name, unit, better, kind, reduction, relevant, sentence", map(_metric, enumerate(NAMES)))
    models = [(at + 1, name, digest(name), "fp8", "tp8") for at, name in enumerate(MODELS)]
    copy(connection, "model", "id, name, sha256, quantisation, parallelism", models)
    copy(
        connection,
        "device",
        "id, host, name, device_class",
        [(at + 1, f"box-{at}", "all", one) for at, one in enumerate(DEVICES)],
    )
    environments = [(at + 1, digest([at]), at + 1, digest(one), "locked", digest([1])) for at, one in enumerate(DEVICES)]
    copy(
        connection,
        "environment",
        "id, hash, device_id, hardware_hash, clock_policy, epoch, hardware, software",
        [(*row, "{}", "{}") for row in environments],
    )
    series = [_series(place, first) for place in range(len(COMBINATIONS) * len(NAMES))]
    columns = (
        "id, fingerprint, subject_id, branch, workload_id, metric_id, model, quantisation, parallelism, device_class, created_at"
    )
    copy(connection, "series", columns, series)


def _metric(numbered: tuple[int, str]) -> tuple[Any, ...]:
    place, name = numbered
    one = METRICS[name]
    words = (one.better.value, one.kind.value, one.reduction.value, one.relevant, one.sentence)
    return (place + 1, name, one.unit, *words)


def _series(place: int, first: datetime) -> tuple[Any, ...]:
    one, metric = COMBINATIONS[place // len(NAMES)], place % len(NAMES)
    engine, workload, model, device = ENGINES[one.engine], WORKLOADS[one.workload], MODELS[one.model], DEVICES[one.device]
    key = SeriesKey(engine, "main", workload.identity, NAMES[metric], model, "fp8", "tp8", device)
    words = (one.engine + 1, "main", one.workload + 1, metric + 1, model, "fp8", "tp8", device)
    return (place + 1, key.fingerprint, *words, first)


def _write_nights(connection: psycopg.Connection, first: datetime, nights: range, values: NDArray[np.float64]) -> None:
    """Occasions, Revisions, Builds, Runs, Samples and Points of these nights."""
    for month in {partitions.month_of(moment(first, night)) for night in nights}:
        name, bounds = f"sample_{month[0]:%Y_%m}", f"FROM ('{month[0].isoformat()}') TO ('{month[1].isoformat()}')"
        connection.execute(f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF sample FOR VALUES {bounds}")
    _write_builds(connection, first, nights)
    columns = (
        "id, key, occasion_id, build_id, workload_id, model_id, quantisation, parallelism, device_class, state, attempts, "
        "device_id, environment_id, queued_at, started_at, finished_at, harness_version, definitions_version, results_digest, "
        "extra"
    )
    copy_lines(connection, "run", columns, (_run(first, night, place) for night in nights for place in range(len(COMBINATIONS))))
    points = (
        "series_id, run_id, build_id, revision_id, occasion_id, device_id, ordinal, measured_at, value, low, high, n, "
        "hardware_hash, epoch"
    )
    copy_lines(connection, "point", points, _points(first, nights, values))
    copy_lines(connection, "sample", "run_id, metric_id, place, measured_at, value", _samples(first, nights, values))


def _write_builds(connection: psycopg.Connection, first: datetime, nights: range) -> None:
    occasions, revisions, builds, owed = [], [], [], []
    for night in nights:
        due = moment(first, night)
        one = Occasion(OccasionKind.NIGHT, due)
        closed = due + timedelta(hours=3)
        occasions.append((night + 1, one.name, "night", "", due, "reported", due, closed, closed, "{}"))
        for engine, name in enumerate(ENGINES):
            number = night * len(ENGINES) + engine + 1
            spec = BuildSpec(name, digest([name, night])[:40], "wheel", digest("wheel"), {"cuda": "13.1"}, {"torch": "2.13.0"})
            title = f"Fuse the sampler with the last all-reduce of step {night} (#{40_000 + number})"
            revisions.append((number, engine + 1, "main", spec.revision, night + 1, due - timedelta(hours=3), title))
            path, text = f"/builds/{spec.digest[:12]}", canonical(to_json(spec))
            builds.append((number, spec.digest, engine + 1, spec.revision, text, "built", path, 90.0, due, due))
            owed.append((night + 1, number, number, "f", 90.0, "built"))
    copy(connection, "occasion", "id, name, kind, label, nominal_at, state, opened_at, moved_at, closed_at, report", occasions)
    copy(connection, "revision", "id, subject_id, branch, name, ordinal, committed_at, title", revisions)
    copy(
        connection,
        "build",
        "id, digest, subject_id, revision, spec, state, artifact_path, seconds, queued_at, finished_at",
        builds,
    )
    copy(connection, "occasion_build", "occasion_id, build_id, revision_id, cached, seconds, state", owed)


def _run_id(night: int, place: int) -> int:
    return night * len(COMBINATIONS) + place + 1


def _began(first: datetime, night: int, place: int) -> str:
    return (moment(first, night) + timedelta(seconds=20 * place)).isoformat()


def _run(first: datetime, night: int, place: int) -> str:
    one, run_id, due = COMBINATIONS[place], _run_id(night, place), moment(first, night).isoformat()
    began = _began(first, night, place)
    build = night * len(ENGINES) + one.engine + 1
    key, told = digest(["run", run_id]), digest(["results", run_id])
    return (
        f"{run_id}\t{key}\t{night + 1}\t{build}\t{one.workload + 1}\t{one.model + 1}\tfp8\ttp8\t{DEVICES[one.device]}\tdone\t1\t"
        f"{one.device + 1}\t{one.device + 1}\t{due}\t{began}\t{began}\t0.1.0\t1\t{told}\t{{}}\n"
    )


def _points(first: datetime, nights: range, values: NDArray[np.float64]) -> Iterator[str]:
    many = len(NAMES)
    ends = [f"12\t{digest(one)}\t{digest([1])}\n" for one in DEVICES]
    for night in nights:
        row = values[night].tolist()
        for place, one in enumerate(COMBINATIONS):
            build = night * len(ENGINES) + one.engine + 1
            began = _began(first, night, place)
            head = f"{_run_id(night, place)}\t{build}\t{build}\t{night + 1}\t{one.device + 1}\t{night + 1}\t{began}"
            for metric in range(many):
                value = row[place * many + metric]
                yield f"{place * many + metric + 1}\t{head}\t{value}\t{value * 0.994}\t{value * 1.006}\t{ends[one.device]}"


def _samples(first: datetime, nights: range, values: NDArray[np.float64]) -> Iterator[str]:
    many = len(NAMES)
    for night in nights:
        row = values[night].tolist()
        for place in range(len(COMBINATIONS)):
            began, run_id = _began(first, night, place), _run_id(night, place)
            for metric in range(many):
                yield f"{run_id}\t{metric + 1}\t0\t{began}\t{row[place * many + metric]}\n"


def _write_verdicts(connection: psycopg.Connection) -> None:
    """Of the last nights: one in forty better, one in fifty worse, one in ten unsure, the rest the same."""
    say("judging the last nights")
    connection.execute(
        """
        INSERT INTO verdict (series_id, occasion_id, outcome, reason, detector, n, effect, low, high, bar, q, noise, mde,
            judged_at)
        SELECT s.id, o.id, w.outcome, 'The newest Points against the level before them.', 'bench/1', 40,
            CASE w.outcome WHEN 'better' THEN -0.06 WHEN 'worse' THEN 0.05 ELSE 0.001 END, -0.01, 0.01, 0.03, 0.2,
            0.008 + (s.id %% 7) * 0.001, '{"4": 0.04, "7": 0.03, "14": 0.02}', o.closed_at
        FROM series AS s CROSS JOIN occasion AS o CROSS JOIN LATERAL (
            SELECT CASE WHEN hashint8(s.id * 7919 + o.id) %% 40 = 0 THEN 'better'
                WHEN hashint8(s.id * 104729 + o.id) %% 50 = 0 THEN 'worse'
                WHEN hashint8(s.id + o.id) %% 10 = 0 THEN 'unsure' ELSE 'same' END AS outcome) AS w
        WHERE o.kind = 'night' AND o.id > %s AND s.id <= %s
        ON CONFLICT DO NOTHING""",
        [NIGHTS - JUDGED_NIGHTS, len(COMBINATIONS) * len(NAMES)],
    )


def _write_changes(connection: psycopg.Connection) -> None:
    """Two Changes in every Series, one of them of this month in every fiftieth; and ten open Regressions."""
    if connection.execute("SELECT 1 FROM change LIMIT 1").fetchone():
        return
    connection.execute(
        """
        INSERT INTO change (series_id, build_id, run_id, kind, status, before, after, effect, low, high, q, found_in, seen_in,
            detected_at, worse)
        SELECT p.series_id, p.build_id, p.run_id, 'step', 'detected', p.value, p.value * 1.05, 0.05, 0.03, 0.07, 0.01,
            p.occasion_id, p.occasion_id, p.measured_at, p.series_id %% 3 > 0
        FROM point AS p
        WHERE p.occasion_id = ANY(ARRAY[401, 1101]) OR (p.occasion_id = %s AND p.series_id %% 50 = 0)""",
        [NIGHTS - 3],
    )
    connection.execute(
        """
        WITH opened AS (
            INSERT INTO regression (subject_id, state, title, build_id, occasion_id, opened_at, moved_at)
            SELECT s.subject_id, 'detected', 'vllm: ttft_s worse on chat-short', c.build_id, c.found_in, c.detected_at,
                c.detected_at
            FROM change AS c JOIN series AS s ON s.id = c.series_id WHERE c.found_in = %s AND c.worse ORDER BY c.id LIMIT 10
            RETURNING id, build_id
        ), numbered AS (SELECT id, row_number() OVER (ORDER BY id) AS place FROM opened)
        INSERT INTO regression_member (regression_id, change_id)
        SELECT n.id, c.id FROM numbered AS n JOIN (
            SELECT id, row_number() OVER (ORDER BY id) AS place FROM change WHERE found_in = %s AND worse) AS c USING (place)""",
        [NIGHTS - 3, NIGHTS - 3],
    )


def _write_long_series(connection: psycopg.Connection, first: datetime) -> None:
    """One Series of LONG_NIGHTS Points; its Runs are those of the nights, for a Point must have one."""
    one = len(COMBINATIONS) * len(NAMES) + 1
    if connection.execute("SELECT 1 FROM series WHERE id = %s", [one]).fetchone():
        return
    say(f"writing a Series of {LONG_NIGHTS:,} Points")
    key = SeriesKey("vllm", "quarterly", WORKLOADS[0].identity, "ttft_s", MODELS[0], "fp8", "tp8", DEVICES[0])
    connection.execute(
        "INSERT INTO series (id, fingerprint, subject_id, branch, workload_id, metric_id, model, quantisation, parallelism, "
        "device_class, created_at) OVERRIDING SYSTEM VALUE VALUES (%s, %s, 1, 'quarterly', 1, 1, %s, 'fp8', 'tp8', %s, %s)",
        [one, key.fingerprint, MODELS[0], DEVICES[0], first],
    )
    connection.execute(
        """
        INSERT INTO point (series_id, run_id, build_id, revision_id, occasion_id, device_id, ordinal, measured_at, value, low,
            high, n, hardware_hash, epoch)
        SELECT %s, r.id, r.build_id, r.build_id, r.occasion_id, 1, r.occasion_id, r.started_at,
            v.value, v.value * 0.99, v.value * 1.01, 12, e.hardware_hash, e.epoch
        FROM run AS r JOIN environment AS e ON e.id = 1
        CROSS JOIN LATERAL (SELECT 0.2 * (1 + 0.02 * sin(r.id / 9000.0) + hashint8(r.id) / 2147483648.0 * 0.01) AS value) AS v
        WHERE r.id <= %s""",
        [one, LONG_NIGHTS],
    )


def _count_on(connection: psycopg.Connection) -> None:
    """The database's own numbers go on after those that were written, and its statistics are of these tables."""
    say("VACUUM ANALYZE")
    for table in tables.METADATA.tables.values():
        if "id" in table.c and table.c.id.identity is not None:
            last = f"SELECT max(id) FROM {table.name}"  # noqa: S608  # the tables' own names
            connection.execute(f"SELECT setval(pg_get_serial_sequence('\"{table.name}\"', 'id'), greatest(1, ({last})))")
    connection.commit()
    connection.autocommit = True
    connection.execute("VACUUM ANALYZE")


def first_night(today: datetime) -> datetime:
    """So that the last of the nights is this morning's."""
    return today.astimezone(UTC).replace(hour=2, minute=0, second=0, microsecond=0) - timedelta(days=NIGHTS - 1)


@contextmanager
def prepared(folder: Path) -> Iterator[str]:
    """The URL of a running server with the whole database, made where it is not there yet; served with perfd's own settings."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / f"ready-{VERSION}"
    if not done.exists():
        say(f"no database in {folder} yet: making one; this takes minutes and about 8 GB")
        began = time.perf_counter()
        with EmbeddedPostgres(folder, settings=CARELESS) as server:
            _make(server.url, folder)
        done.touch()
        say(f"made in {time.perf_counter() - began:.0f} s")
    with EmbeddedPostgres(folder) as server:
        migrate.upgrade(server.url)
        yield server.url


def _make(url: str, folder: Path) -> None:
    migrate.upgrade(url)
    begun = folder / "first-night"
    if not begun.exists():
        begun.write_text(first_night(datetime.now(UTC)).isoformat())
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        fill(connection, datetime.fromisoformat(begun.read_text()))
    engine = make_engine(url)
    for start in range(1, len(COMBINATIONS) * len(NAMES) + 2, 500):
        with engine.begin() as writing:
            known = (
                writing.execute(select(tables.series.c.id).where(tables.series.c.id.between(start, start + 499))).scalars().all()
            )
            latest.refresh(writing, known)
            latest.judged(writing, known, NIGHTS)
    engine.dispose()
