"""The definitions of docs/metrics.md on hand-computed event logs: a virtual clock, exact numbers."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perfd.bench.load import (
    EventLog,
    RequestOutcome,
    RequestTrace,
    Slo,
    metrics,
    read_events,
    report_from,
    report_json,
    write_events,
)
from perfd.bench.load.events import LogHead, Reason
from perfd.bench.load.plan import Bounds
from perfd.bench.load.validity import calibration_complaints
from perfd.errors import BadInputError

MS = 1_000_000


def trace(
    index: int = 0, intended_ms: float = 0, chunks: tuple[tuple[float, int], ...] = ((100, 1), (110, 1)), **changes: Any
) -> RequestTrace:
    stamped = tuple((int((intended_ms + at) * MS), tokens) for at, tokens in chunks)
    intended = int(intended_ms * MS)
    given: dict[str, Any] = {
        "index": index,
        "session": index,
        "turn": 0,
        "intended_ns": intended,
        "ready_ns": intended,
        "sent_ns": intended + 50_000,
        "end_ns": stamped[-1][0] if stamped else intended,
        "outcome": RequestOutcome.DONE,
        "chunks": stamped,
        **changes,
    }
    return RequestTrace(**given)


def failed(index: int, intended_ms: float = 0) -> RequestTrace:
    return trace(index, intended_ms, (), outcome=RequestOutcome.FAILED, reason=Reason.STALL)


def head(**changes: Any) -> LogHead:
    given: dict[str, Any] = {
        "asked_rps": 10.0,
        "concurrency": None,
        "scheduled": 3,
        "started_ns": 0,
        "stopped_ns": 10**9,
        "prepared_s": 0.1,
        "interrupted": False,
        "receive_clock": "kernel",
        **changes,
    }
    return LogHead(**given)


def test_time_starts_at_the_intended_send_time() -> None:
    late = trace(sent_ns=40 * MS)

    assert (pytest.approx(0.1), pytest.approx(0.11), pytest.approx(0.04)) == (
        metrics.ttft_s(late),
        metrics.e2e_s(late),
        metrics.send_lag_s(late),
    )


def test_k_tokens_after_a_gap_count_as_k_gaps() -> None:
    speculative = trace(chunks=((100, 4), (140, 4), (180, 2)))

    assert [pytest.approx(0.01)] * 4 + [pytest.approx(0.02)] * 2 == metrics.itl_s(speculative)


def test_tpot_excludes_what_came_with_the_first_token() -> None:
    assert pytest.approx(0.01) == metrics.tpot_s(trace(chunks=((100, 4), (140, 4), (180, 4))))


def test_a_single_arrival_has_no_tpot_and_no_gap() -> None:
    alone = trace(chunks=((100, 3),))

    assert (None, []) == (metrics.tpot_s(alone), metrics.itl_s(alone))


def test_percentiles_are_interpolated_linearly() -> None:
    found = metrics.summary([1.0, 2.0, 3.0, 4.0])

    assert {"p50": 2.5, "p90": pytest.approx(3.7), "p95": pytest.approx(3.85), "p99": pytest.approx(3.97), "mean": 2.5} == found


def test_itl_is_over_all_tokens_and_ttft_over_requests() -> None:
    long, short = trace(chunks=tuple((100 + 10 * i, 1) for i in range(10))), trace(1, chunks=((200, 1), (230, 1)))

    found = metrics.samples([long, short])

    assert (2, 10, 2) == (len(found["ttft_s"]), len(found["itl_s"]), len(found["tpot_s"]))


def test_only_measured_and_completed_requests_give_samples() -> None:
    found = metrics.samples([trace(0, measured=False), trace(1), failed(2)])

    assert 1 == len(found["ttft_s"])


def test_throughput_is_tokens_of_completed_requests_over_the_window() -> None:
    traces = [trace(0, 0, ((100, 5), (500, 5))), trace(1, 500, ((100, 5), (500, 5))), failed(2)]

    assert pytest.approx(20.0) == metrics.output_tokens_per_s(traces)


def test_goodput_counts_failed_requests_as_sent() -> None:
    traces = [trace(0), trace(1, chunks=((300, 1), (310, 1))), failed(2), trace(3)]

    found = metrics.goodput(traces, Slo(ttft_s=0.2))

    assert found is not None
    assert 0.5 == found["share"]


def test_a_limit_on_ttft_holds_where_first_and_last_token_coincide() -> None:
    assert not metrics.keeps(trace(chunks=((300, 1),)), Slo(ttft_s=0.2))


def test_a_log_read_again_gives_the_same_report(tmp_path: Path) -> None:
    drawn = tuple(int(at * MS) for at in (0, 100, 200))
    log = EventLog(head(drawn_ns=drawn, slo={"ttft_s": 0.2}, facts={"cpu_s": 0.5}), (trace(0), trace(1, 100), failed(2, 200)))
    path = tmp_path / "events.jsonl"

    write_events(path, log)

    assert log == read_events(path)
    assert json.dumps(report_json(report_from(log))) == json.dumps(report_json(report_from(read_events(path))))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: not JSON"),
        ("{}", "line 1: expected"),
        ('{"format": "perfd.events/1", "head": {}}', "asked_rps"),
    ],
)
def test_a_broken_log_is_told_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(text)

    with pytest.raises(BadInputError, match=words):
        read_events(path)


def test_the_answer_has_the_fields_of_the_design() -> None:
    answer = report_json(report_from(EventLog(head(), (trace(0), trace(1, 100), failed(2, 200)))))

    assert {"p50", "p90", "p95", "p99", "mean"} == set(answer["metrics"]["ttft_s"])
    assert {"ttft_s", "itl_s", "tpot_s", "e2e_s"} == set(answer["metrics"])
    assert {"p50", "p99"} == set(answer["send_lag_s"])
    assert (2, 1, True, []) == (answer["completed"], answer["failed"], answer["valid"], answer["why_invalid"])
    assert {"offered_rps", "asked_rps", "output_tokens_per_s", "client"} <= set(answer)
    assert "self_calibration" in answer["client"]


def sent_late(late: int, count: int) -> EventLog:
    return EventLog(head(), tuple(trace(i, 100 * i, sent_ns=100 * i * MS + (30 * MS if i < late else 0)) for i in range(count)))


def test_a_client_that_sends_late_voids_the_run() -> None:
    said = report_from(sent_late(3, 3)).why_invalid

    assert (
        "the client sent late: 3 of 3 requests by more than 2.00 ms (2.0% of the median TTFT), the worst by 30.00 ms",
    ) == said


@pytest.mark.parametrize(
    ("late", "count", "valid"), [(1, 3, False), (1, 20, True), (2, 20, False), (2, 200, True), (3, 200, False)]
)
def test_one_late_request_in_a_hundred_is_allowed_and_one_of_a_few(late: int, count: int, valid: bool) -> None:  # noqa: FBT001 - a table
    assert valid == report_from(sent_late(late, count)).valid


def test_an_offered_load_that_is_not_the_drawn_one_voids_the_run() -> None:
    drifting = tuple(replace(trace(i, 100 * i), sent_ns=110 * i * MS, ready_ns=110 * i * MS) for i in range(3))
    log = EventLog(head(drawn_ns=tuple(100 * i * MS for i in range(3))), drifting)

    assert report_from(log).why_invalid[0].startswith("the offered load was -9.1% off the drawn schedule")


def test_one_late_request_at_the_edge_is_no_other_load() -> None:
    log = EventLog(head(drawn_ns=tuple(10 * i * MS for i in range(50))), tuple(trace(i, 10 * i) for i in range(49)))
    late = trace(49, 490, sent_ns=520 * MS)

    assert report_from(replace(log, traces=(*log.traces, late))).valid
    assert report_from(log).why_invalid[0].startswith("the offered load was -2.0% off")


def test_a_calibration_outside_the_bounds_voids_the_run_in_words() -> None:
    found = {"ttft_bias_s": {"p50": 0.003, "p99": 0.004}, "itl_error": {"p50": 0.0, "p99": 0.03}}

    said = calibration_complaints(found, Bounds(), ttft_s=0.1)

    assert 3 == len(said)
    assert "TTFT bias at p50 is +3.00 ms, and the bound is 0.50 ms" in said[0]
    assert [] == calibration_complaints({"ttft_bias_s": {"p50": 0.003, "p99": 0.004}, "itl_error": {}}, Bounds(), ttft_s=1.0)


def test_an_error_of_gaps_counts_against_the_loads_own_gaps_where_they_are_longer() -> None:
    found = {"ttft_bias_s": {"p50": 0.0, "p99": 0.0}, "itl_error": {"p99": 0.08}, "itl_error_s": {"p99": 0.0008}}

    assert [] == calibration_complaints(found, Bounds(), ttft_s=1.0, itl_s={"p99": 0.05})
    assert 1 == len(calibration_complaints(found, Bounds(), ttft_s=1.0, itl_s={"p99": 0.02}))
    assert 1 == len(calibration_complaints(found, Bounds(), ttft_s=1.0, itl_s={"p99": 0.0}))
    assert [] == calibration_complaints({**found, "itl_error_s": {"p99": 0.0001}}, Bounds(), ttft_s=1.0)


def test_the_median_gap_is_held_closer_than_the_longest_ones() -> None:
    found = {"ttft_bias_s": {"p50": 0.0, "p99": 0.0}, "itl_error_s": {"p50": 0.001, "p99": 0.001}}

    assert [] == calibration_complaints({**found, "itl_error": {"p50": 0.005, "p99": 0.02}}, Bounds(), ttft_s=1.0)
    assert 2 == len(calibration_complaints({**found, "itl_error": {"p50": 0.006, "p99": 0.021}}, Bounds(), ttft_s=1.0))


@pytest.mark.parametrize(("requests", "complaints"), [(20, 0), (99, 0), (100, 1), (400, 1)])
def test_the_longest_gaps_of_a_short_calibration_say_nothing(requests: int, complaints: int) -> None:
    found = {"ttft_bias_s": {"p50": 0.0, "p99": 0.0}, "requests": requests, "itl_error": {"p50": 0.0, "p99": 0.1}}

    assert complaints == len(calibration_complaints(found, Bounds(), ttft_s=1.0))


def test_a_request_that_is_done_has_no_reason_and_has_tokens() -> None:
    with pytest.raises(ValueError, match="with reason"):
        trace(reason=Reason.STALL)
    with pytest.raises(ValueError, match="without a token"):
        trace(chunks=())
