"""What judging a night costs, database and all: many Series, each with some hundred nights and one new Point.

    python tests/benchmarks/judging.py --series 10000 --nights 200

A database of its own is made in a temporary folder and filled with noise (1 % of the level). The stage `judge` is run as it is.
Printed are CPU seconds of this process and of Postgres, and wall seconds: of a night without tracks, where all is replayed, and
of nights with them.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import text

from perfd.cli.tell import Silent
from perfd.config import Config, Schedule
from perfd.stages.context import Context
from perfd.stages.judge import judge
from perfd.store import Store, latest, open_store
from perfd.store.embedded import EmbeddedPostgres, running_postmaster

METRICS = 50
"""Series that share a Run."""
FIRST = datetime(2026, 1, 1, 2, tzinfo=UTC)
FILL = (
    "INSERT INTO subject (name, kind) VALUES ('engine', 'engine')",
    "INSERT INTO suite (name) VALUES ('suite')",
    """INSERT INTO metric (name, unit, better, kind, reduction, relevant)
       SELECT 'metric_' || m, 's', 'lower', 'speed', 'median', 0.02 FROM generate_series(1, CAST(:metrics AS int)) m""",
    """INSERT INTO workload (identity, suite_id, name, class, seed, time_limit_s, question)
       SELECT 'w' || w, 1, 'load ' || w, 'chat', 1, 60, 'how fast?' FROM generate_series(1, CAST(:workloads AS int)) w""",
    "INSERT INTO device (host, name, device_class) VALUES ('host', 'cpu', 'cpu')",
    """INSERT INTO environment (hash, device_id, hardware_hash, clock_policy, epoch) VALUES ('e', 1, 'h', 'fixed', 'x')""",
    """INSERT INTO series (fingerprint, subject_id, branch, workload_id, metric_id, device_class, created_at)
       SELECT 's' || w || '.' || m, 1, 'main', w, m, 'cpu', now()
       FROM generate_series(1, CAST(:workloads AS int)) w, generate_series(1, CAST(:metrics AS int)) m""",
)
NIGHTS = (
    """INSERT INTO revision (subject_id, branch, name, ordinal)
       SELECT 1, 'main', 'commit ' || n, n FROM generate_series(CAST(:first AS int), CAST(:last AS int)) n""",
    """INSERT INTO build (digest, subject_id, revision, spec, queued_at)
       SELECT 'build ' || n, 1, 'commit ' || n, '{}', now() FROM generate_series(CAST(:first AS int), CAST(:last AS int)) n""",
    """INSERT INTO occasion (name, kind, nominal_at, state, opened_at, moved_at)
       SELECT 'night:' || to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'night', at, 'judged', at, at
       FROM generate_series(CAST(:first AS int), CAST(:last AS int)) n,
            LATERAL (SELECT CAST(:began AS timestamptz) + n * interval '1 day' AS at) t""",
    """INSERT INTO occasion_build (occasion_id, build_id, revision_id)
       SELECT n, n, n FROM generate_series(CAST(:first AS int), CAST(:last AS int)) n""",
    """UPDATE occasion SET state = 'planned' WHERE id = :last""",
    """INSERT INTO run (key, occasion_id, build_id, workload_id, device_class, state, device_id, environment_id,
                        queued_at, finished_at)
       SELECT 'run ' || n || '.' || w, n, n, w, 'cpu', 'done', 1, 1, now(), now()
       FROM generate_series(CAST(:first AS int), CAST(:last AS int)) n, generate_series(1, CAST(:workloads AS int)) w""",
    """INSERT INTO point (series_id, run_id, build_id, revision_id, occasion_id, device_id, ordinal,
                          measured_at, value, n, hardware_hash)
       SELECT s.id, r.id, r.build_id, r.build_id, r.occasion_id, 1, r.build_id,
              CAST(:began AS timestamptz) + r.build_id * interval '1 day',
              1 + 0.01 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()), 8, 'h'
       FROM run r JOIN series s ON s.workload_id = r.workload_id WHERE r.build_id BETWEEN :first AND :last""",
)


def fill(store: Store, series: int, first: int, last: int) -> None:
    """Nights `first` to `last` (counted from 1) stand in the database; with the first one, so do the Series."""
    words = {"metrics": METRICS, "workloads": series // METRICS, "first": first, "last": last, "began": FIRST}
    with store.engine.begin() as connection:
        for statement in (*FILL, *NIGHTS) if first == 1 else NIGHTS:
            connection.execute(text(statement), {name: words[name] for name in words if f":{name}" in statement})
        latest.refresh(connection, range(1, series + 1))
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))


def postgres_cpu_s(postmaster: int) -> float:
    """CPU seconds of the server and of every process that it has or had."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text(encoding="utf-8").rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
            continue
        if int(stat.parent.name) == postmaster:
            ticks += sum(map(int, words[11:15]))  # its own, and those of processes that have ended
        elif int(words[1]) == postmaster:
            ticks += sum(map(int, words[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def judged(context: Context, postmaster: int) -> tuple[float, float, float]:
    """CPU seconds of this process and of Postgres, and wall seconds, of judging the night that waits."""
    wall, cpu, server = time.perf_counter(), time.process_time(), postgres_cpu_s(postmaster)
    if not judge(context):
        raise SystemExit("no night was waiting to be judged")
    return time.process_time() - cpu, postgres_cpu_s(postmaster) - server, time.perf_counter() - wall


def say(line: str) -> None:
    """One line on standard output, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """The table is printed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--series", type=int, default=10_000)
    options.add_argument("--nights", type=int, default=200)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="perfd-judging-") as folder:
        config = Config(path=None, state=Path(folder), engines=(), models=(), devices=(), schedule=Schedule())
        with EmbeddedPostgres(config.state) as server, open_store(config) as store:
            postmaster = running_postmaster(server.places.data)
            fill(store, asked.series, 1, asked.nights)
            context = Context(config, store, Silent(), "bench:1:1")
            load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
            say(f"{asked.series} Series, {asked.nights} nights behind them, {load}\n")
            say("| night | CPU s | CPU s of Postgres | wall s |\n|---|---|---|---|")
            for number in range(asked.nights, asked.nights + 3):
                if number > asked.nights:
                    fill(store, asked.series, number, number)
                cpu, of_server, wall = judged(context, postmaster)
                what = "replayed, as it has no tracks" if number == asked.nights else "gone on from its tracks"
                say(f"| {what} | {cpu:.1f} | {of_server:.1f} | {wall:.1f} |")
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            say(f"\npeak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
