"""What a load's event log says: metrics, offered load, outcomes, and whether the client may be believed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfd.bench.load import metrics, sessions
from perfd.bench.load.events import EventLog, RequestOutcome, RequestTrace, TokenBasis
from perfd.bench.load.plan import Bounds, Slo
from perfd.bench.load.validity import offered_error, why_invalid
from perfd.domain.metric import DEFINITIONS_VERSION

WORST_FAILURES = 5


@dataclass(frozen=True)
class LoadReport:
    """The answer of one load; everything in it is computed from `log`."""

    log: EventLog
    samples: Mapping[str, tuple[float, ...]]
    """Raw Samples by Metric name, ready for a results file; a Metric without any is absent."""
    offered_rps: float | None
    asked_rps: float | None
    sent: int
    completed: int
    failed: int
    cancelled: int
    not_sent: int
    """Requests that were due, and never begun as the window ended before."""
    failures: Mapping[str, int]
    """Requests by reason."""
    why_invalid: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """False voids the Run: the client, not the server, may have made these numbers."""
        return not self.why_invalid

    @property
    def traces(self) -> tuple[RequestTrace, ...]:
        """Every request, in the order they were due."""
        return self.log.traces


def report_from(log: EventLog) -> LoadReport:
    """The report of a log: the same for one just measured and for one read again."""
    outcomes = Counter(trace.outcome for trace in log.traces)
    measured = [trace for trace in log.traces if trace.measured]
    sent_ns = [trace.sent_ns for trace in measured if trace.sent_ns is not None]
    return LoadReport(
        log=log,
        samples=_samples(log.traces),
        offered_rps=metrics.rate_rps(sent_ns),
        asked_rps=log.head.asked_rps,
        sent=len(log.traces),
        completed=outcomes[RequestOutcome.DONE],
        failed=outcomes[RequestOutcome.FAILED],
        cancelled=outcomes[RequestOutcome.CANCELLED],
        not_sent=max(0, log.head.scheduled - len(log.traces)),
        failures=dict(Counter(trace.reason.value for trace in log.traces if trace.outcome is not RequestOutcome.DONE)),
        why_invalid=why_invalid(log, bounds_of(log)),
    )


def bounds_of(log: EventLog) -> Bounds:
    """The bounds that the Run was held to."""
    return Bounds(**log.head.bounds)


def _samples(traces: Sequence[RequestTrace]) -> dict[str, tuple[float, ...]]:
    raw = metrics.samples(traces)
    throughput = metrics.output_tokens_per_s(traces)
    raw["output_tokens_per_s"] = [] if throughput is None else [throughput]
    failed = [trace for trace in traces if trace.measured and trace.outcome is RequestOutcome.FAILED]
    raw["session_s"] = sessions.session_s(traces)
    raw["retrieval_score"] = sessions.retrieval_scores(traces)
    raw["failed_requests"] = [float(len(failed))] if traces else []
    return {name: tuple(values) for name, values in raw.items() if values}


def report_json(report: LoadReport) -> dict[str, Any]:
    """The answer of `perfd load --json`, as docs/design.md section 4 lays it down, with more beside it."""
    log = report.log
    latency = ("ttft_s", "itl_s", "tpot_s", "e2e_s")
    throughput = report.samples.get("output_tokens_per_s")
    return {
        "metrics": {name: metrics.summary(report.samples.get(name, ())) for name in latency},
        "offered_rps": report.offered_rps,
        "asked_rps": report.asked_rps,
        "completed": report.completed,
        "failed": report.failed,
        "output_tokens_per_s": throughput[0] if throughput else None,
        "send_lag_s": _lag(log.traces),
        "client": _client(log),
        "valid": report.valid,
        "why_invalid": list(report.why_invalid),
        "sent": report.sent,
        "cancelled": report.cancelled,
        "not_sent": report.not_sent,
        "failures": {"by_reason": dict(report.failures), "examples": _examples(log.traces)},
        "window": _window(log),
        "goodput": metrics.goodput(log.traces, Slo(**log.head.slo)),
        "sessions": sessions.sessions_json(log.traces),
        "retrieval_score": _retrieval(report),
        "tokens": _tokens(log.traces),
        "offered_error": offered_error(log),
        "definitions_version": DEFINITIONS_VERSION,
    }


def _retrieval(report: LoadReport) -> dict[str, float] | None:
    """Mean share of what was asked for that the answers named; absent where nothing was hidden."""
    scores = report.samples.get("retrieval_score", ())
    return {"mean": sum(scores) / len(scores), "requests": len(scores)} if scores else None


def _lag(traces: Sequence[RequestTrace]) -> dict[str, float] | None:
    lags = [lag for trace in traces if trace.measured and (lag := metrics.send_lag_s(trace)) is not None]
    found = metrics.summary(lags)
    return None if found is None else {"p50": found["p50"], "p99": found["p99"]}


def _client(log: EventLog) -> dict[str, Any]:
    head = log.head
    calibration = dict(head.self_calibration) if head.self_calibration is not None else None
    return {
        "self_calibration": calibration,
        "receive_clock": head.receive_clock,
        "start_to_first_request_s": head.prepared_s,
        **head.facts,
    }


def _examples(traces: Sequence[RequestTrace]) -> list[dict[str, Any]]:
    """The first request of each reason, with its detail."""
    seen: dict[str, dict[str, Any]] = {}
    for trace in traces:
        if trace.outcome is not RequestOutcome.DONE and trace.reason.value not in seen:
            seen[trace.reason.value] = {"request": trace.index, "reason": trace.reason.value, "detail": trace.detail}
    return list(seen.values())[:WORST_FAILURES]


def _not_read(told: Sequence[RequestTrace]) -> str:
    """One sentence where the server read less than was sent: a template without a place for tools leaves them out."""
    short = [trace.asked_prompt_tokens - (trace.prompt_tokens or 0) for trace in told]
    fewer = [missing for missing in short if missing > 0]
    if not fewer:
        return ""
    return (
        f"in {len(fewer)} of {len(told)} requests the server counted fewer prompt tokens than were sent, by up to {max(fewer)}: "
        "its chat template may leave tools or calls out"
    )


def _window(log: EventLog) -> dict[str, Any] | None:
    """The steady state: which part of the Run was measured, in seconds from its start."""
    span = metrics.window_ns(log.traces)
    if span is None:
        return None
    measured = sum(trace.measured for trace in log.traces)
    start = log.head.started_ns
    return {
        "from_s": (span[0] - start) / 1e9,
        "to_s": (span[1] - start) / 1e9,
        "measured_requests": measured,
        "warmup_requests": len(log.traces) - measured,
        "interrupted": log.head.interrupted,
    }


def _tokens(traces: Sequence[RequestTrace]) -> dict[str, Any]:
    """Tokens in and out of the measured, completed requests, and how they are known."""
    good = metrics.done(traces)
    told = [trace for trace in good if trace.prompt_tokens is not None]
    cached = [trace.cached_tokens for trace in good if trace.cached_tokens is not None]
    bases = Counter(trace.token_basis for trace in good)
    return {
        "output": sum(trace.generated_tokens for trace in good),
        "prompt": sum(trace.prompt_tokens or 0 for trace in told) if told else None,
        "cached": sum(cached) if cached else None,
        "asked_prompt": sum(trace.asked_prompt_tokens for trace in good),
        "not_read": _not_read(told),
        "basis": {basis.value: count for basis, count in bases.items()},
        "estimated": any(basis.is_estimate for basis in bases),
        "output_events": sum(trace.events for trace in good),
        "per_event": "chunk is token"
        if all(b in {TokenBasis.USAGE, TokenBasis.ASSUMED} for b in bases)
        else "told or shared out",
    }
