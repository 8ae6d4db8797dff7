"""How fast the site answers over 5,000 Series of 2,000 Points, through HTTP on loopback, beside the same questions in plain SQL.

Usage: python tests/benchmarks/site.py [--folder FOLDER] [--only WORD …] [--rounds N] [--json FILE]
The database is made in the folder on the first call and used again ever after. `perfd serve` runs in a process of its own.
Exit code 1: a goal was missed. On a machine with other work the figures say how busy it was, and little about perfd.
"""

import argparse
import json
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import numpy as np
import psycopg
import site_clients as clients
import site_database as made
from site_database import say

SERIES = len(made.COMBINATIONS) * len(made.NAMES)
LONG = SERIES + 1


@dataclass(frozen=True)
class Row:
    """One line of the table: milliseconds (or what `unit` says) at three places of the distribution."""

    what: str
    goal: float | None
    at: str
    """Which of the three the goal is for."""
    p50: float
    p95: float
    p99: float
    sql_p50: float | None = None
    unit: str = "ms"
    more: bool = False
    """Whether more is better."""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal was; None where there is none."""
        if self.goal is None:
            return None
        value: float = getattr(self, self.at)
        return value >= self.goal if self.more else value <= self.goal

    def line(self) -> str:
        """The row as text."""
        ratio = f"{self.p50 / self.sql_p50:5.1f}" if self.sql_p50 else "    -"
        sql = f"{self.sql_p50:8.1f}" if self.sql_p50 else "       -"
        goal = "" if self.goal is None else f"{self.at} {'≥' if self.more else '≤'} {self.goal:,.0f}"
        word = {None: "", True: "met", False: "MISSED"}[self.met]
        numbers = "".join(f"{value:10,.1f}" for value in (self.p50, self.p95, self.p99))
        return f"{self.what:44}{numbers} {sql} {ratio}  {self.unit:11}{goal:14} {word:7}{self.note}"


HEAD = f"{'':44}{'p50':>10}{'p95':>10}{'p99':>10} {'SQL p50':>8} ratio  {'unit':11}{'goal':14}"


def of(what: str, times_s: list[float], goal: float | None = None, at: str = "p95", sql_s: list[float] | None = None) -> Row:
    """A row of times."""
    p50, p95, p99 = (float(np.percentile(times_s, place)) * 1e3 for place in (50, 95, 99))
    return Row(what, goal, at, p50, p95, p99, statistics.median(sql_s) * 1e3 if sql_s else None)


@dataclass
class Bench:
    """What every measure needs."""

    url: str
    """Of the site."""
    database: str
    sql: psycopg.Connection
    client: httpx.Client
    rounds: int
    chance: random.Random
    last: datetime
    """When the last night was due."""
    processes: tuple[int, int]
    """The site's process, and the server's."""

    def beside(
        self, address: Callable[[], str], question: Callable[[], tuple[str, list[object]]]
    ) -> tuple[list[float], list[float]]:
        """Times through HTTP and of the plain SQL, in turns; the first of each is left out."""
        http, sql = [], []
        for _ in range(self.rounds + 1):
            asked = address()
            http.append(clients.seconds(lambda asked=asked: self.client.get(asked).raise_for_status()))
            text, values = question()
            sql.append(clients.seconds(lambda text=text, values=values: self.sql.execute(text, values).fetchall()))
        return http[1:], sql[1:]

    def stir(self) -> None:
        """Something was written about two Series, the long one among them: what the site remembers of all is old."""
        done = self.sql.execute("UPDATE series_latest SET version = version + 1 WHERE series_id = ANY(%s)", [[1, LONG]])
        if done.rowcount != 2:
            sys.exit("the database lacks the rows that say how a Series stands, so that nothing would be made anew")

    def anew(self, address: str) -> Callable[[], str]:
        """The address, which the site cannot have remembered: pages about everything may be a second old."""

        def asked() -> str:
            self.stir()
            if not address.startswith("/api/"):
                time.sleep(1.02)
            return address

        return asked

    def again(self, what: str, address: str) -> Row:
        """The times of an answer that the site remembers."""
        self.client.get(address)
        times = [clients.seconds(lambda: self.client.get(address).raise_for_status()) for _ in range(self.rounds)]
        return of(f"{what}, remembered", times)

    def some(self, many: int) -> list[int]:
        """Numbers of Series."""
        return self.chance.sample(range(1, SERIES + 1), many)

    def day(self, ago: int) -> str:
        """The date of a night."""
        return f"{self.last - timedelta(days=ago):%Y-%m-%d}"


POINTS = "SELECT series_id, ordinal, measured_at, value, low, high FROM point WHERE series_id = ANY(%s) ORDER BY 1, 2, 3, run_id"
FULL = """SELECT p.*, r.key, b.digest, v.name, v.title, o.name FROM point p
    JOIN run r ON r.id = p.run_id JOIN build b ON b.id = p.build_id
    JOIN revision v ON v.id = p.revision_id JOIN occasion o ON o.id = p.occasion_id WHERE p.series_id = %s ORDER BY p.ordinal"""
LATEST = """SELECT s.*, l.value, l.low, l.high, l.outcome, j.name, w.name, m.name FROM series_latest l
    JOIN series s ON s.id = l.series_id JOIN subject j ON j.id = s.subject_id
    JOIN workload w ON w.id = s.workload_id JOIN metric m ON m.id = s.metric_id"""
PAIRS = """SELECT b.series_id, b.value, h.value FROM point b JOIN point h USING (series_id)
    WHERE b.occasion_id = %s AND h.occasion_id = %s ORDER BY abs(h.value / b.value - 1) DESC"""


def charts(bench: Bench) -> Iterator[Row]:
    """Points of one Series and of twenty."""

    def twenty() -> str:
        return "/api/v1/points?series=" + ",".join(map(str, bench.some(20)))

    http, sql = bench.beside(twenty, lambda: (POINTS, [bench.some(20)]))
    yield of("20 Series of 2,000 Points", http, 150, sql_s=sql)
    http, sql = bench.beside(lambda: f"/api/v1/points?series={bench.some(1)[0]}", lambda: (POINTS, [bench.some(1)]))
    yield of("one Series, to be drawn", http, 50, sql_s=sql)
    http, sql = bench.beside(lambda: f"/api/v1/series/{bench.some(1)[0]}", lambda: (FULL, [bench.some(1)[0]]))
    yield of("one Series, with Runs, Builds, Revisions", http, 50, sql_s=sql)
    http, _ = bench.beside(lambda: f"/series/{bench.some(1)[0]}", lambda: ("SELECT 1", []))
    yield of("one Series, its page", http, 50)
    long = f"/api/v1/points?series={LONG}&most=2000"
    http, sql = bench.beside(bench.anew(long), lambda: (POINTS, [[LONG]]))
    yield of(f"one Series of {made.LONG_NIGHTS:,} Points, decimated", http, sql_s=sql)
    yield bench.again("one Series of 200,000", long)


def lists(bench: Bench) -> Iterator[Row]:
    """Home, compare, and the last value of all Series."""
    http, sql = bench.beside(bench.anew("/"), lambda: (LATEST + " ORDER BY w.name, j.name, m.name LIMIT 100", []))
    yield of("home page, 5,000 Series", http, 200, sql_s=sql)
    yield bench.again("home page", "/")
    two = f"/compare?base={bench.day(8)}&head={bench.day(0)}"
    http, sql = bench.beside(bench.anew(two), lambda: (PAIRS, [made.NIGHTS - 1, made.NIGHTS]))
    yield of("compare two nights, 5,000 Series", http, 200, sql_s=sql)
    yield bench.again("compare", two)
    http, sql = bench.beside(bench.anew("/api/v1/latest"), lambda: (LATEST, []))
    yield of("last value of all Series", http, 150, sql_s=sql)
    yield bench.again("last value of all", "/api/v1/latest")
    tag = {"If-None-Match": bench.client.get("/api/v1/latest").headers["etag"]}
    again = [clients.seconds(lambda: bench.client.get("/api/v1/latest", headers=tag)) for _ in range(bench.rounds)]
    yield of("the same, not modified (304)", again)


def ingest(bench: Bench) -> Iterator[Row]:
    """A Run of 5,000 Samples through the API, beside COPY of as many into the same table."""
    begin = int(time.time())
    bodies = [clients.results_file(begin * 1000 + number) for number in range(bench.rounds // 2 + 1)]
    header = {"Content-Type": "application/json"}
    http = [
        clients.seconds(lambda one=one: bench.client.post("/api/v1/results", content=one, headers=header).raise_for_status())
        for one in bodies
    ]
    run = bench.sql.execute("SELECT id, started_at FROM run WHERE started_at IS NOT NULL ORDER BY id DESC LIMIT 1").fetchone()
    if run is None:
        return
    raw = []
    for _ in bodies:
        began = time.perf_counter()
        with bench.sql.cursor() as cursor, bench.sql.transaction(force_rollback=True):
            with cursor.copy("COPY sample (run_id, metric_id, place, measured_at, value) FROM STDIN") as copy:
                copy.write(
                    "".join(f"{run[0]}\t2\t{place + 10_000}\t{run[1].isoformat()}\t0.2\n" for place in range(clients.SAMPLES))
                )
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        raw.append(time.perf_counter() - began)
    rates = sorted(clients.SAMPLES / one for one in http[1:])
    low, middle, high = (float(np.percentile(rates, place)) for place in (5, 50, 99))
    copied = clients.SAMPLES / statistics.median(raw)
    yield Row(
        "ingest of a 5,000-Sample Run",
        30_000,
        "p50",
        middle,
        low,
        high,
        copied,
        "Samples/s",
        more=True,
        note=" (p95 is the slow end)",
    )


def crowds(bench: Bench) -> Iterator[Row]:
    """Fifty people read while a night is written by another process."""
    for_s = 10.0 + bench.rounds / 2
    writer = multiprocessing.get_context("spawn").Process(
        target=clients.write_a_night, args=(bench.database, 4.0, time.time() + for_s + 3)
    )
    writer.start()
    seen = clients.crowd(bench.url, 50, for_s, 5.0, SERIES)
    writer.join()
    row = of("50 readers while a night is written", seen.times_s, 500, "p99")
    note = f" {len(seen.times_s):,} requests, {len(seen.errors)} errors" + (f": {seen.errors[0]}" if seen.errors else "")
    yield Row(**{**asdict(row), "note": note})
    yield Row("errors meanwhile", 0, "p99", len(seen.errors), len(seen.errors), len(seen.errors), unit="requests")


def browser(bench: Bench) -> Iterator[Row]:
    """What a page takes in headless Chromium."""
    with clients.browsing() as load:
        if load is None:
            say("no Chromium or no playwright: pages are not painted")
            return
        many = max(5, bench.rounds // 6)
        twenty = [load(f"{bench.url}/charts?series={','.join(map(str, bench.some(20)))}") for _ in range(many)]
        yield of("first paint of a page with 20 charts", [one["first_paint_ms"] / 1e3 for one in twenty], 700)
        yield of("its 20 charts of 2,000 Points drawn", [one["drawn_ms"] / 1e3 for one in twenty], 700)
        for word, stirred in (("", True), (", remembered", False)):
            drawn = []
            for _ in range(many):
                if stirred:
                    bench.stir()
                drawn.append(load(f"{bench.url}/series/{LONG}")["drawn_ms"] / 1e3)
            yield of(f"one chart of 200,000 Points drawn{word}", drawn, 300)
        weights = [load(f"{bench.url}/series/{bench.some(1)[0]}")["weight_bytes"] / 1e3, twenty[0]["weight_bytes"] / 1e3]
        yield Row("weight of a page, without data", 150, "p99", min(weights), max(weights), max(weights), unit="kB")


def worker(bench: Bench) -> Iterator[Row]:
    """How TTFT of a measuring child moves while a hundred people read, in turns with nobody reading.

    On cores that all share, and with what is measured on one core and the site, Postgres and the readers on the others.
    """
    for word, pinned in (("", False), (", cores apart", True)):
        figures: dict[bool, list[dict[str, float]]] = {False: [], True: []}
        with clients.cores_apart(bench.processes, pinned=pinned) as own, clients.engine(own) as url:
            for reading in (False, True, True, False):
                stop = threading.Thread(target=clients.crowd, args=(bench.url, 100, 12.0, 10.0, SERIES)) if reading else None
                if stop:
                    stop.start()
                    time.sleep(3)
                figures[reading].append(clients.ttft_ms(url, 8.0, own)["metrics"]["ttft_s"])
                if stop:
                    stop.join()
        for reading, who in ((False, "nobody reads"), (True, "100 readers")):
            p50, p95, p99 = (statistics.mean(one[place] for one in figures[reading]) * 1e3 for place in ("p50", "p95", "p99"))
            yield Row(f"TTFT of a child, {who}{word}", None, "p50", p50, p95, p99, note=" engine's own 4 ms")


def spent_ms(bench: Bench, address: str, *, stirred: bool) -> float:
    """Processor time of one answer, in the site and in Postgres together; made anew where something is stirred before."""
    times = min(bench.rounds, 20)
    again = bench.anew(address) if stirred else lambda: address
    bench.client.get(address)
    spent = 0.0
    for _ in range(times):
        asked = again()
        before = clients.processor_s(bench.processes)
        bench.client.get(asked).raise_for_status()
        spent += clients.processor_s(bench.processes) - before
    return spent / times * 1e3


def cost(bench: Bench) -> Iterator[Row]:
    """What an answer costs whatever else the machine does."""
    twenty = ",".join(map(str, bench.some(20)))
    asked = {
        "home page": "/",
        "page of one Series": "/series/1",
        "points of one Series": "/api/v1/points?series=1",
        "points of 20 Series": f"/api/v1/points?series=1,{twenty}",
        "points of a Series of 200,000": f"/api/v1/points?series={LONG}",
        "one Series with Runs and Builds": "/api/v1/series/1",
        "compare two nights": f"/compare?base={bench.day(8)}&head={bench.day(0)}",
        "last value of all Series": "/api/v1/latest",
    }
    for what, address in asked.items():
        for word, stirred in (("", True), (", remembered", False)):
            each = spent_ms(bench, address, stirred=stirred)
            yield Row(f"cost: {what}{word}", None, "p50", each, each, each)


def growth(bench: Bench) -> Iterator[Row]:
    """How the cost of an answer, made anew, grows with what it is about."""
    long = {many: f"{LONG}?stop={many}" for many in (200, 2_000, 20_000, made.LONG_NIGHTS)}
    asked = {f"points, {many:,} in the stretch": f"/api/v1/points?series={one.replace('?', '&')}" for many, one in long.items()}
    asked |= {f"with Runs and Builds, {many:,} in the stretch": f"/api/v1/series/{one}" for many, one in long.items()}
    asked |= {f"page of a Series, {many:,} Points": f"/series/{one}" for many, one in ((2_000, 1), (made.LONG_NIGHTS, LONG))}
    asked |= {f"page of a Series, {rows:,} lines": f"/series/1?rows={rows}" for rows in (30, 300, 2_000)}
    for one in ("class=chat&subject=vllm", "class=chat", ""):
        many = bench.client.get(f"/api/v1/series?limit=1&{one}").json()["total"]
        asked |= {f"last value of {many:,} Series": f"/api/v1/latest?{one}", f"home page of {many:,} Series": f"/?{one}"}
    for what, address in asked.items():
        each = spent_ms(bench, address, stirred=True)
        yield Row(f"growth: {what}", None, "p50", each, each, each)


MEASURES = {
    "cost": cost,
    "growth": growth,
    "charts": charts,
    "lists": lists,
    "ingest": ingest,
    "browser": browser,
    "crowds": crowds,
    "worker": worker,
}


def main() -> None:
    """Measure, print the table, and say whether every goal was met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "perfd-bench-site")
    parser.add_argument("--only", nargs="*", choices=sorted(MEASURES), default=sorted(MEASURES, key=list(MEASURES).index))
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows: list[Row] = []
    with made.prepared(options.folder) as database, clients.served(options.folder) as (url, site):
        sys.stdout.write(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n{HEAD}\n")
        plain = database.replace("+psycopg", "")
        with psycopg.connect(plain, autocommit=True) as sql, httpx.Client(base_url=url, timeout=120) as client:
            last = datetime.fromisoformat((options.folder / "first-night").read_text()) + timedelta(days=made.NIGHTS - 1)
            bench = Bench(url, database, sql, client, options.rounds, random.Random(5), last, (site, clients.server_pid(sql)))
            for name in options.only:
                for row in MEASURES[name](bench):
                    rows.append(row)
                    sys.stdout.write(row.line() + "\n")
                    sys.stdout.flush()
        size = sum(one.stat().st_size for one in options.folder.rglob("*") if one.is_file()) / 1e9
        sys.stdout.write(f"load after: {os.getloadavg()[0]:.1f}; the database's folder holds {size:.1f} GB\n")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) | {"met": row.met} for row in rows], indent=1))
    sys.exit(any(row.met is False for row in rows))


if __name__ == "__main__":
    main()
