"""Workload classes as Runs: sessions are told with their cost, and an engine that cannot do a Workload fails it in words."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from perfd.bench.able import longest_tokens, why_unable
from perfd.bench.ask import Asker
from perfd.bench.load import LoadPlan, PromptKind, PromptPlan
from perfd.bench.runner import run_child
from perfd.domain.job import Job
from perfd.domain.results import Results
from perfd.domain.run import RunState
from perfd.domain.suite import WorkloadClass
from perfd.errors import BadInputError
from perfd.suites import load_suite

JobMaker = Callable[..., Job]
AGENT = {
    "requests": 10,
    "concurrency": 1,
    "prompts": "agentic",
    "prompt_tokens": 400,
    "growth_tokens": 90,
    "output_tokens": 8,
    "turns": 3,
    "tools": 2,
    "agents": 1,
    "agent_turns": 2,
    "send_lag_p99_s": 5.0,
}
PRICES = """
[[prices]]
device_class = "cpu:test:t1"
per_hour = 3600.0
currency = "EUR"
valid_from = 2020-01-01
source = "A test."
"""


def samples(results: Results) -> dict[str, tuple[float, ...]]:
    return {one.name: one.values for one in results.samples}


def test_an_agents_run_tells_its_sessions_turn_by_turn_and_what_one_costs(make_job: JobMaker, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "prices.toml").write_text(PRICES)
    results = run_child(make_job(WorkloadClass.AGENTIC, AGENT, data=data), tmp_path / "results.json", 30)

    assert results.state is RunState.DONE, results.reason
    told = results.extra["sessions"]
    assert (2, 2, 5.0) == (told["sessions"], told["whole"], told["requests_per_session"]["p50"])
    assert ["0", "1", "2"] == list(told["ttft_by_turn"])
    assert 2 == len(samples(results)["session_s"])
    window_s = results.extra["utilisation"]["window_s"]
    assert {"currency": "EUR", "per_session": pytest.approx(window_s / 2)} == told["cost"]


def test_a_long_prompt_is_scored_beside_its_latency(make_job: JobMaker, tmp_path: Path) -> None:
    load = {"requests": 3, "concurrency": 1, "prompts": "long_context", "prompt_tokens": 200, "output_tokens": 8, "needles": 2}
    job = make_job(WorkloadClass.LONG_CONTEXT, {**load, "send_lag_p99_s": 5.0})
    found = samples(run_child(job, tmp_path / "results.json", 30))

    assert ((0.0, 0.0, 0.0), 3) == (found["retrieval_score"], len(found["ttft_s"]))  # its words are no numbers


@contextmanager
def telling(pages: Mapping[str, Any]) -> Iterator[Asker]:
    """A server that tells these pages as JSON, and 404 for all others."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """Nothing."""

        def do_GET(self) -> None:
            body = json.dumps(pages.get(self.path, {})).encode()
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    asker = Asker(server.server_address[1])
    try:
        yield asker
    finally:
        asker.close()
        server.shutdown()
        server.server_close()
        thread.join()


def plan(**prompts: Any) -> LoadPlan:
    return LoadPlan("http://127.0.0.1:1", "m", requests=4, concurrency=1, prompts=PromptPlan(**prompts))


LLAMACPP = {"/props": {"default_generation_settings": {"n_ctx": 2048}, "modalities": {"vision": False}}}
VLLM = {"/v1/models": {"data": [{"id": "m", "max_model_len": 2048}]}}


@pytest.mark.parametrize("pages", [LLAMACPP, VLLM])
def test_a_prompt_beyond_the_engines_context_is_told_before_the_load(pages: Mapping[str, Any]) -> None:
    with telling(pages) as asker:
        told = why_unable(asker, plan(kind=PromptKind.LONG_CONTEXT, prompt_tokens=64_000, max_tokens=256))
        fits = why_unable(asker, plan(prompt_tokens=1000))

    assert "may need 64,320 tokens of context, and the engine has 2,048" in told
    assert "" == fits


def test_an_engine_without_eyes_is_told_before_the_load() -> None:
    with telling(LLAMACPP) as asker:
        assert "sees no pictures" in why_unable(asker, plan(kind=PromptKind.MULTIMODAL))
    with telling({"/props": {"modalities": {"vision": True}}}) as asker:
        assert "" == why_unable(asker, plan(kind=PromptKind.MULTIMODAL))


@pytest.mark.parametrize("pages", [{}, {"/props": [], "/v1/models": {"data": [3]}}, {"/props": {"modalities": 7}}])
def test_an_engine_that_tells_nothing_is_asked_to_do_it(pages: Mapping[str, Any]) -> None:
    with telling(pages) as asker:
        assert "" == why_unable(asker, plan(kind=PromptKind.MULTIMODAL, prompt_tokens=1_000_000))


def test_the_longest_request_of_a_session_is_its_last_turn_and_its_answer() -> None:
    assert 180 == longest_tokens(plan(kind=PromptKind.AGENTIC, prompt_tokens=100, turns=3, growth_tokens=30, max_tokens=20))


SUITE = """question = "?"
[[workloads]]
name = "w"
class = "{kind}"
question = "?"
[workloads.parameters]
requests = 4
concurrency = 1
prompt_tokens = 9
output_tokens = 9
{more}
"""


def suite(folder: Path, kind: str, more: str = "") -> Mapping[str, Any]:
    path = folder / "s.toml"
    path.write_text(SUITE.format(kind=kind, more=more))
    return load_suite(path).workloads[0].parameters


def test_a_class_of_its_own_kind_of_prompts_has_them_by_default(tmp_path: Path) -> None:
    kinds = [suite(tmp_path, kind)["prompts"] for kind in ("long_context", "multimodal", "batch", "chat", "agentic")]

    assert ["long_context", "multimodal", "chat", "chat", "chat"] == kinds


def test_what_is_not_written_is_no_part_of_a_workloads_identity(tmp_path: Path) -> None:
    assert {"tools", "needles", "turn_tail"}.isdisjoint(suite(tmp_path, "chat"))
    assert 2.2 == suite(tmp_path, "chat", "turns = 7\nturn_tail = 2.2")["turn_tail"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("needles = 1\nasked_needles = 2", "more needles"),
        ("parallel_calls = 0", "parallel_calls"),
        ("turn_tails = 2.0", "turn_tail"),
        ('arrival = "gama"', "gamma"),
    ],
)
def test_a_mistake_of_a_class_is_told(tmp_path: Path, more: str, sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        suite(tmp_path, "chat", more)
