"""The calibration server sends what it says, and the client finds every token of it on every shape."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from perfd.bench.calibrate import Shape, StreamPlan, calibrate
from perfd.bench.calibrate.measure import calibration_plan, calibration_server, pairs_of, read_truth, stream_for
from perfd.bench.calibrate.quiet import CpuTimes, why_not_quiet
from perfd.bench.calibrate.shapes import steps_of
from perfd.bench.load import Arrival, LoadPlan, PromptKind, PromptPlan, metrics, run_load
from perfd.errors import PerfdError

STREAM = StreamPlan(tokens=16, ttft_s=0.03, gap_s=0.002)


@pytest.mark.parametrize("shape", Shape)
def test_the_client_sees_what_the_server_logged(shape: Shape) -> None:
    stream = StreamPlan(shape, tokens=16, ttft_s=0.03, gap_s=0.002)
    with calibration_server(stream) as port:
        report = run_load(
            LoadPlan(url=f"http://127.0.0.1:{port}", model="m", requests=12, concurrency=4, prompts=PromptPlan(max_tokens=16))
        )
        truth = read_truth(port)
    pairs = pairs_of(report.traces, truth)

    assert (12, 12) == (report.completed, len(pairs))
    assert [16] * 24 == [trace.output_tokens for pair in pairs for trace in pair]
    assert all(metrics.ttft_s(seen) >= 0.03 for seen, _ in pairs)


@pytest.mark.parametrize("shape", Shape)
def test_each_shape_is_due_when_its_plan_says(shape: Shape) -> None:
    steps = steps_of(StreamPlan(shape, tokens=8, slow_share=0.0), seed=0)
    writes = [(step.after_ns, step.tokens) for step in steps if step.tokens]

    expected = [(100, 4), (140, 4)] if shape in {Shape.TOKENS4, Shape.EVENTS4} else [(100 + 10 * place, 1) for place in range(8)]
    assert expected == [(round(after / 1e6), tokens) for after, tokens in writes]


def test_a_calibration_says_what_was_measured_at_which_load() -> None:
    found = calibrate(LoadPlan(url="http://127.0.0.1:1", model="m", requests=1, rate_rps=5.0), seconds=0.5, stream=STREAM).json()

    assert ({"p50", "p99"}, {"p50", "p99"}) == (set(found["ttft_bias_s"]), set(found["itl_error"]))
    assert (40.0, 20, "plain") == (found["asked_rps"], found["requests"], found["shape"])


def test_a_closed_load_is_calibrated_at_its_concurrency() -> None:
    found = calibrate(LoadPlan(url="http://127.0.0.1:1", model="m", requests=1, concurrency=3), seconds=0.3, stream=STREAM)

    assert (3, None) == (found.concurrency, found.asked_rps)
    assert found.requests >= 3


def test_a_lone_stream_is_calibrated_with_answers_quick_enough_to_count() -> None:
    plan = LoadPlan(url="http://127.0.0.1:1", model="m", requests=1, concurrency=1, prompts=PromptPlan(max_tokens=32))

    stream = stream_for(plan, seconds=2.0)

    assert (32, pytest.approx(0.02), pytest.approx(0.002)) == (stream.tokens, stream.ttft_s, stream.gap_s)
    assert StreamPlan(tokens=32) == stream_for(replace(plan, concurrency=None, rate_rps=1.0), seconds=2.0)


def test_a_trace_is_calibrated_at_its_own_mean_rate(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(f'{{"at_s": {at / 80}}}\n' for at in range(81)))
    plan = LoadPlan(url="http://127.0.0.1:1", model="m", arrival=Arrival.TRACE, trace=trace)

    made = calibration_plan(plan, port=1, seconds=1.0, stream=StreamPlan())

    assert (pytest.approx(80.0), Arrival.POISSON, None) == (made.rate_rps, made.arrival, made.trace)


def test_sessions_are_calibrated_as_single_requests_with_bodies_as_large() -> None:
    plan = LoadPlan("http://127.0.0.1:1", "m", requests=9, concurrency=1, prompts=PromptPlan(PromptKind.AGENTIC, 900, turns=3))
    made = calibration_plan(plan, port=1, seconds=1.0, stream=StreamPlan()).prompts

    assert (PromptKind.CHAT, 900, 1) == (made.kind, made.prompt_tokens, made.turns)


def test_a_busy_host_is_not_measured_on() -> None:
    quiet, busy, stolen = CpuTimes(1000, 990, 0), CpuTimes(2000, 1500, 0), CpuTimes(2000, 1985, 15)

    assert () == why_not_quiet(CpuTimes(0, 0, 0), quiet, cores=2)
    assert ("the cores are 49% busy",) == tuple(said[:22] for said in why_not_quiet(quiet, busy, cores=2))
    assert ("the hypervisor takes 1.5%",) == tuple(said[:25] for said in why_not_quiet(quiet, stolen, cores=2))
    assert ("1 core, and client and server need one each",) == why_not_quiet(CpuTimes(0, 0, 0), quiet, cores=1)


def test_a_calibration_server_that_cannot_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")

    with pytest.raises(PerfdError, match="did not start"):
        calibrate(LoadPlan(url="http://127.0.0.1:1", model="m", requests=1, concurrency=1))
