"""A worker that comes back from the dead: a real `perfd work` stands still beyond its lease, and is refused afterwards."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from small_night import NEVER_READY, SERVES, SmallNight
from sqlalchemy import func, select

from perfd.bench import processes
from perfd.builders import artifact, words
from perfd.cli.tell import Silent
from perfd.config import load_config
from perfd.domain.build import BuildOutcome, BuildState
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.stages.context import Context, utc_now, worker_name
from perfd.stages.device import device_class
from perfd.stages.night import STAGES, look_around, open_night
from perfd.store import Store, make_engine, tables
from perfd.store.records import ClaimedRun, Written

LEASE = timedelta(seconds=1)
OTHER = "elsewhere:1:1"
WITHIN_S = 60.0


@pytest.fixture
def its_context(small_night: SmallNight) -> Iterator[Context]:
    engine = make_engine(small_night.environment["PERFD_DATABASE_URL"])
    config = load_config(small_night.folder / "perfd.toml", {"PERFD_STATE": str(small_night.state)})
    yield Context(config, Store(engine), Silent(), worker_name())
    engine.dispose()


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def write(small_night: SmallNight, command: list[str]) -> None:
    small_night.write(command)
    path = small_night.folder / "perfd.toml"
    text = path.read_text(encoding="utf-8").replace("confirm_minutes = 0", f"lease_s = {LEASE.total_seconds()}", 1)
    path.write_text(text, encoding="utf-8")


@contextmanager
def worker(small_night: SmallNight) -> Iterator["subprocess.Popen[str]"]:
    process = small_night.start("work")
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.communicate()


def stand_still_beyond_the_lease(process: "subprocess.Popen[str]", context: Context) -> None:
    process.send_signal(signal.SIGSTOP)
    time.sleep(LEASE.total_seconds() + 0.2)
    look_around(context)


def heard(process: "subprocess.Popen[str]", words: str) -> bool:
    assert process.stderr is not None
    return any(words in line for line in process.stderr)


def the_run(context: Context) -> tuple[str, str | None, int]:
    run = tables.run.c
    with context.store.engine.begin() as connection:
        row = connection.execute(select(run.state, run.claimed_by, run.token)).one()
    return row.state, row.claimed_by, row.token


def count(context: Context, name: str) -> int:
    with context.store.engine.begin() as connection:
        return int(connection.execute(select(func.count()).select_from(tables.METADATA.tables[name])).scalar_one())


def measuring(small_night: SmallNight) -> bool:
    return any(processes.working_in(folder) for folder in small_night.state.glob("runs/*"))


def taken_over(context: Context) -> ClaimedRun:
    claimed = context.store.runs.claim(device_class(context.config), OTHER, utc_now(), timedelta(minutes=1))
    assert claimed is not None
    return claimed


def plan(context: Context, *stages: str) -> None:
    open_night(context)
    for name in ("watch", "plan", *stages):
        assert STAGES[name](context)


@pytest.mark.parametrize(("command", "refused"), [(SERVES, "these results were not stored"), (NEVER_READY, "was taken over")])
def test_results_and_heartbeats_of_a_worker_from_the_dead_are_refused(
    small_night: SmallNight, its_context: Context, command: list[str], refused: str
) -> None:
    write(small_night, command)
    plan(its_context, "build")
    with worker(small_night) as process:
        until(lambda: measuring(small_night))
        stand_still_beyond_the_lease(process, its_context)
        if command is SERVES:
            until(lambda: not measuring(small_night))  # the child went on, and left its results
        claimed = taken_over(its_context)

        process.send_signal(signal.SIGCONT)

        assert heard(process, refused)
        assert (RunState.CLAIMED, OTHER, 2) == the_run(its_context)
        assert 0 == count(its_context, "sample")
        until(lambda: not measuring(small_night))
    died = Results(RunState.FAILED, (), utc_now(), utc_now(), None, failure=FailureKind.DIED, reason="it died elsewhere")
    assert Written.STORED is its_context.store.runs.finish(claimed, died, {}, utc_now())
    assert (RunState.FAILED, None, 2) == the_run(its_context)


def test_a_build_of_a_worker_from_the_dead_is_refused(small_night: SmallNight, its_context: Context) -> None:
    write(small_night, SERVES)
    plan(its_context)
    builds = its_context.store.builds
    mine = builds.claim(OTHER, utc_now(), timedelta(minutes=1))
    assert mine is not None
    assert builds.give_back(mine)
    with worker(small_night) as process:
        with artifact.making(mine.spec, small_night.state, words.quiet):  # the worker waits for this with its Build claimed
            until(lambda: builds.state(mine.spec.digest) is BuildState.BUILDING)
            stand_still_beyond_the_lease(process, its_context)
            claimed = builds.claim(OTHER, utc_now(), timedelta(minutes=1))
            assert claimed is not None
            process.send_signal(signal.SIGCONT)

        assert heard(process, "another worker has it, so this was not stored")
        assert BuildState.BUILDING is builds.state(mine.spec.digest)
    failed = BuildOutcome(mine.spec, None, Path(), "no such compiler", 1.0)
    assert builds.finish(claimed, failed, utc_now())
    assert BuildState.FAILED is builds.state(mine.spec.digest)
