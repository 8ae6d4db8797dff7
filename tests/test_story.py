"""The product: a planted slowdown is told once, at the right commit; the same Build twice is silent; the fix closes it.

A real git repository of a real (tiny) streaming engine, real stages, builder, load client, Postgres and judge. The slowdown is
25 %: what is tested is that it is told, not how small it may be (docs/detection.md), on a machine that may be busy.
"""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from perfd.cli.tell import Silent
from perfd.config import Config, DeviceConfig, Schedule, load_config
from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind, RunState
from perfd.domain.subject import Engine, Launch, Source, SourceKind
from perfd.domain.verdict import Outcome, RegressionState
from perfd.stages.context import Context, worker_name
from perfd.stages.night import STAGES, open_night, run_to_report
from perfd.store import Store, make_engine
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
requests = 4
send_lag_p99_s = 0.05
warmup_requests = 1
concurrency = 1
prompt_tokens = 16
output_tokens = 24
"""
TOKEN_S = 0.008
"""Long beside what a scheduler takes, so that a busy machine does not hide the slowdown."""
SLOWER = 1.25
"""So much that no neighbour on the machine can hide it: how small a step is found is for tests/benchmarks to say."""
FIRST_NIGHT = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) - timedelta(days=25)


def git(folder: Path, *words: str) -> str:
    who = {f"GIT_{role}_{part}": said for role in ("AUTHOR", "COMMITTER") for part, said in AUTHOR.items()}
    done = subprocess.run(["git", "-C", str(folder), *words], env=os.environ | who, capture_output=True, text=True, check=True)
    return done.stdout.strip()


AUTHOR = {"NAME": "A. Engineer", "EMAIL": "a@example.org"}


@dataclass
class Upstream:
    """The engine's repository, whose authors commit once a day."""

    folder: Path

    def commit(self, title: str, token_s: float = TOKEN_S) -> str:
        text = ENGINE.read_text(encoding="utf-8").replace("TOKEN_S = 0.002", f"TOKEN_S = {token_s}", 1)
        (self.folder / "engine.py").write_text(f"{text}\n# {title}\n", encoding="utf-8")
        git(self.folder, "add", "engine.py")
        git(self.folder, "commit", "--quiet", "--message", title)
        return git(self.folder, "rev-parse", "HEAD")


@dataclass
class Nights:
    """perfd on this machine, night after night."""

    context: Context
    upstream: Upstream
    slow_file: Path
    now: datetime = FIRST_NIGHT
    tell: list[dict[str, Any]] = field(default_factory=list)

    def night(self) -> OccasionSummary:
        """A whole night; what it told is in `tell`."""
        occasion = Occasion(OccasionKind.NIGHT, self.now)
        self.context.store.occasions.open(occasion, self.context.now())
        run_to_report(self.context, occasion)
        self.now += timedelta(days=1)
        summary = self.context.store.pages.occasion(occasion)
        assert summary.row.report is not None
        self.tell += summary.row.report["regressions"]
        return summary

    def good_night(self) -> OccasionSummary:
        """A night on which everything could be measured."""
        summary = self.night()
        assert [] == [run.reason for run in summary.runs if run.state is not RunState.DONE]
        return summary

    def bad_night(self) -> OccasionSummary:
        """A night on which the machine is slow until the night's own Runs are over."""
        occasion = Occasion(OccasionKind.NIGHT, self.now)
        self.context.store.occasions.open(occasion, self.context.now())
        self.slow_file.write_text("1.3", encoding="utf-8")
        for stage in ("watch", "plan", "build", "measure"):
            while STAGES[stage](self.context):
                pass
        self.slow_file.unlink()
        return self.good_night()

    def regressions(self, *states: RegressionState) -> list[RegressionRow]:
        return list(self.context.store.regressions.every(states or None))


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    folder = tmp_path / "engine of ours"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    return Upstream(folder)


def configured(folder: Path, upstream: Upstream, *, aa: bool = False) -> Config:
    suites = folder / "suites"
    suites.mkdir()
    (suites / "speed.toml").write_text(SUITE, encoding="utf-8")
    command = ("{python}", "{artifact}/engine.py", "--host", "{host}", "--port", "{port}")
    knobs = {"TINY_FIRST_TOKEN_S": "0.05", "TINY_SLOW_FILE": str(folder / "slow")}
    engine = Engine(
        name="tiny",
        source=Source(SourceKind.GIT, str(upstream.folder)),
        recipe="script",
        launch=Launch(command, "llamacpp", ready_timeout_s=20.0, environment=knobs),
        suites=("speed",),
        models=(),
    )
    return Config(
        path=None,
        state=folder / "state",
        engines=(engine,),
        models=(),
        devices=(DeviceConfig("cpu"),),
        schedule=Schedule(aa=aa, confirm_minutes=1.0),
        kernels=False,
        suites_folder=suites,
    )


