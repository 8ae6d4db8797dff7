"""Every shape of stream gives the exact tokens that were sent, through real sockets."""

from pathlib import Path
from typing import Any

import pytest
from scripted_server import DONE, HEAD, LAST, Close, Script, Wait, chunk, delta, event, finish, plain, scripted, stream, usage

from perfd.bench.load import (
    Api,
    Arrival,
    LoadPlan,
    LoadReport,
    PromptKind,
    PromptPlan,
    RequestOutcome,
    RequestTrace,
    Slo,
    loop,
    read_events,
    report_from,
    report_json,
    run_load,
)
from perfd.bench.load.events import TokenBasis


def load(script: Script, **changes: Any) -> LoadReport:
    with scripted(lambda _: script) as server:
        given = {
            "requests": 1,
            "concurrency": 1,
            "prompts": PromptPlan(max_tokens=16, prompt_tokens=20),
            "keep_text": True,
            "ahead_s": 0.005,
            **changes,
        }
        return run_load(LoadPlan(url=server.url, model="m", **given))


def only(script: Script, **changes: Any) -> RequestTrace:
    report = load(script, **changes)
    assert (RequestOutcome.DONE, 1) == (report.traces[0].outcome, report.completed), report.traces[0].detail
    return report.traces[0]


def words(count: int) -> list[dict[str, Any]]:
    return [delta(content="w ") for _ in range(count)]


def tokens_of(trace: RequestTrace) -> list[int]:
    return [tokens for _, tokens in trace.chunks]


def test_one_token_an_event() -> None:
    trace = only(plain(4))

    assert (4, 4, TokenBasis.USAGE, "length", "w w w w ") == (
        trace.output_tokens,
        trace.events,
        trace.token_basis,
        trace.finish_reason,
        trace.text,
    )
    assert (5, 4, 200) == (trace.prompt_tokens, trace.completion_tokens, trace.status)


def test_an_early_role_chunk_is_no_token() -> None:
    trace = only(stream(delta(role="assistant", content=""), *words(3), finish(), usage(3), DONE))

    assert (3, 3) == (trace.output_tokens, trace.events)
    assert trace.first_byte_ns is not None
    assert trace.chunks[0][0] >= trace.first_byte_ns


def test_four_tokens_an_event_are_counted_by_usage_and_marked_as_an_estimate() -> None:
    trace = only(stream(*(delta(content="w w w w ") for _ in range(3)), finish(), usage(12), DONE))

    assert (12, 3, TokenBasis.SPLIT, True) == (
        trace.output_tokens,
        trace.events,
        trace.token_basis,
        trace.token_basis.is_estimate,
    )


def test_running_usage_tells_the_tokens_of_each_event() -> None:
    events = [
        {**delta(content=text), "usage": {"completion_tokens": upto}} for text, upto in [("a b c", 3), ("d", 4), ("e f", 6)]
    ]

    trace = only(stream(*events, finish(), usage(6), DONE))

    assert (6, TokenBasis.SERVER) == (trace.output_tokens, trace.token_basis)


def test_timings_tell_the_tokens_of_each_event_and_the_cached_prompt() -> None:
    events = [{**delta(content="x"), "timings": {"predicted_n": upto, "cache_n": 7}} for upto in (2, 3)]

    trace = only(stream(*events, {**finish(), "timings": {"predicted_n": 3, "cache_n": 7}}, DONE))

    assert (3, TokenBasis.SERVER, 7) == (trace.output_tokens, trace.token_basis, trace.cached_tokens)


def test_token_ids_and_log_probs_tell_the_tokens_of_each_event() -> None:
    with_ids = {"choices": [{"delta": {"content": "a b"}, "token_ids": [1, 2]}]}
    with_logprobs = {"choices": [{"delta": {"content": "c"}, "logprobs": {"content": [{"token": "c"}]}}]}

    trace = only(stream(with_ids, with_logprobs, finish(), usage(3), DONE))

    assert (3, TokenBasis.SERVER) == (trace.output_tokens, trace.token_basis)


