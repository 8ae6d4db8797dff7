"""The client's own error, measured against the calibration server at the load that is about to be used."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from perfd.bench.calibrate.shapes import Shape, StreamPlan
from perfd.bench.load import metrics
from perfd.bench.load.client import run_load
from perfd.bench.load.events import RequestTrace
from perfd.bench.load.metrics import rate_rps
from perfd.bench.load.plan import Arrival, LoadPlan, PromptKind, PromptPlan, Slo
from perfd.bench.load.report import LoadReport
from perfd.bench.load.schedule import draw
from perfd.bench.load.validity import offered_error
from perfd.domain.codec import to_json
from perfd.domain.identity import Json
from perfd.errors import PerfdError

FEWEST_REQUESTS = 20
LEAST_SCALE = 0.2
FEWEST_TOKENS = 8
MOST_TOKENS = 64
MOST_PROMPT_TOKENS = 50_000
Truth = Mapping[str, tuple[int, list[tuple[int, int]], list[int]]]
"""X-Request-Id → (arrival, (ns, tokens) of each send, lateness of each send)."""


@dataclass(frozen=True)
class Calibration:
    """What the client reported minus what the server logged, at one load."""

    shape: str
    asked_rps: float | None
    concurrency: int | None
    requests: int
    tokens_per_s: float
    ttft_bias_s: Mapping[str, float]
    """p50 and p99 over requests."""
    itl_error: Mapping[str, float]
    """Relative error of the p50 and p99 over tokens."""
    itl_error_s: Mapping[str, float]
    """The same in seconds: a load whose gaps are longer than this stream's suffers as much, and relatively less."""
    send_lag_s: Mapping[str, float]
    offered_error: float | None
    server_lateness_s: Mapping[str, float]
    """How late the server itself was; its log is the truth, so this is no error, but tells how busy the machine was."""
    client_cpu_s: float
    receive_clock: str
    scheduler: str

    def json(self) -> dict[str, Json]:
        """As it is stored in `client.self_calibration`."""
        plain: dict[str, Json] = to_json(self)
        return plain


def calibrate(plan: LoadPlan, seconds: float = 3.0, stream: StreamPlan | None = None) -> Calibration:
    """The client's error for the plan's load, measured for `seconds` on this machine.

    A slower load than 20 requests in that time is measured as if it were that fast, which can only be harder for the client.

    Raises PerfdError when no request of it completed.
    """
    stream = stream or stream_for(plan, seconds)
    with calibration_server(stream) as port:
        report = run_load(calibration_plan(plan, port, seconds, stream))
        truth = read_truth(port)
    return compare(report, truth, stream.shape)


def stream_for(plan: LoadPlan, seconds: float) -> StreamPlan:
    """Answers of the plan's length; for a closed load so quick, and if need be so short, that many fit in the time."""
    stream = StreamPlan(tokens=max(2, min(plan.prompts.max_tokens, MOST_TOKENS)))
    if plan.is_open:
        return stream
    room_s = (plan.concurrency or 1) * seconds / (2 * FEWEST_REQUESTS)
    scale = max(LEAST_SCALE, min(1.0, room_s / (stream.ttft_s + stream.tokens * stream.gap_s)))
    fit = int((2 * room_s - stream.ttft_s * scale) / (stream.gap_s * scale))
    stream = replace(stream, tokens=max(min(stream.tokens, FEWEST_TOKENS), min(stream.tokens, fit)))
    return replace(stream, ttft_s=stream.ttft_s * scale, gap_s=stream.gap_s * scale, slow_extra_s=stream.slow_extra_s * scale)


def calibration_plan(plan: LoadPlan, port: int, seconds: float, stream: StreamPlan) -> LoadPlan:
    """The same load on the calibration server: a trace becomes Poisson arrivals at its mean rate, sessions single requests."""
    rate = plan.rate_rps
    if rate is None and plan.is_open:
        rate = rate_rps([int(at * 1e9) for at in draw(plan).times_s]) or FEWEST_REQUESTS / seconds
    return replace(
        plan,
        url=f"http://127.0.0.1:{port}",
        requests=None,
        duration_s=seconds,
        rate_rps=None if rate is None else max(rate, FEWEST_REQUESTS / seconds),
        arrival=Arrival.POISSON if plan.arrival is Arrival.TRACE else plan.arrival,
        trace=None,
        ramp_s=0.0,
        warmup_s=0.0,
        warmup_requests=0,
        prompts=_prompts(plan, stream),
        slo=Slo(),
        extra_body={},
        headers={},
        drain_s=20.0,
        events=None,
        keep_text=False,
    )