@pytest.fixture
def nights(tmp_path: Path, upstream: Upstream, store: Store) -> Nights:
    config = configured(tmp_path, upstream)
    return Nights(Context(config, store, Silent(), "story:1:1"), upstream, tmp_path / "slow")


def test_a_slowdown_is_told_once_at_the_right_commit_and_the_fix_closes_it(nights: Nights) -> None:
    upstream = nights.upstream
    for day in range(5):
        upstream.commit(f"Tidy module {day}")
        nights.good_night()
    nights.good_night()  # the same Build again, and again
    nights.good_night()
    assert [] == nights.tell

    upstream.commit("Rename a variable")
    nights.bad_night()  # measured again, it is not slower
    assert [] == nights.tell
    assert [RegressionState.NOISE] == [row.state for row in nights.regressions()]
    assert 1 == nights.context.store.trust.false_alarms(FIRST_NIGHT).refuted

    upstream.commit("Write docs")
    nights.good_night()
    slow = upstream.commit("Check every token twice", TOKEN_S * SLOWER)
    nights.good_night()
    nights.good_night()
    (told,) = nights.tell
    (found,) = nights.regressions(RegressionState.CONFIRMED)
    assert told["regression"] == found.id
    assert slow == found.revision
    assert {"itl_s", "tpot_s"} <= {series.key.metric for series, _ in found.members}

    upstream.commit("Check every token once")
    for _ in range(5):
        if not nights.regressions(RegressionState.FIXED):
            nights.good_night()
    (closed,) = nights.regressions(RegressionState.FIXED)
    assert found.id == closed.id
    assert [told] == nights.tell


def test_the_first_night_of_an_engine_is_unsure_and_says_how_many_are_needed(nights: Nights) -> None:
    nights.upstream.commit("Begin")

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


TOML = """
[kernels]
enabled = false

[schedule]
aa = false

[[devices]]
name = "cpu"

[[models]]
name = "dust"
file = "{folder}/engine.py"
sha256 = "{sha256}"
quantisation = "none"
licence = "ours"

[[engines]]
name = "tiny"
recipe = "script"
suites = ["speed"]
models = ["dust"]
source = {{ kind = "git", location = "{folder}" }}
launch = {{ command = ["{{python}}", "{{artifact}}/engine.py", "--port", "{{port}}"], dialect = "llamacpp" }}
"""
PATIENCE_S = 60.0


def until(is_so: Callable[[], bool]) -> None:
    """Return once it is so; a machine that takes a minute for it has failed the test."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextmanager
def worker(folder: Path, environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A real `perfd work` on the same database and state folder."""
    command = [sys.executable, "-m", "perfd", "--config", str(folder / "perfd.toml"), "work"]
    with subprocess.Popen(command, env=os.environ | environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_worker_that_is_killed_in_a_run_loses_nothing_and_duplicates_nothing(
    tmp_path: Path, upstream: Upstream, database_url: str
) -> None:
    upstream.commit("Begin")
    configured(tmp_path, upstream)  # its suites
    weights = hashlib.sha256((upstream.folder / "engine.py").read_bytes()).hexdigest()  # any file: this engine reads none
    (tmp_path / "perfd.toml").write_text(TOML.format(folder=upstream.folder, sha256=weights), encoding="utf-8")
    environ = {"PERFD_DATABASE_URL": database_url, "PERFD_STATE": str(tmp_path / "state")}
    engine = make_engine(database_url)
    context = Context(load_config(tmp_path / "perfd.toml", environ), Store(engine), Silent(), worker_name())
    occasion = open_night(context)
    for stage in ("watch", "plan"):
        assert STAGES[stage](context)

    with worker(tmp_path, environ) as process:
        until(lambda: any((tmp_path / "state" / "runs").glob("*/*")))  # the measuring child is at work
        assert 1 == context.store.runs.counts(occasion)[RunState.CLAIMED]
        process.send_signal(signal.SIGKILL)
        process.wait()
    run_to_report(context, occasion)

    summary = context.store.pages.occasion(occasion)
    assert [(RunState.DONE, 2)] == [(run.state, run.attempts) for run in summary.runs]
    assert {1} == {len(context.store.judgements.history(row.info.id)) for row in context.store.pages.series_rows()}
    page = context.store.pages.run_page(summary.runs[0].key)
    assert page is not None
    assert 3 == len(next(one.values for one in page.samples if one.name == "ttft_s"))
    engine.dispose()