def test_coalesced_events_arrive_together() -> None:
    together = chunk(b"".join(event(body) for body in words(4)))

    trace = only([HEAD + together, chunk(event(finish()) + event(usage(4)) + event(DONE)), LAST])

    assert ([4], 4, 4) == (tokens_of(trace), trace.output_tokens, trace.events)


def test_reasoning_and_tool_calls_are_output() -> None:
    calls = [{"index": 0, "function": {"name": "ls", "arguments": '{"path"'}}]

    trace = only(
        stream(delta(reasoning_content="hm"), delta(content="so"), delta(tool_calls=calls), finish("tool_calls"), usage(3), DONE)
    )

    assert (3, 1, 1, "tool_calls") == (trace.output_tokens, trace.reasoning_events, trace.tool_call_events, trace.finish_reason)


def test_the_end_token_without_text_is_no_arrival() -> None:
    trace = only(stream(*words(3), finish("stop"), usage(4), DONE))

    assert (3, 4, TokenBasis.USAGE) == (trace.output_tokens, trace.generated_tokens, trace.token_basis)


def test_without_usage_each_event_is_assumed_to_be_a_token() -> None:
    trace = only(stream(*words(3), finish(), DONE))

    assert (3, TokenBasis.ASSUMED, True) == (trace.output_tokens, trace.token_basis, trace.token_basis.is_estimate)


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"])
def test_line_ends_make_no_difference(end: bytes) -> None:
    assert 3 == only(stream(*words(3), finish(), usage(3), DONE, end=end)).output_tokens


def test_keep_alive_comments_are_counted_and_no_token() -> None:
    trace = only([HEAD, chunk(b": ping\n\n"), *plain(2)[1:]])

    assert (2, ("1 keep-alive comments",)) == (trace.output_tokens, trace.notes)


def test_utf8_cut_by_writes_is_whole() -> None:
    raw = chunk(event(delta(content="漢é"))) + chunk(event(finish()) + event(usage(1)) + event(DONE)) + LAST
    pieces = [raw[place : place + 1] for place in range(len(raw))]

    assert "漢é" == only([HEAD, *pieces]).text


def test_a_body_of_known_length_and_one_until_close_are_read() -> None:
    body = b"".join(map(event, [*words(2), finish(), usage(2), DONE]))
    sized = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body)
    until_close = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"

    assert 2 == only([sized + body]).output_tokens
    assert 2 == only([until_close, body, Close()]).output_tokens


def test_a_stream_that_ends_without_done_is_noted() -> None:
    trace = only(stream(*words(2), finish(), usage(2)))

    assert ("no [DONE]",) == trace.notes


def test_a_response_that_stays_open_after_done_is_done_and_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "DONE_GRACE_NS", 100_000_000)
    trace = only([*plain(2)[:-1], Wait()])

    assert ("the response did not end after [DONE]",) == trace.notes


def test_completions_are_read_and_asked() -> None:
    with scripted(
        lambda _: stream({"choices": [{"text": "a"}]}, {"choices": [{"text": "b", "finish_reason": "length"}]}, usage(2), DONE)
    ) as server:
        plan = LoadPlan(
            url=server.url + "/v1", model="m", requests=1, concurrency=1, api=Api.COMPLETIONS, extra_body={"top_k": 1}
        )
        report = run_load(plan)

    asked = server.requests[0]
    assert (2, 1) == (report.traces[0].output_tokens, report.completed)
    assert (True, 1, 64, True) == ("prompt" in asked, asked["top_k"], asked["max_tokens"], asked["stream"])
    assert server.raw[0].startswith(b"POST /v1/completions HTTP/1.1\r\n")


def test_a_kept_connection_serves_the_next_request() -> None:
    with scripted(lambda _: plain()) as server:
        report = run_load(LoadPlan(url=server.url, model="m", ahead_s=0.005, requests=5, concurrency=1))

    assert (5, 1) == (report.completed, server.connections)


