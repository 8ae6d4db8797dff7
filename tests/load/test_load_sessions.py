"""Sessions: turns wait for answers and pauses, sub-agents run side by side, live replies come back, and all of it is told."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from scripted_server import DONE, HEAD, Close, Script, chunk, delta, event, finish, plain, scripted, stream, usage

from perfd.bench.load import LoadPlan, PromptKind, PromptPlan, RequestOutcome, report_json, run_load
from perfd.bench.load.events import TokenBasis
from perfd.bench.load.plan import AgentPlan
from perfd.bench.load.prompts import PromptMaker, maker_for
from perfd.bench.load.servercount import server_tokenizer
from perfd.bench.load.sessions import engine_s, sessions_json
from perfd.bench.load.vocabulary import ESTIMATED, estimate_tokens

AGENT = PromptPlan(
    PromptKind.AGENTIC, prompt_tokens=900, turns=3, growth_tokens=120, max_tokens=8, reuse_prefix=True, agent=AgentPlan(tools=2)
)


def plan(url: str, prompts: PromptPlan = AGENT, **changes: Any) -> LoadPlan:
    given: dict[str, Any] = {"requests": 3, "concurrency": 1, "stall_s": 5.0, "ahead_s": 0.001, **changes}
    return LoadPlan(url=url, model="m", prompts=prompts, **given)


def test_an_agents_requests_carry_tools_calls_and_results() -> None:
    with scripted(lambda _: plain()) as server:
        report = run_load(plan(server.url))

    roles = [[message["role"] for message in body["messages"]] for body in server.requests]
    assert [["user"], ["user", "assistant", "tool"], ["user", *("assistant", "tool") * 2]] == roles
    assert [2, 2, 2] == [len(body["tools"]) for body in server.requests]
    assert server.requests[2]["messages"][1]["tool_calls"][0]["id"] == server.requests[2]["messages"][2]["tool_call_id"]
    assert [0, 1, 2] == [trace.turn for trace in report.traces]


def test_a_turn_is_due_after_the_answer_and_its_pause() -> None:
    from dataclasses import replace

    with scripted(lambda _: plain()) as server:
        report = run_load(plan(server.url, replace(AGENT, think_s=0.05)))

    ends = [trace.end_ns + 50_000_000 for trace in report.traces]
    assert ends[:2] == [trace.intended_ns for trace in report.traces[1:]]


def test_sub_agents_run_side_by_side_and_their_session_waits_for_all_of_them() -> None:
    prompts = PromptPlan(
        PromptKind.AGENTIC,
        prompt_tokens=600,
        turns=3,
        growth_tokens=60,
        max_tokens=8,
        agent=AgentPlan(tools=1, agents=2, agent_turns=2),
    )
    both = threading.Barrier(2, timeout=10)

    def script(number: int) -> Script:
        if number in {2, 3}:
            both.wait()  # only answers when both sub-agents have asked
        return plain()

    with scripted(script) as server:
        report = run_load(plan(server.url, prompts, requests=7))
    by_place = {(trace.session, trace.turn): trace for trace in report.traces}
    ends = [by_place[session, 1].end_ns for session in (1, 2)]

    assert (7, 0) == (report.completed, report.failed)
    assert [None, 0, 0] == [by_place[session, 0].parent for session in (0, 1, 2)]
    assert by_place[0, 1].end_ns == by_place[1, 0].intended_ns == by_place[2, 0].intended_ns
    assert max(ends) == by_place[0, 2].intended_ns


def test_a_session_with_sub_agents_is_one_session() -> None:
    prompts = PromptPlan(
        PromptKind.AGENTIC, prompt_tokens=300, turns=2, growth_tokens=30, max_tokens=8, agent=AgentPlan(agents=2, agent_turns=1)
    )
    with scripted(lambda _: plain()) as server:
        report = run_load(plan(server.url, prompts, requests=8, concurrency=2))
    told = report_json(report)["sessions"]

    assert (2, 2, 4.0) == (told["sessions"], told["whole"], told["requests_per_session"]["p50"])
    assert {"0": 2, "1": 2} == {turn: one["requests"] for turn, one in told["ttft_by_turn"].items()}
    assert 2 == len(report.samples["session_s"])


def test_the_last_session_is_cut_to_the_requests_that_were_asked() -> None:
    with scripted(lambda _: plain()) as server:
        report = run_load(plan(server.url, requests=5))

    assert [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)] == [(trace.session, trace.turn) for trace in report.traces]


def test_an_open_load_sends_as_many_requests_as_were_asked_too() -> None:
    with scripted(lambda _: plain()) as server:
        report = run_load(plan(server.url, requests=4, concurrency=None, rate_rps=300.0))

    assert (4, 4, 0) == (report.sent, report.completed, report.not_sent)


def test_a_live_reply_stands_in_the_next_prompt_and_in_the_prompt_made_again() -> None:
    from dataclasses import replace

    prompts = replace(AGENT, live=True)

    def script(number: int) -> Script:
        return stream(
            delta(reasoning_content="hm "), delta(content=f"reply {number} "), delta(content="é"), finish(), usage(3), DONE
        )

    with scripted(script) as server:
        load = plan(server.url, prompts)
        report = run_load(load)
    said = [[m["content"] for m in body["messages"] if m["role"] == "assistant"] for body in server.requests]
    calls = [m["tool_calls"] for m in server.requests[2]["messages"] if m["role"] == "assistant"]
    again = maker_for(load, ESTIMATED, [replace(trace, text="x") for trace in report.traces]).chain(0)

    assert [[], ["reply 0 é"], ["reply 0 é", "reply 1 é"]] == said
    assert 2 == len(calls)
    assert [[], ["x"], ["x", "x"]] == [[part.content for part in one.parts if part.role == "assistant"] for one in again]


def test_an_answer_is_scored_beside_its_latency() -> None:
    prompts = PromptPlan(PromptKind.LONG_CONTEXT, prompt_tokens=300, max_tokens=8, occasion="o")
    [wanted] = PromptMaker(prompts).chain(0)[0].wanted

    def script(number: int) -> Script:
        return stream(delta(content=f"It is {wanted if number == 0 else 'unknown'}."), finish(), usage(3), DONE)

    with scripted(script) as server:
        report = run_load(plan(server.url, prompts))

    assert (1.0, 0.0, 0.0) == report.samples["retrieval_score"]
    assert {"mean": pytest.approx(1 / 3), "requests": 3} == report_json(report)["retrieval_score"]
    assert 3 == len(report.samples["ttft_s"])


def test_requests_that_stand_alone_have_no_sessions() -> None:
    with scripted(lambda _: plain()) as server:
        report = run_load(plan(server.url, PromptPlan(max_tokens=8)))

    assert sessions_json(report.traces) is None
    assert "session_s" not in report.samples


def test_a_session_with_a_failed_request_has_no_time() -> None:
    with scripted(lambda number: [Close()] if number == 1 else plain()) as server:
        report = run_load(plan(server.url, keep_alive=False))
    told = report_json(report)["sessions"]

    assert (1, 0, None) == (told["sessions"], told["whole"], told["session_s"])


def test_time_under_way_leaves_pauses_out() -> None:
    from dataclasses import replace

    with scripted(lambda _: plain()) as server:
        report = run_load(plan(server.url, replace(AGENT, think_s=0.05)))
    waited = sum(trace.chunks[-1][0] - trace.intended_ns for trace in report.traces) * 1e-9

    assert pytest.approx(waited) == engine_s(report.traces)
    assert report.samples["session_s"][0] >= waited + 0.1


def test_a_request_that_is_sent_again_goes_on_a_new_connection() -> None:
    """The server closes every kept connection on its second request; another kept one would be closed just so."""
    connection = threading.local()  # the server has a thread for each
    together = threading.Barrier(2, timeout=10)

    def script(number: int) -> Script:
        connection.requests = getattr(connection, "requests", 0) + 1
        if connection.requests > 1:
            return [Close()]
        if number < 2:
            together.wait()  # two connections are open and kept
        return plain()

    with scripted(script) as server:
        report = run_load(plan(server.url, PromptPlan(max_tokens=8), requests=8, concurrency=2))

    assert (8, 0) == (report.completed, report.failed)
    assert 6 == sum(trace.retried for trace in report.traces)


def test_tokens_of_chunks_are_counted_by_the_tokenizer_where_the_server_tells_nothing() -> None:
    script = stream(delta(content="one two"), delta(content=" three"), finish(), DONE)
    with scripted(lambda _: script) as server:
        report = run_load(plan(server.url, PromptPlan(max_tokens=8), requests=1), tokenize=lambda text: len(text.split()))

    [trace] = report.traces
    assert (TokenBasis.TOKENIZER, 3) == (trace.token_basis, trace.output_tokens)
    assert report_json(report)["tokens"]["estimated"]


def test_the_window_ends_when_the_raw_log_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    from perfd.bench.load import loop

    monkeypatch.setattr(loop, "MOST_LOG_BYTES", 2000)
    monkeypatch.setattr(loop, "SWEEP_NS", 1)
    with scripted(lambda _: plain()) as server:
        report = run_load(plan(server.url, PromptPlan(max_tokens=8), requests=500))

    assert 0 < report.sent < 500
    assert report.sent == report.completed
    assert "full" in str(report_json(report)["client"]["raw_log"])


def test_a_server_that_counts_tokens_is_asked_in_its_own_form() -> None:
    def answering(fields: set[str], told: dict[str, Any]) -> Any:
        def script(number: int) -> Script:
            body = server.requests[number]
            good = fields <= set(body)
            data = json.dumps(told if good else {"error": "unknown"}).encode()
            status = b"200 OK" if good else b"400 Bad"
            return [b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\n\r\n" % len(data) + data, Close()]

        return script

    for fields, told in (({"content"}, {"tokens": [1, 2, 3]}), ({"prompt"}, {"count": 3})):
        with scripted(answering(fields, told)) as server:
            count = server_tokenizer(plan(server.url))
            assert count is not None
            assert 3 == count("some text")


def test_a_server_that_counts_nothing_leaves_an_estimate() -> None:
    with scripted(lambda _: [HEAD, chunk(event(delta(content="w"))), Close()]) as server:
        assert server_tokenizer(plan(server.url)) is None
    assert [0, 1, 3] == [estimate_tokens(text) for text in ("", "abc", "abcdefghi")]


def test_a_kept_log_holds_sessions_and_scores(tmp_path: Path) -> None:
    from perfd.bench.load import read_events

    path = tmp_path / "events.jsonl"
    prompts = PromptPlan(PromptKind.LONG_CONTEXT, prompt_tokens=300, max_tokens=8)
    with scripted(lambda _: plain()) as server:
        report = run_load(plan(server.url, prompts, requests=2, events=path))
    log = read_events(path)

    assert [trace.retrieval for trace in log.traces] == [0.0, 0.0]
    assert report.traces == log.traces
    assert {RequestOutcome.DONE} == {trace.outcome for trace in log.traces}
