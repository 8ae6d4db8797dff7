"""Serving Workloads: a load on a launched engine through the load client, and what of it may be believed."""

import math
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from perfd.bench.able import why_unable
from perfd.bench.accounts import Driven, accounts
from perfd.bench.ask import Asker
from perfd.bench.calibrate import calibrate
from perfd.bench.dialects import Dialect, counters, dialect, model_name
from perfd.bench.engine import HOST, EngineError, Server
from perfd.bench.load import LoadPlan, LoadReport, PromptPlan, RequestTrace, metrics, report_json, run_load, sessions
from perfd.bench.load.events import Reason, RequestOutcome
from perfd.bench.load.given import prompt_plan
from perfd.bench.load.plan import Api, Arrival, Bounds
from perfd.bench.load.validity import calibration_complaints
from perfd.bench.measured import Measured
from perfd.bench.utilisation import Utilisation
from perfd.bench.witness import Witness
from perfd.domain.identity import Json
from perfd.domain.job import Job
from perfd.domain.run import FailureKind
from perfd.errors import BadInputError

CALIBRATIONS = 2
"""At most so many before a load."""
WINDOW_SHARE = 0.4
"""Of the time for calibration, what one window takes; the rest is for the server's start, and for a second try."""
ENDING_S = 1.0
"""A process that ends closes its sockets a moment before it is gone."""
SLOW = frozenset({Reason.STALL, Reason.TIMEOUT, Reason.ENDLESS, Reason.WINDOW_END})
BROKEN_OFF = frozenset({Reason.CONNECT, Reason.RESET, Reason.TRUNCATED})


def measure(job: Job, server: Server) -> Measured:
    """Samples of one load; void with the reason when the client or the prompts were not what they should be.

    Raises EngineError when no request at all completed.
    """
    if job.launch is None:
        raise BadInputError("a serving Workload needs an engine's launch stanza")
    speaks = dialect(job.launch.dialect)
    asker = Asker(server.port)
    plan = plan_for(job, server, speaks, model_name(asker))
    unable = why_unable(asker, plan)
    if unable:
        raise EngineError(FailureKind.NONSENSE, unable)
    tokenizer, calibration = speaks.tokenizer(asker), own_error(plan, float(job.workload.parameters.get("calibrate_s", 0)))
    before = read_counters(asker)
    with Witness(job, server) as witness, explained(server):
        report = run_load(plan, tokenizer, calibration)
        check_any_done(report.traces)
    server.check_alive()
    after = read_counters(asker)
    told = accounts(job, Driven(plan, report, asker, tokenizer), witness)
    asker.close()
    extra = {**beside(report, before, after), "sessions": with_cost(report, told.use)}
    return told.added_to(Measured(samples(report), extra, why_void(report)))


@contextmanager
def explained(server: Server) -> Iterator[None]:
    """An EngineError inside is told as the engine's end, where it has ended: that explains whatever else went wrong."""
    try:
        yield
    except EngineError:
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(ENDING_S)
        server.check_alive()
        raise


def plan_for(job: Job, server: Server, speaks: Dialect, model: str) -> LoadPlan:
    """The Workload's parameters as the load client's plan."""
    given = job.workload.parameters
    patience_s = job.workload.time_limit_s / 3
    return LoadPlan(
        url=f"http://{HOST}:{server.port}",
        model=model,
        requests=int(given["requests"]),
        rate_rps=given.get("rate_rps"),
        concurrency=given.get("concurrency"),
        arrival=Arrival(given.get("arrival", "poisson")),
        burstiness=float(given.get("burstiness", 1.0)),
        warmup_requests=int(given.get("warmup_requests", 0)),
        api=Api(given.get("api", "chat")),
        prompts=prompts_for(job),
        bounds=bounds_for(given),
        extra_body=speaks.load_body(given),
        keep_alive=speaks.keep_alive,
        stall_s=patience_s,
        request_timeout_s=patience_s,
        drain_s=patience_s,
    )


