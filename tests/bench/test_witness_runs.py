"""The witness around real Runs: what a server does is seen, told in words, and voids the Run where it changes numbers."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from perfd.bench.runner import run_child
from perfd.domain.job import Job
from perfd.domain.results import Results
from perfd.domain.run import RunState
from perfd.domain.subject import Launch

JobMaker = Callable[..., Job]
METERED = Path(__file__).parents[1] / "engines" / "metered_engine.py"
LOAD: dict[str, Any] = {
    "requests": 8,
    "warmup_requests": 1,
    "concurrency": 2,
    "prompts": "chat",
    "api": "chat",
    "prompt_tokens": 32,
    "output_tokens": 8,
    "send_lag_p99_s": 5.0,
}


@pytest.fixture
def run(make_job: JobMaker, tmp_path: Path) -> Callable[..., Results]:
    def go(load: dict[str, Any] | None = None, **knobs: object) -> Results:
        environment = {
            name if name.startswith("TINY_") else f"METERED_{name.upper()}": str(value) for name, value in knobs.items()
        }
        command = (sys.executable, str(METERED), "--host", "{host}", "--port", "{port}")
        launch = Launch(command, "openai", ready_timeout_s=20.0, environment=environment)
        return run_child(make_job(parameters={**LOAD, **(load or {})}, launch=launch), tmp_path / "results.json", 60)

    return go


def findings(results: Results) -> dict[str, dict[str, Any]]:
    found = {one["name"]: one for one in results.extra["witness"]["findings"]}
    return {name: one for name, one in found.items() if name != "other_engines"}  # other tests' engines may run beside


def test_a_server_that_did_what_was_asked_has_no_findings(run: Callable[..., Results]) -> None:
    results = run()

    assert results.state is RunState.DONE, results.reason
    assert findings(results) == {}
    samples = {one.name: one.values for one in results.samples}
    assert samples["kv_pool_tokens"] == (16_000.0,)
    assert results.extra["witness"]["server"]["engine"] == "vLLM"
    assert results.extra["cache"]["identity_holds"]
    assert results.extra["cache"]["policy"] == "blocks: LRU over blocks of 16 tokens, 1,000 blocks"


def test_looking_tells_its_interval_and_its_cost(run: Callable[..., Results]) -> None:
    looking = run().extra["witness"]["looking"]

    assert looking["every_s"] == 1.0
    assert looking["looks"] >= 1
    assert looking["unanswered"] == 0
    assert looking["own_cpu_s"] < 0.1 * looking["looks"]


def test_preemptions_annotate_the_run(run: Callable[..., Results]) -> None:
    results = run(preemptions=3)

    assert results.state is RunState.DONE
    sentence = findings(results)["preemptions"]["sentence"]
    assert sentence.startswith("3 preemptions during the Run")
    assert sentence in results.extra["annotations"]


def test_tokens_that_nobody_here_asked_for_void_the_run(run: Callable[..., Results]) -> None:
    results = run(strangers=500)

    assert results.state is RunState.VOID
    assert "the server counted 564 output tokens and the client 64: somebody else used the server" in results.reason


def test_a_concurrency_that_the_server_never_ran_is_told(run: Callable[..., Results]) -> None:
    results = run({"requests": 6, "output_tokens": 100, "concurrency": 3}, slots=1, TINY_TOKEN_S=0.005)

    assert results.state is RunState.DONE, results.reason
    told = findings(results)["concurrency_not_reached"]
    assert (told["seen"]["asked"], told["seen"]["most_running"]) == (3, 1.0)
    assert max(results.extra["witness"]["over_time"]["waiting"]) >= 1


def test_a_warm_cache_voids_the_run(run: Callable[..., Results]) -> None:
    results = run(cached=0.5)

    assert results.state is RunState.VOID
    assert "of the prompt tokens came out of the engine's cache although every prompt is fresh" in results.reason


def test_a_pool_that_differs_between_starts_differs_in_its_metric(run: Callable[..., Results]) -> None:
    pools = [{one.name: one.values for one in run(blocks=blocks).samples}["kv_pool_tokens"] for blocks in (1001, 1095)]

    assert pools == [(16_000.0,), (17_504.0,)]


def test_a_server_without_metrics_says_what_cannot_be_known(run: Callable[..., Results]) -> None:
    results = run(blind=1)

    assert results.state is RunState.DONE, results.reason
    witness = results.extra["witness"]
    assert witness["server"]["engine"] == "unknown"
    assert "no metrics known here" in witness["server"]["cannot_know"][0]
    assert "kv_pool_tokens" not in {one.name for one in results.samples}


def test_a_process_that_outlives_its_engine_is_told_and_ended(run: Callable[..., Results], tmp_path: Path) -> None:
    pid_file = tmp_path / "grandchild"

    results = run(TINY_FORGET_PID=pid_file)

    pid = int(pid_file.read_text())
    [told] = findings(results)["engine_left_behind"]["seen"]["processes"]
    assert told.endswith(f"(pid {pid})")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
