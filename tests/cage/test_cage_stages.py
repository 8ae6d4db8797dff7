"""A pull request goes through the build and measure stages: caged where nobody vouches for it, both arms alike."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Never

import pytest
from git_repository import Repository, new_repository

from perfd.bench.cage import refuse
from perfd.bench.cage.run import NoCageError
from perfd.cli.tell import Silent
from perfd.config import Config, DeviceConfig, Schedule
from perfd.domain.build import BuildState
from perfd.domain.occasion import Occasion
from perfd.domain.run import FailureKind, RunState
from perfd.domain.subject import Engine, Launch, Source, SourceKind
from perfd.rules.trust import VOUCHED
from perfd.stages.aside import Aside, open_aside
from perfd.stages.build import build
from perfd.stages.context import Context, worker_name
from perfd.stages.measure import measure
from perfd.stages.subjects import by_name
from perfd.store import Store

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


@pytest.fixture
def no_cages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A host without namespaces: whoever asks for a cage is told so, at the one place where perfd finds out."""

    def run(*_: object) -> Never:
        raise NoCageError("untrusted code cannot be kept apart on this host (no namespaces)")

    monkeypatch.setattr(refuse, "run", run)
    refuse.refusal.cache_clear()
    yield
    refuse.refusal.cache_clear()


def opened(context: Context, upstream: Repository, label: str) -> Occasion:
    """A base and a head that would print where they run, compared under the label."""
    program = LOOKS.format(upstream=str(upstream.path))
    base, head = upstream.commit("Base", engine__py=program), upstream.commit("Head", engine__py=f"{program}# head\n")
    occasion = open_aside(context, Aside(by_name(context.config, "tiny"), base, head, label, "pull/1"))
    assert occasion is not None
    return occasion


def first_runs(context: Context, upstream: Repository, label: str) -> list[str]:
    """What the first Run of the base and the first of the head wrote into their logs."""
    occasion = opened(context, upstream, label)
    while build(context):
        pass
    for _ in range(2):
        assert measure(context)
    ended = [run for run in context.store.pages.occasion(occasion).runs if run.state is RunState.FAILED]
    assert 2 == len({run.revision for run in ended})
    logs = [context.store.pages.run_page(run.key) for run in ended]
    return [line for log in logs if log is not None for line in log.log_tail.splitlines() if line.startswith("seen:")]


@pytest.mark.usefixtures("cages_are_here")
def test_code_that_nobody_vouches_for_is_caged_base_and_head(context: Context, upstream: Repository) -> None:
    seen = first_runs(context, upstream, "pull octo/engine#1 1..2 job 1")

    assert 2 == len(seen)
    assert [] == [line for line in seen if line.startswith(f"seen: {os.getuid()} ")]
    assert {"False"} == {line.split()[2] for line in seen}


def test_vouched_code_runs_as_any_other(context: Context, upstream: Repository) -> None:
    seen = first_runs(context, upstream, f"pull octo/engine#1 {VOUCHED} 1..2 job 1")

    assert [f"seen: {os.getuid()} True"] * 2 == seen


@pytest.mark.usefixtures("no_cages")
def test_without_a_cage_no_step_of_such_a_build_is_run(context: Context, upstream: Repository) -> None:
    occasion = opened(context, upstream, "pull octo/engine#1 1..2 job 1")

    while build(context):
        pass

    builds = context.store.pages.occasion(occasion).builds
    assert [BuildState.FAILED] * 2 == [one.state for one in builds]
    assert {refuse.refusal()} == {one.log_tail for one in builds}
    assert "until then perfd refuses to build or run it" in refuse.refusal()


@pytest.mark.usefixtures("no_cages")
def test_without_a_cage_such_a_run_is_refused_once_though_its_build_is_there(context: Context, upstream: Repository) -> None:
    """Somebody vouched for the same commits before, so that they are built."""
    program = LOOKS.format(upstream=str(upstream.path))
    base, head = upstream.commit("Base", engine__py=program), upstream.commit("Head", engine__py=f"{program}# head\n")
    subject = by_name(context.config, "tiny")
    assert open_aside(context, Aside(subject, base, head, f"pull octo/engine#1 {VOUCHED} 1..2 job 1", "pull/1"))
    while build(context):
        pass
    while measure(context):
        pass
    occasion = open_aside(context, Aside(subject, base, head, "pull octo/engine#2 1..2 job 1", "pull/2"))
    assert occasion is not None

    while measure(context):
        pass

    runs = context.store.pages.occasion(occasion).runs
    assert {(RunState.FAILED, FailureKind.HARNESS, refuse.refusal())} == {(one.state, one.failure, one.reason) for one in runs}
    logs = [context.store.pages.run_page(one.key) for one in runs]
    assert [""] * len(runs) == [log.log_tail for log in logs if log is not None]
