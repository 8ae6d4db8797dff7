"""A pull request goes through the build and measure stages: caged where nobody vouches for it, both arms alike."""

import os
from pathlib import Path

import pytest
from git_repository import Repository, new_repository

from perfd.cli.tell import Silent
from perfd.config import Config, DeviceConfig, Schedule
from perfd.domain.run import RunState
from perfd.domain.subject import Engine, Launch, Source, SourceKind
from perfd.rules.trust import VOUCHED
from perfd.stages.aside import Aside, open_aside
from perfd.stages.build import build
from perfd.stages.context import Context, worker_name
from perfd.stages.measure import measure
from perfd.stages.subjects import by_name
from perfd.store import Store

pytestmark = pytest.mark.usefixtures("cages_are_here")
SUITE = """
question = "How long does a token take?"

[[workloads]]
name = "chat"
class = "chat"
question = "Short answers, one at a time."
seed = 1
time_limit_s = 60

[workloads.parameters]
requests = 2
concurrency = 1
prompt_tokens = 16
output_tokens = 8
"""
LOOKS = "import os\nprint('seen:', os.getuid(), os.path.exists({upstream!r}), flush=True)\nraise SystemExit(3)\n"


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return new_repository(tmp_path / "upstream")


@pytest.fixture
def context(tmp_path: Path, upstream: Repository, store: Store) -> Context:
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "speed.toml").write_text(SUITE)
    launch = Launch(("{python}", "{artifact}/engine.py", "--port", "{port}"), "llamacpp", ready_timeout_s=20.0)
    engine = Engine("tiny", Source(SourceKind.GIT, str(upstream.path)), "script", launch, ("speed",), ())
    config = Config(
        path=None,
        state=tmp_path / "state",
        engines=(engine,),
        models=(),
        devices=(DeviceConfig("cpu"),),
        schedule=Schedule(aa=False),
        kernels=False,
        suites_folder=tmp_path / "suites",
    )
    return Context(config, store, Silent(), worker_name())


def first_runs(context: Context, upstream: Repository, label: str) -> list[str]:
    """What the first Run of the base and the first of the head wrote into their logs."""
    program = LOOKS.format(upstream=str(upstream.path))
    base, head = upstream.commit("Base", engine__py=program), upstream.commit("Head", engine__py=f"{program}# head\n")
    occasion = open_aside(context, Aside(by_name(context.config, "tiny"), base, head, label, "pull/1"))
    assert occasion is not None
    while build(context):
        pass
    for _ in range(2):
        assert measure(context)
    ended = [run for run in context.store.pages.occasion(occasion).runs if run.state is RunState.FAILED]
    assert {base, head} == {run.revision for run in ended}
    logs = [context.store.pages.run_page(run.key) for run in ended]
    return [line for log in logs if log is not None for line in log.log_tail.splitlines() if line.startswith("seen:")]


def test_code_that_nobody_vouches_for_is_caged_base_and_head(context: Context, upstream: Repository) -> None:
    seen = first_runs(context, upstream, "pull octo/engine#1 1..2 job 1")

    assert 2 == len(seen)
    assert [] == [line for line in seen if line.startswith(f"seen: {os.getuid()} ")]
    assert {"False"} == {line.split()[2] for line in seen}


def test_vouched_code_runs_as_any_other(context: Context, upstream: Repository) -> None:
    seen = first_runs(context, upstream, f"pull octo/engine#1 {VOUCHED} 1..2 job 1")

    assert [f"seen: {os.getuid()} True"] * 2 == seen
