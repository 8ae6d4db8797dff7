"""The product: a planted 5 % slowdown is told once, at the right commit; the same Build twice is silent; the fix closes it.

A real git repository of a real (tiny) streaming engine, real stages, builder, load client, Postgres and judge.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from perfd.cli.tell import Silent
from perfd.config import Config, DeviceConfig, Schedule
from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind, RunState
from perfd.domain.subject import Engine, Launch, Source, SourceKind
from perfd.domain.verdict import Outcome, RegressionState
from perfd.stages.context import Context
from perfd.stages.night import run_to_report
from perfd.store import Store
from perfd.store.records import OccasionSummary, RegressionRow

ENGINE = Path(__file__).parent / "engines" / "tiny_engine.py"
SUITE = """
question = "How long does a token take?"

[[workloads]]
name = "chat"
class = "chat"
question = "Short answers, one at a time."
seed = 1
time_limit_s = 60

[workloads.parameters]
requests = 12
warmup_requests = 1
concurrency = 1
prompt_tokens = 16
output_tokens = 24
"""
TOKEN_S = 0.004
FIRST_NIGHT = datetime(2026, 1, 1, 2, tzinfo=UTC)


def git(folder: Path, *words: str) -> str:
    environment = {
        **os.environ,
        "GIT_AUTHOR_NAME": "A. Engineer",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A. Engineer",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    done = subprocess.run(["git", "-C", str(folder), *words], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@dataclass
class Upstream:
    """The engine's repository, whose authors commit once a day."""

    folder: Path
    commits: list[str] = field(default_factory=list)

    def commit(self, title: str, token_s: float) -> str:
        text = ENGINE.read_text(encoding="utf-8").replace("TOKEN_S = 0.002", f"TOKEN_S = {token_s}", 1)
        (self.folder / "engine.py").write_text(f"{text}\n# {title}\n", encoding="utf-8")
        git(self.folder, "add", "engine.py")
        git(self.folder, "commit", "--quiet", "--message", title)
        self.commits.append(git(self.folder, "rev-parse", "HEAD"))
        return self.commits[-1]


@dataclass
class Nights:
    """perfd on this machine, night after night."""

    context: Context
    upstream: Upstream
    now: datetime = FIRST_NIGHT

    def night(self) -> OccasionSummary:
        occasion = Occasion(OccasionKind.NIGHT, self.now)
        self.context.store.occasions.open(occasion, self.context.now())
        run_to_report(self.context, occasion)
        self.now += timedelta(days=1)
        summary = self.context.store.pages.occasion_named(occasion.name)
        assert summary is not None
        return summary

    def regressions(self) -> list[RegressionRow]:
        quiet = {RegressionState.SUSPECT, RegressionState.NOISE}
        return [row for row in self.context.store.regressions.every() if not {event.to_state for event in row.events} <= quiet]


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    folder = tmp_path / "engine of ours"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    return Upstream(folder)


@pytest.fixture
def nights(tmp_path: Path, upstream: Upstream, store: Store) -> Nights:
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "speed.toml").write_text(SUITE, encoding="utf-8")
    command = ("{python}", "{artifact}/engine.py", "--host", "{host}", "--port", "{port}")
    engine = Engine(
        name="tiny",
        source=Source(SourceKind.GIT, str(upstream.folder)),
        recipe="script",
        launch=Launch(command, "llamacpp", ready_timeout_s=20.0),
        suites=("speed",),
        models=(),
    )
    config = Config(
        path=None,
        state=tmp_path / "state",
        engines=(engine,),
        models=(),
        devices=(DeviceConfig("cpu"),),
        schedule=Schedule(),
        kernels=False,
        suites_folder=suites,
    )
    return Nights(Context(config, store, Silent(), "story:1:1"), upstream)


def test_a_slowdown_is_told_once_at_the_right_commit_and_the_fix_closes_it(nights: Nights) -> None:
    upstream = nights.upstream
    for day in range(5):
        upstream.commit(f"Tidy module {day}", TOKEN_S)
        nights.night()
    assert [] == nights.regressions()

    nights.night()  # the same Build again
    nights.night()
    assert [] == nights.regressions()

    slow = upstream.commit("Check every token twice", TOKEN_S * 1.05)
    nights.night()
    for day in range(4):
        upstream.commit(f"Write docs {day}", TOKEN_S * 1.05)
        nights.night()

    (found,) = nights.regressions()
    assert RegressionState.DETECTED == found.state
    assert slow == found.revision
    assert 1 == sum(event.to_state is RegressionState.DETECTED for event in found.events)
    assert {"itl_s", "tpot_s"} <= {series.key.metric for series, _ in found.members}

    upstream.commit("Check every token once", TOKEN_S)
    nights.night()
    for day in range(4):
        upstream.commit(f"Write tests {day}", TOKEN_S)
        last = nights.night()

    (closed,) = nights.regressions()
    assert found.id == closed.id
    assert RegressionState.FIXED == closed.state
    assert Outcome.WORSE not in last.verdict_counts
    assert {RunState.DONE} == {run.state for run in last.runs}


def test_the_first_night_of_an_engine_is_unsure_and_says_how_many_are_needed(nights: Nights) -> None:
    nights.upstream.commit("Begin", TOKEN_S)

    summary = nights.night()

    assert {Outcome.UNSURE} == set(summary.verdict_counts)
    assert all("needed" in judged.verdict.reason for judged in summary.verdicts)


def test_an_engine_that_cannot_be_started_is_a_finding_about_its_build(nights: Nights) -> None:
    broken = nights.upstream.folder / "engine.py"
    broken.write_text("raise SystemExit('no such device')\n", encoding="utf-8")
    git(nights.upstream.folder, "add", "engine.py")
    git(nights.upstream.folder, "commit", "--quiet", "--message", "Break it")

    summary = nights.night()

    (run,) = summary.runs
    assert RunState.FAILED == run.state
    page = nights.context.store.pages.run_page(run.key)
    assert page is not None
    assert "no such device" in page.log_tail