def test_each_request_has_a_connection_of_its_own_where_asked() -> None:
    with scripted(lambda _: plain()) as server:
        report = run_load(LoadPlan(url=server.url, model="m", ahead_s=0.005, requests=5, rate_rps=200.0, keep_alive=False))

    assert (5, 5) == (report.completed, server.connections)


def test_a_request_on_a_connection_that_was_just_closed_is_sent_again() -> None:
    def script(number: int) -> Script:
        return [Close()] if number == 1 else plain()

    with scripted(script) as server:
        report = run_load(LoadPlan(url=server.url, model="m", ahead_s=0.005, requests=2, concurrency=1))

    assert (2, [False, True]) == (report.completed, [trace.retried for trace in report.traces])


def test_localhost_finds_the_address_that_the_server_listens_on() -> None:
    with scripted(lambda _: plain()) as server:
        report = run_load(LoadPlan(url=f"http://localhost:{server.port}", model="m", requests=1, concurrency=1))

    assert 1 == report.completed


def test_a_cap_makes_requests_wait_and_the_wait_counts() -> None:
    with scripted(lambda _: plain()) as server:
        report = run_load(
            LoadPlan(url=server.url, model="m", ahead_s=0.005, requests=8, rate_rps=100_000.0, concurrency=1, keep_alive=False)
        )

    waits = [trace.ready_ns - trace.intended_ns for trace in report.traces]
    assert (8, 0) == (report.completed, waits[0])
    assert all(wait > 0 for wait in waits[1:])
    assert all(trace.chunks[0][0] - trace.intended_ns > wait for trace, wait in zip(report.traces, waits, strict=True))


def test_sessions_follow_turn_by_turn_with_their_growing_prefix() -> None:
    prompts = PromptPlan(kind=PromptKind.AGENTIC, turns=3, prompt_tokens=30, growth_tokens=10, max_tokens=4, think_s=0.001)
    with scripted(lambda _: plain()) as server:
        report = run_load(LoadPlan(url=server.url, model="m", ahead_s=0.005, requests=5, concurrency=1, prompts=prompts))

    assert [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)] == [(trace.session, trace.turn) for trace in report.traces]
    assert [1, 3, 5, 1, 3] == [len(asked["messages"]) for asked in server.requests]
    follows = zip(report.traces, report.traces[1:2], strict=False)
    assert all(later.intended_ns == before.end_ns + 1_000_000 for before, later in follows)


def test_a_duration_ends_a_closed_load_and_warm_up_is_not_measured() -> None:
    with scripted(lambda _: plain()) as server:
        report = run_load(LoadPlan(url=server.url, model="m", duration_s=0.4, concurrency=2, warmup_requests=3))

    assert report.completed == report.sent > 3
    assert report.sent - 3 == len(report.samples["ttft_s"])


def test_a_trace_is_replayed_with_its_lengths(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text('{"at_s": 0, "prompt_tokens": 12, "max_tokens": 4}\n{"at_s": 0.05, "prompt_tokens": 9, "max_tokens": 5}\n')
    with scripted(lambda _: plain()) as server:
        report = run_load(LoadPlan(url=server.url, model="m", arrival=Arrival.TRACE, trace=path))

    assert [(4, 12), (5, 9)] == [(trace.max_tokens, trace.asked_prompt_tokens) for trace in report.traces]
    assert 50_000_000 == report.traces[1].intended_ns - report.traces[0].intended_ns
    assert [4, 5] == [asked["max_tokens"] for asked in server.requests]


def test_the_kept_event_log_gives_the_same_answer(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with scripted(lambda _: plain()) as server:
        report = run_load(
            LoadPlan(url=server.url, model="m", ahead_s=0.005, requests=4, rate_rps=100.0, events=path, slo=Slo(ttft_s=1.0))
        )

    assert report_json(report) == report_json(report_from(read_events(path)))
