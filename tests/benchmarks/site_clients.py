"""Readers of the site: one after the other, many at once, a browser; and a night that is written meanwhile."""

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psycopg
import site_database as made
from numpy.typing import NDArray

from perfd.domain.arrival import Arrival, Identity
from perfd.domain.environment import Device, Environment
from perfd.domain.metric import METRICS
from perfd.domain.results import MetricSamples, Results
from perfd.domain.run import RunState
from perfd.rules.judge import reduce_samples
from perfd.store import Store, make_engine

ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
SAMPLES = 5000
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
WATCH = """
new MutationObserver(() => {
  const figures = [...document.querySelectorAll("figure.chart")];
  if (window.drawnAt || !figures.length || !figures.every((figure) => figure.dataset.drawn)) return;
  window.drawnAt = performance.now();
  document.documentElement.dataset.allDrawn = "yes";
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-drawn"] });
"""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, int]]:
    """Address and process of `perfd serve` over the database in the folder, in a process of its own, without clock and worker."""
    command = [sys.executable, "-m", "perfd", "serve", "--no-clock", "--no-worker", "--port", "0", "--json"]
    environment = {"PERFD_STATE": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    log = folder / "serve.log"
    with log.open("w") as errors:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        url = _told(process, log)
        with httpx.Client(base_url=url, timeout=60) as client:
            client.get("/healthz").raise_for_status()
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(30)


def _told(process: "subprocess.Popen[str]", log: Path) -> str:
    """The URL in the one document that `perfd serve --json` tells; exits where it ended instead."""
    told = ""
    while process.stdout is not None and not (told.rstrip().endswith("}") and told.count("{") == told.count("}")):
        line = process.stdout.readline()
        if not line:
            sys.exit(f"perfd serve ended: {log.read_text()[-2000:]}")
        told += line
    return str(json.loads(told)["url"])


def server_pid(sql: psycopg.Connection) -> int:
    """The process that all of this server's processes are children of."""
    row = sql.execute("SELECT pg_backend_pid()").fetchone()
    return int(_stat(row[0] if row else 0)[1])


def processor_s(processes: tuple[int, int]) -> float:
    """Seconds of processor time that these processes and their living children have taken."""
    stats = [_stat(int(one.name)) for one in Path("/proc").iterdir() if one.name.isdigit()]
    mine = [stat for stat in stats if stat and (int(stat[0]) in processes or int(stat[1]) in processes)]
    return sum(int(stat[2]) + int(stat[3]) for stat in mine) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> tuple[str, ...]:
    """Process, parent, and ticks in user and system mode; empty where it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ()
    words = text.rpartition(")")[2].split()
    return (str(pid), words[1], words[11], words[12])


def seconds(work: Callable[[], object]) -> float:
    """How long the work took."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def results_file(number: int, samples: int = SAMPLES) -> bytes:
    """A results file of a Run of that number, as somebody elsewhere would send it."""
    chance = random.Random(number)
    metrics = ("ttft_s", "itl_s")
    values = [
        {
            "name": name,
            "unit": "s",
            "better": "lower",
            "values": [chance.gauss(0.2, 0.01) for _ in range(samples // len(metrics))],
        }
        for name in metrics
    ]
    began = datetime.now(UTC).isoformat(timespec="seconds")
    device = {"host": "elsewhere", "name": "all", "device_class": "gpu:benchmark"}
    environment = {"device": device, "hardware": {"gpu": "any"}, "clock_policy": "locked", "software": {"driver": "580"}}
    run = {"subject": "ingested", "revision": f"{number:040x}", "workload": "chat-short", "model": "any"}
    document = {"format": "perfd.results/1", "state": "done", "samples": values, "started_at": began, "finished_at": began}
    return json.dumps(document | {"environment": environment, "run": run}).encode()


def write_a_night(url: str, runs_per_s: float, until: float) -> int:
    """Runs of the known Series arrive one after the other until that time (time.time()); how many did. In its own process."""
    store = Store(make_engine(url))
    level = made.history(11)[-1]
    number, began = 0, time.time()
    moment = datetime.now(UTC).replace(microsecond=0)
    while time.time() < until:
        arrival = _night_run(number, moment, level)
        points = {one.name: reduce_samples(one.values, METRICS[one.name]) for one in arrival.results.samples}
        store.arrivals.take(arrival, points, datetime.now(UTC))
        number += 1
        time.sleep(max(0.0, began + number / runs_per_s - time.time()))
    return number


def _night_run(number: int, moment: datetime, level: NDArray[np.float64]) -> Arrival:
    """One Run of ten Metrics with five hundred Samples each, of an Engine, Workload, Model and device that have Series."""
    place = number % len(made.COMBINATIONS)
    one = made.COMBINATIONS[place]
    workload, device = made.WORKLOADS[one.workload], made.DEVICES[one.device]
    chance = random.Random(number)
    samples = tuple(
        MetricSamples(
            name,
            METRICS[name].unit,
            METRICS[name].better,
            tuple(float(level[place * len(made.NAMES) + at]) * chance.gauss(1, 0.01) for _ in range(500)),
        )
        for at, name in enumerate(made.NAMES)
    )
    environment = Environment(Device(f"box-{one.device}", "all", device), {"gpu": device}, "locked", {"driver": "580"})
    results = Results(RunState.DONE, samples, moment, moment + timedelta(seconds=20), environment)
    identity = Identity(
        made.ENGINES[one.engine],
        f"{moment.timestamp():040.0f}",
        workload.name,
        workload.suite,
        workload.workload_class,
        workload.parameters,
        workload.seed,
        model=made.MODELS[one.model],
        quantisation="fp8",
        parallelism="tp8",
    )
    return Arrival(identity, results, f"bench-{moment.timestamp():.0f}-{number}")


@dataclass(frozen=True)
class Habit:
    """How somebody reads."""

    think_s: float
    """Between two pages, on average."""
    series: int
    """Of how many Series."""


@dataclass
class Crowd:
    """What many readers saw."""

    times_s: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def crowd(url: str, readers: int, for_s: float, think_s: float, series: int) -> Crowd:
    """So many people read for a while: each opens a page and what its charts ask for, thinks, and opens another."""
    seen = Crowd()
    asyncio.run(_crowd(url, readers, for_s, Habit(think_s, series), seen))
    return seen


async def _crowd(url: str, readers: int, for_s: float, habit: Habit, seen: Crowd) -> None:
    limits = httpx.Limits(max_connections=readers, max_keepalive_connections=readers)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
        until = time.perf_counter() + for_s
        await asyncio.gather(*(_reader(client, random.Random(one), until, habit, seen) for one in range(readers)))


async def _reader(client: httpx.AsyncClient, chance: random.Random, until: float, habit: Habit, seen: Crowd) -> None:
    await asyncio.sleep(chance.random() * habit.think_s)
    while time.perf_counter() < until:
        one = chance.randint(1, habit.series)
        kind = chance.random()
        if kind < 0.3:
            asked = ["/"]
        elif kind < 0.4:
            asked = [f"/compare?base={_day(8)}&head={_day(1)}"]
        elif kind < 0.9:
            asked = [f"/series/{one}", f"/api/v1/series/{one}"]
        else:
            ids = ",".join(str(chance.randint(1, habit.series)) for _ in range(20))
            asked = [f"/charts?series={ids}", f"/api/v1/points?series={ids}"]
        for address in asked:
            began = time.perf_counter()
            try:
                answer = await client.get(address)
                if answer.status_code != 200:
                    seen.errors.append(f"{address}: HTTP {answer.status_code}")
            except httpx.HTTPError as error:
                seen.errors.append(f"{address}: {type(error).__name__}")
            seen.times_s.append(time.perf_counter() - began)
        await asyncio.sleep(chance.expovariate(1 / habit.think_s))


def _day(ago: int) -> str:
    return f"{datetime.now(UTC) - timedelta(days=ago):%Y-%m-%d}"


@contextmanager
def browsing() -> Iterator[Callable[[str], dict[str, float]] | None]:
    """Loads an address in headless Chromium and tells what it took; absent where there is no browser."""
    path = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright  # development only
    except ImportError:
        path = None
    if path is None:
        yield None
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)

        def load(address: str) -> dict[str, float]:
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            context.add_init_script(WATCH)
            page = context.new_page()
            page.goto(address)
            page.wait_for_selector("html[data-all-drawn]", state="attached", timeout=60_000)
            told: dict[str, float] = page.evaluate(
                """() => ({
                    first_paint_ms: performance.getEntriesByName("first-contentful-paint")[0].startTime,
                    drawn_ms: window.drawnAt,
                    weight_bytes: [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
                        .filter((one) => !one.name.includes("/api/")).reduce((sum, one) => sum + one.transferSize, 0),
                })"""
            )
            context.close()
            return told

        yield load
        browser.close()


@contextmanager
def cores_apart(processes: tuple[int, int], *, pinned: bool) -> Iterator[set[int]]:
    """The cores for what is measured: the last one alone, while these processes and this one share the others; or all of them."""
    every = os.sched_getaffinity(0)
    own = {max(every)} if pinned and len(every) > 1 else every
    _pin(processes, every - own or every)
    try:
        yield own
    finally:
        _pin(processes, every)


def _pin(processes: tuple[int, int], cores: set[int]) -> None:
    """These processes, their living children and this one run on these cores only, with all their threads."""
    stats = [_stat(int(one.name)) for one in Path("/proc").iterdir() if one.name.isdigit()]
    pids = {int(stat[0]) for stat in stats if stat and (int(stat[0]) in processes or int(stat[1]) in processes)}
    for pid in {os.getpid(), *pids}:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), cores)


def _on(cores: set[int]) -> list[str]:
    """Begins a command that runs on these cores."""
    return ["taskset", "-c", ",".join(map(str, sorted(cores)))]


@contextmanager
def engine(cores: set[int]) -> Iterator[str]:
    """The address of a tiny engine on these cores whose first token takes 4 ms."""
    from perfd.bench.engine import free_port  # only here

    port = free_port()
    process = subprocess.Popen([*_on(cores), sys.executable, str(ENGINE), "--port", str(port)], stdout=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(100):
            try:
                httpx.get(f"{url}/health", timeout=1)
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield url
    finally:
        process.kill()
        process.wait()


def ttft_ms(url: str, for_s: float, cores: set[int]) -> dict[str, Any]:
    """TTFT as `perfd load`, in a process of its own on these cores, measures it."""
    asked = ["perfd", "load", url, "--model", "tiny", "--duration", str(for_s), "--rate", "10", "--json"]
    command = [*_on(cores), sys.executable, "-m", *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    told: dict[str, Any] = json.loads(done.stdout)
    return told
