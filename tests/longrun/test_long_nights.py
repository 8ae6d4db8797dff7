"""Long Runs through the stages: stored as they come, told, judged, interrupted by kill -9, and shown."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fitting import CHEAT, HONEST, suite_text, write_data
from small_night import SmallNight

from perfd.bench.cage.refuse import refusal
from perfd.domain.run import RunState
from perfd.rules.gaming import Course, course
from perfd.store import Store, make_engine
from perfd.store.records import OccasionSummary

pytestmark = pytest.mark.skipif(bool(refusal()), reason=refusal())


@pytest.fixture
def night(tmp_path: Path, database_url: str) -> SmallNight:
    """A small night whose only Workload is a long Run; `work` decides how it goes."""
    made = SmallNight(tmp_path, {"PERFD_DATABASE_URL": database_url})
    made.write()
    return made


@pytest.fixture
def kept(database_url: str) -> Iterator[Store]:
    """The store that the night fills."""
    engine = make_engine(database_url)
    yield Store(engine)
    engine.dispose()


def prepare(night: SmallNight, work: str, pause_s: float = 0.2) -> None:
    write_data(night.folder / "suites" / "data", work)
    (night.folder / "suites" / "speed.toml").write_text(suite_text(pause_s), encoding="utf-8")
    settings = night.folder / "perfd.toml"
    beats = settings.read_text(encoding="utf-8").replace("confirm_minutes = 0", "confirm_minutes = 0, lease_s = 6")
    settings.write_text(beats, encoding="utf-8")  # a heartbeat a second, which brings what was handed in to the database


def last(store: Store) -> OccasionSummary:
    return store.pages.occasion(store.pages.nights(1)[0].occasion)


def test_a_gamed_night_stores_its_submissions_tells_gaming_and_reports_the_finding(night: SmallNight, kept: Store) -> None:
    prepare(night, CHEAT)
    ran = night.run("nightly")

    assert "on the held-out set" in ran.stderr
    assert "gaming, not progress" in ran.stderr
    summary = last(kept)
    (run,) = summary.runs
    assert RunState.DONE is run.state
    tries = kept.submissions.of_run(run.id)
    assert [4] == [len(came) for came in tries.values()]
    assert Course.GAMING is course(tries[1])
    assert ["gaming, not progress" in finding.sentence for finding in summary.findings] == [True]
    (series,) = kept.pages.series_rows()
    assert ("squared_error", "long_run") == (series.info.key.metric, series.info.workload_class)


def test_kill_9_leaves_what_was_handed_in_and_the_run_begins_anew(night: SmallNight, kept: Store) -> None:
    prepare(night, HONEST, pause_s=1.5)
    first = night.start("nightly")
    run_id = wait_for_a_submission(kept)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    ended = night.run("nightly")

    assert ended.returncode == 0, ended.stderr
    tries = kept.submissions.of_run(run_id)
    assert 2 == len(tries)
    assert len(tries[1]) < 4 == len(tries[2])
    states = [run.state for one in kept.pages.nights(9) for run in kept.pages.occasion(one.occasion).runs if run.id == run_id]
    assert [RunState.DONE] == states


def wait_for_a_submission(store: Store) -> int:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        nights = store.pages.nights(1)
        for run in store.pages.occasion(nights[0].occasion).runs if nights else ():
            if store.submissions.of_run(run.id):
                return run.id
        time.sleep(0.2)
    raise AssertionError("nothing was handed in for a minute")
