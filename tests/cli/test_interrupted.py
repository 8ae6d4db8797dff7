"""Ctrl-C, SIGTERM, kill -9 and a database that goes away, in the middle of a night: nothing is lost, and nothing is left."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from small_night import NEVER_READY, SmallNight
from sqlalchemy import select

from perfd.cli.tell import Silent
from perfd.config import load_config
from perfd.domain.run import FailureKind, RunState
from perfd.errors import PerfdError
from perfd.stages import patience
from perfd.stages.beat import LEASE
from perfd.stages.context import Context, worker_name
from perfd.stages.device import device_class
from perfd.stages.measure import measure
from perfd.stages.night import STAGES, open_night
from perfd.store import Store, make_engine, tables


@pytest.fixture
def its_store(small_night: SmallNight) -> Iterator[Store]:
    engine = make_engine(small_night.environment["PERFD_DATABASE_URL"])
    yield Store(engine)
    engine.dispose()


def read_until(process: "subprocess.Popen[str]", word: str) -> None:
    assert process.stderr is not None
    while line := process.stderr.readline():
        if line.startswith(word):
            return
    raise AssertionError(f"{word} never came")


def the_run(store: Store) -> tuple[str, int]:
    columns = tables.run.c
    with store.engine.begin() as connection:
        row = connection.execute(select(columns.state, columns.attempts)).one()
    return row.state, row.attempts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_night_that_is_stopped_puts_its_run_back_and_says_one_sentence(
    small_night: SmallNight, its_store: Store, number: signal.Signals
) -> None:
    small_night.write(NEVER_READY)
    night = small_night.start("nightly", "--json")
    read_until(night, "measure")

    night.send_signal(number)
    out, err = night.communicate(timeout=30)

    assert 128 + number == night.returncode
    assert "" == out
    assert ["perfd: stopped by you; what was measured is kept, and the same command goes on from there"] == err.split("\n")[1:-1]
    assert (RunState.QUEUED, 0) == the_run(its_store)
    assert [] == list(small_night.state.glob("runs/*"))


def test_the_folder_of_a_killed_run_is_swept_and_its_night_finished(small_night: SmallNight) -> None:
    small_night.write(NEVER_READY)
    night = small_night.start("nightly")
    read_until(night, "measure")
    night.kill()
    night.communicate(timeout=30)

    small_night.write()
    again = small_night.run("nightly", "--json")

    assert "going on with night:" in again.stderr
    assert [] == list(small_night.state.glob("runs/*"))


def plan_a_night(context: Context) -> None:
    open_night(context)
    for name in ("watch", "plan", "build"):
        assert STAGES[name](context)


def context_of(small_night: SmallNight, store: Store, tell: Silent, command: list[str] = NEVER_READY) -> Context:
    small_night.write(command)
    config = load_config(small_night.folder / "perfd.toml", {"PERFD_STATE": str(small_night.state)})
    return Context(config, store, tell, worker_name())


def test_a_run_that_failed_on_a_full_disk_is_no_finding_about_the_build(
    small_night: SmallNight, its_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = context_of(small_night, its_store, Listener(), ["{python}", "-c", "raise SystemExit(1)", "{port}"])
    plan_a_night(context)
    monkeypatch.setattr("perfd.stages.measure.ROOM_BYTES", sys.maxsize)

    assert measure(context)

    assert (RunState.QUEUED, 1) == the_run(its_store)
    assert not measure(context)  # not before half a minute has passed
    assert measure(replace(context, now=lambda: datetime.now(UTC) + timedelta(minutes=1)))
    columns = tables.run.c
    with its_store.engine.begin() as connection:
        row = connection.execute(select(columns.failure, columns.reason, columns.tries)).one()
    assert FailureKind.HARNESS == row.failure
    assert row.reason.startswith("the disk is full")
    assert [(FailureKind.HARNESS, row.reason[:16])] == [(one["failure"], one["reason"][:16]) for one in row.tries]


class Listener(Silent):
    """Remembers what was said."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def say(self, stage: str, sentence: str) -> None:  # noqa: ARG002  # as everybody who listens is told
        self.heard.append(sentence)


class Thief(Listener):
    """Takes the Run away at the moment when its progress is told, which is after the claim and before the child starts."""

    def __init__(self, store: Store, wanted: str) -> None:
        super().__init__()
        self.store, self.wanted = store, wanted

    def steps(self, stage: str, done: int, total: int, sentence: str) -> None:  # noqa: ARG002  # as everybody who listens is told
        now = datetime.now(UTC)
        assert 1 == self.store.runs.requeue_lapsed(now, lambda _: True)
        assert self.store.runs.claim(self.wanted, "elsewhere:1:1", now, LEASE) is not None


def test_a_run_that_another_worker_took_is_left_to_it_and_the_loop_goes_on(small_night: SmallNight, its_store: Store) -> None:
    context = context_of(small_night, its_store, Silent())
    plan_a_night(context)
    thief = Thief(its_store, device_class(context.config))

    assert measure(replace(context, tell=thief))

    assert (RunState.CLAIMED, 2) == the_run(its_store)
    assert "was taken over by another worker" in thief.heard[-1]


def test_a_worker_that_is_to_end_gives_its_run_back_at_the_next_heartbeat(small_night: SmallNight, its_store: Store) -> None:
    context = context_of(small_night, its_store, Silent())
    plan_a_night(context)
    context.over.set()

    assert measure(context)

    assert (RunState.QUEUED, 0) == the_run(its_store)


def test_a_database_that_comes_back_is_waited_for(small_night: SmallNight, its_store: Store, tmp_path: Path) -> None:
    tell = Listener()
    context = context_of(small_night, its_store, tell)
    away = make_engine(f"postgresql+psycopg://perfd@/perfd?host={tmp_path}")
    stores = iter([Store(away), its_store])

    def ask() -> None:
        next(stores).pages.ping()

    patience.patiently(context, ask)

    assert ["it does not answer", "it answers again"] == [sentence.split(" (")[0] for sentence in tell.heard]


def test_a_database_that_stays_away_ends_in_a_sentence(
    small_night: SmallNight, its_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PAUSES_S", (0.0, 0.0))
    context = context_of(small_night, its_store, Listener())
    away = Store(make_engine(f"postgresql+psycopg://perfd@/perfd?host={tmp_path}"))

    with pytest.raises(PerfdError, match="start the same command again"):
        patience.patiently(context, away.pages.ping)


def test_the_exit_code_survives_a_reader_that_has_gone(small_night: SmallNight) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    night = subprocess.Popen(
        [sys.executable, "-m", "perfd", "nightly"],
        cwd=small_night.folder,
        env=small_night.whole_environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writing)
    _, err = night.communicate(timeout=60)

    assert 0 == night.returncode, err
    assert "Traceback" not in err
