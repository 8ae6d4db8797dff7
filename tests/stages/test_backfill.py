"""A budget whose pinned release was never measured gets its Baseline, once."""

import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from perfd.cli.tell import Silent
from perfd.config import Config, DeviceConfig, Schedule
from perfd.domain.budget import Budget
from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind, RunState
from perfd.domain.subject import Engine, Launch, Source, SourceKind
from perfd.stages.context import Context, worker_name
from perfd.stages.night import run_to_report
from perfd.store import Store
from perfd.store.records import OccasionRow

ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
SUITE = """
question = "How long does a token take?"

[[workloads]]
name = "chat"
class = "chat"
question = "Short answers, one at a time."
time_limit_s = 60

[workloads.parameters]
requests = 4
concurrency = 1
prompt_tokens = 16
output_tokens = 8
send_lag_p99_s = 5.0
"""
FIRST_NIGHT = datetime(2026, 11, 20, 2, tzinfo=UTC)


def commit(folder: Path, title: str, text: str) -> str:
    (folder / "engine.py").write_text(f"{text}\n# {title}\n", encoding="utf-8")
    who = {f"GIT_{role}_{part}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    for words in (("add", "engine.py"), ("commit", "--quiet", "--message", title)):
        subprocess.run(["git", "-C", str(folder), *words], env=os.environ | who, check=True)
    found = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    folder = tmp_path / "upstream"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", "--initial-branch", "main", str(folder)], check=True)
    return folder


def context_with(budget: Budget, folder: Path, upstream: Path, store: Store) -> Context:
    (folder / "suites").mkdir()
    (folder / "suites" / "speed.toml").write_text(SUITE, encoding="utf-8")
    launch = Launch(("{python}", "{artifact}/engine.py", "--port", "{port}"), "llamacpp", ready_timeout_s=20.0)
    engine = Engine("tiny", Source(SourceKind.GIT, str(upstream)), "script", launch, ("speed",), ())
    config = Config(
        path=None,
        state=folder / "state",
        engines=(engine,),
        models=(),
        devices=(DeviceConfig("cpu"),),
        schedule=Schedule(aa=False),
        budgets=(budget,),
        kernels=False,
        suites_folder=folder / "suites",
    )
    return Context(config, store, Silent(), worker_name())


def night(context: Context, number: int) -> Occasion:
    occasion = Occasion(OccasionKind.NIGHT, FIRST_NIGHT + timedelta(days=number))
    context.store.occasions.open(occasion, context.now())
    run_to_report(context, occasion)
    return occasion


def backfills(context: Context) -> list[OccasionRow]:
    return list(context.store.pages.occasions(OccasionKind.BACKFILL, 10))


def test_a_pinned_release_that_was_never_measured_is_measured_once(tmp_path: Path, upstream: Path, store: Store) -> None:
    text = ENGINE.read_text(encoding="utf-8")
    pinned = commit(upstream, "Release 1.0", text)
    newest = commit(upstream, "Go on", text)
    context = context_with(Budget("tiny", pinned[:10], 0.05), tmp_path, upstream, store)

    night(context, 0)
    night(context, 1)

    (backfill,) = backfills(context)
    assert f"tiny {pinned[:12]}" == backfill.occasion.label
    assert [(pinned, RunState.DONE)] * 3 == [(run.revision, run.state) for run in store.pages.occasion(backfill.occasion).runs]
    (ttft,) = [row.info.id for row in store.pages.series_rows() if row.info.key.metric == "ttft_s"]
    assert [pinned] * 3 + [newest] * 2 == [point.revision for point in store.judgements.history(ttft)]


def test_a_pinned_revision_that_nobody_knows_is_a_finding_of_every_night(tmp_path: Path, upstream: Path, store: Store) -> None:
    commit(upstream, "Begin", ENGINE.read_text(encoding="utf-8"))
    context = context_with(Budget("tiny", "0123456789", 0.05), tmp_path, upstream, store)

    (finding,) = store.occasions.findings(night(context, 0))

    assert "0 of the 1 revisions of tiny begin so; correct budgets.revision" in finding.sentence
    assert [] == backfills(context)