def _prompts(plan: LoadPlan, stream: StreamPlan) -> PromptPlan:
    """One request a session and answers of the stream's length; bodies as large as the plan's, up to a bound on making them."""
    kind = PromptKind.MULTIMODAL if plan.prompts.kind is PromptKind.MULTIMODAL else PromptKind.CHAT
    tokens = min(plan.prompts.prompt_tokens, MOST_PROMPT_TOKENS)
    return PromptPlan(kind, tokens, max_tokens=stream.tokens, seed=plan.prompts.seed, pictures=plan.prompts.pictures)


@contextmanager
def calibration_server(stream: StreamPlan) -> Iterator[int]:
    """The port of a calibration server in another process; it ends with this block, or with us."""
    command = [sys.executable, "-m", "perfd.bench.calibrate.server", json.dumps(to_json(stream))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None:
            raise PerfdError("the calibration server has no pipes; start perfd with standard input and output open")
        try:
            line = process.stdout.readline()
            if not line.strip().isdigit():
                raise PerfdError("the calibration server did not start; its complaint stands above", permanent=False)
            yield int(line)
        finally:
            process.stdin.close()
            process.wait(timeout=10)


def read_truth(port: int) -> Truth:
    """The server's log since it was last read."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/truth")
        told = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    return {one["request"]: (one["arrival_ns"], [tuple(pair) for pair in one["sends"]], one["lateness_ns"]) for one in told}


def compare(report: LoadReport, truth: Truth, shape: Shape) -> Calibration:
    """Reported minus true, request by request for TTFT and percentile by percentile for ITL."""
    pairs = pairs_of(report.traces, truth)
    if not pairs:
        reason = report.why_invalid[0] if report.why_invalid else "no request was found in the server's log"
        raise PerfdError(f"the calibration measured nothing: {reason}", permanent=False)
    biases = [metrics.ttft_s(seen) - metrics.ttft_s(true) for seen, true in pairs]
    seen_gaps, true = _gaps(seen for seen, _ in pairs), _gaps(one for _, one in pairs)
    errors = {place: seen_gaps[place] - true[place] for place in true if place in seen_gaps}
    lags = [lag for seen, _ in pairs if (lag := metrics.send_lag_s(seen)) is not None]
    lateness = [late * 1e-9 for _, _, lates in truth.values() for late in lates]
    head = report.log.head
    return Calibration(
        shape=shape.value,
        asked_rps=report.asked_rps,
        concurrency=head.concurrency,
        requests=len(pairs),
        tokens_per_s=report.samples["output_tokens_per_s"][0],
        ttft_bias_s=_two(biases),
        itl_error=_relative(errors, true),
        itl_error_s=errors,
        send_lag_s=_two(lags),
        offered_error=offered_error(report.log),
        server_lateness_s=_two(lateness),
        client_cpu_s=float(head.facts.get("cpu_s", 0.0)),
        receive_clock=head.receive_clock,
        scheduler=str(head.facts.get("scheduler", "")),
    )


def pairs_of(traces: Sequence[RequestTrace], truth: Truth) -> list[tuple[RequestTrace, RequestTrace]]:
    """(as the client saw it, as the server logged it) of every request that completed."""
    pairs = []
    for seen in metrics.done(traces):
        found = truth.get(f"perfd-{seen.index}")
        if found is not None and found[1]:
            arrival_ns, sends, _ = found
            pairs.append((seen, replace(seen, intended_ns=arrival_ns, ready_ns=arrival_ns, chunks=tuple(sends))))
    return pairs


def _two(values: Sequence[float]) -> dict[str, float]:
    found = metrics.summary(values)
    return {} if found is None else {"p50": found["p50"], "p99": found["p99"]}


def _gaps(traces: Iterable[RequestTrace]) -> dict[str, float]:
    """p50 and p99 of the gaps over all tokens."""
    return _two([gap for trace in traces for gap in metrics.itl_s(trace)])


def _relative(errors: Mapping[str, float], true: Mapping[str, float]) -> dict[str, float]:
    return {place: error / true[place] for place, error in errors.items() if true[place] > 0}