def own_error(plan: LoadPlan, seconds: float) -> Mapping[str, Json] | None:
    """The client's own error at this load, measured on a server whose schedule is known; absent for 0 seconds.

    `seconds` is the time for all tries: a neighbour can spoil a moment, so a calibration that is out of bounds whatever the
    engine's TTFT is measured again.
    """
    found: Mapping[str, Json] | None = None
    for _ in range(CALIBRATIONS if seconds > 0 else 0):
        found = calibrate(plan, seconds * WINDOW_SHARE).json()
        if not calibration_complaints(found, plan.bounds, ttft_s=math.inf):
            break
    return found


def bounds_for(given: Mapping[str, Json]) -> Bounds:
    """How late the client may send; the load client's own bound unless the Workload has another."""
    return Bounds(send_lag_p99_s=float(given["send_lag_p99_s"])) if "send_lag_p99_s" in given else Bounds()


def prompts_for(job: Job) -> PromptPlan:
    """The prompts' sizes from the Workload, their content from the Run."""
    return prompt_plan(job.workload.parameters, job.workload.seed, f"{job.occasion}/{job.run}")


def check_any_done(traces: Sequence[RequestTrace]) -> None:
    """Raise EngineError, of the kind that most requests point to, when none completed."""
    if metrics.done(traces):
        return
    bad = [trace for trace in traces if trace.outcome is not RequestOutcome.DONE]
    if not bad:
        raise EngineError(FailureKind.HARNESS, "the load client sent no request")
    reason, count = Counter(trace.reason for trace in bad).most_common(1)[0]
    detail = next((trace.detail for trace in bad if trace.reason is reason and trace.detail), "")
    kind = FailureKind.TIMEOUT if reason in SLOW else FailureKind.DIED if reason in BROKEN_OFF else FailureKind.NONSENSE
    raise EngineError(
        kind, f"none of {len(traces)} requests completed; {count} ended with {reason}" + (f": {detail}" if detail else "")
    )


def samples(report: LoadReport) -> dict[str, Sequence[float]]:
    """One Sample a request, a token or a Run, by Metric; a request that was given up as the window ended has failed too."""
    measured = [trace for trace in report.traces if trace.measured]
    lost = [trace for trace in measured if trace.outcome is not RequestOutcome.DONE]
    return {**report.samples, "failed_requests": [float(len(lost))]}


def why_void(report: LoadReport) -> str:
    """One sentence on what spoilt the load; "" when nothing did."""
    return "" if report.valid else "the load was not what was asked: " + "; ".join(report.why_invalid)


def read_counters(asker: Asker) -> dict[str, float]:
    """The server's own token counters; {} where it has none."""
    try:
        return counters(asker.text("/metrics"))
    except EngineError:
        return {}


def beside(report: LoadReport, before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, Json]:
    """What a reader wants beside the Samples: the client's answer, and tokens as the server counts them against ours."""
    answer = report_json(report)
    traces = report.traces
    return {
        "load": {name: value for name, value in answer.items() if name != "metrics"},
        "tokens": {
            "server_counters": {name: after[name] - before.get(name, 0.0) for name in after},
            "server_usage_output": sum(trace.completion_tokens or 0 for trace in traces),
            "client_output": sum(trace.output_tokens for trace in traces),
            "basis": dict(Counter(str(trace.token_basis) for trace in traces)),
        },
        "requests": [per_request(trace) for trace in traces],
    }


def with_cost(report: LoadReport, use: Utilisation) -> dict[str, Json] | None:
    """What sessions took and, where the device has a price, what one cost; absent for requests that stand alone."""
    told = sessions.sessions_json(report.traces)
    if told is None or use.price is None or not told["whole"]:
        return told
    spent = use.price.per_hour * use.devices * use.window_s / 3600
    return {**told, "cost": {"currency": use.price.currency, "per_session": spent / told["whole"]}}


def per_request(trace: RequestTrace) -> Json:
    """Prompt accounting of one request: what was asked, what the server saw, and what of it was cached."""
    return {
        "index": trace.index,
        "session": trace.session,
        "turn": trace.turn,
        "measured": trace.measured,
        "outcome": str(trace.outcome),
        "asked_prompt_tokens": trace.asked_prompt_tokens,
        "prompt_tokens": trace.prompt_tokens,
        "cached_tokens": trace.cached_tokens,
        "output_tokens": trace.output_tokens,
    }
