"""`run_load`: prompts and schedule made beforehand, one window driven, its bytes parsed, its log reported."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from perfd import HARNESS_VERSION
from perfd.bench.load.chains import ChainMaker
from perfd.bench.load.events import EventLog, LogHead, RequestTrace, write_events
from perfd.bench.load.exchange import Exchange
from perfd.bench.load.loop import Loop
from perfd.bench.load.metrics import rate_rps
from perfd.bench.load.parse import trace_of
from perfd.bench.load.plan import LoadPlan
from perfd.bench.load.prompts import PromptMaker
from perfd.bench.load.report import LoadReport, report_from
from perfd.bench.load.schedule import Schedule, draw
from perfd.bench.load.surroundings import endpoint_of, interrupting, many_files, quiet_collector, realtime
from perfd.bench.load.vocabulary import Tokenize, Vocabulary, learn_vocabulary
from perfd.bench.load.wire import Target, target_of
from perfd.bench.load.work import Limits, Window, Work
from perfd.domain.identity import Json

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Prepared:
    """All that the window needs, made before it opens."""

    plan: LoadPlan
    target: Target
    schedule: Schedule
    work: Work
    vocabulary: Vocabulary


def run_load(
    plan: LoadPlan,
    tokenize: Tokenize | None = None,
    calibration: Mapping[str, Json] | None = None,
    progress: Progress = lambda _: None,
) -> LoadReport:
    """The plan's load was driven; each request has an outcome with a reason, and the event log is kept where the plan says.

    `tokenize` counts a text's tokens for the model under test; without it prompt sizes are estimates, and marked so.
    `calibration` is what `calibrate` found for this load; it is stored, and bounds on it can void the Run.
    Ctrl-C ends the window and reports what was measured. Raises BadInputError for a plan that cannot be driven.
    """
    called_ns = time.monotonic_ns()
    prepared = prepare(plan, tokenize)
    progress("sending")
    window, cpu_s, policy = drive(prepared)
    progress("parsing")
    log = log_of(prepared, window, called_ns, calibration, {"cpu_s": cpu_s, "scheduler": policy})
    if plan.events is not None:
        write_events(plan.events, log)
    return report_from(log)


def prepare(plan: LoadPlan, tokenize: Tokenize | None) -> Prepared:
    """Every request as bytes, and when it is due."""
    target = target_of(plan.url, plan.api)
    vocabulary = learn_vocabulary(tokenize)
    chains = ChainMaker(plan, target, PromptMaker(plan.prompts, vocabulary))
    stop_ns = None if plan.duration_s is None else int(plan.duration_s * 1e9)
    if plan.is_open:
        schedule = draw(plan)
        starts = [(int(due.at_s * 1e9), chain) for due, chain in zip(schedule.dues, chains.due(schedule.dues), strict=False)]
        work = Work(starts, iter(()), stop_ns=stop_ns, cap=plan.concurrency)
        return Prepared(plan, target, schedule, work, vocabulary)
    slots = plan.concurrency or 1
    starts_ns = tuple(int(plan.ramp_s * 1e9 * slot / slots) for slot in range(slots))
    work = Work([], chains.supply(slots), slots=starts_ns, stop_ns=stop_ns)
    return Prepared(plan, target, Schedule(), work, vocabulary)


def drive(prepared: Prepared) -> tuple[Window, float, str]:
    """(the window's raw bytes, CPU seconds that the client used in it, the scheduler policy that it ran under)."""
    plan = prepared.plan
    limits = Limits(
        stall_ns=int(plan.stall_s * 1e9),
        request_ns=int(plan.request_timeout_s * 1e9),
        connect_ns=int(plan.connect_timeout_s * 1e9),
        drain_ns=int(plan.drain_s * 1e9),
        ahead_ns=int(plan.ahead_s * 1e9),
    )
    loop = Loop(endpoint_of(plan, prepared.target), limits, prepared.work)
    with many_files(), quiet_collector(), interrupting(loop), realtime(asked=plan.realtime) as policy:
        used = time.process_time()
        window = loop.run()
        return window, time.process_time() - used, policy


def log_of(
    prepared: Prepared, window: Window, called_ns: int, calibration: Mapping[str, Json] | None, facts: dict[str, Any]
) -> EventLog:
    """Every exchange parsed into its Trace, and the head that says under which plan."""
    plan = prepared.plan
    exchanges = sorted(window.exchanges, key=lambda exchange: exchange.intended_ns)
    vocabulary = prepared.vocabulary
    tokenize = lru_cache(maxsize=None)(vocabulary.count) if vocabulary.exact else None
    traces = tuple(
        trace_of(
            exchange,
            measured=is_measured(plan, window, place, exchange),
            keep_text=plan.keep_text or plan.prompts.live,
            tokenize=tokenize,
        )
        for place, exchange in enumerate(exchanges)
    )
    head = LogHead(
        asked_rps=plan.rate_rps or _trace_rps(prepared),
        concurrency=plan.concurrency,
        scheduled=_scheduled(prepared),
        started_ns=window.started_ns,
        stopped_ns=window.stopped_ns,
        prepared_s=_prepared_s(traces, called_ns),
        interrupted=window.interrupted or window.full,
        receive_clock="kernel" if window.stamped else "user",
        slo={name: value for name, value in asdict(plan.slo).items() if value is not None},
        bounds=asdict(plan.bounds),
        drawn_ns=_drawn(prepared, window, exchanges),
        self_calibration=calibration,
        facts={**facts, **_facts(prepared, window)},
    )
    return EventLog(head, traces)


def is_measured(plan: LoadPlan, window: Window, place: int, exchange: Exchange) -> bool:
    """False for what belongs to ramp or warm-up."""
    steady_ns = window.started_ns + int((plan.ramp_s + plan.warmup_s) * 1e9)
    return place >= plan.warmup_requests and exchange.intended_ns >= steady_ns


def _trace_rps(prepared: Prepared) -> float | None:
    """The mean rate of a replayed trace; absent for a closed load."""
    return rate_rps([int(due.at_s * 1e9) for due in prepared.schedule.dues])


def _scheduled(prepared: Prepared) -> int:
    return sum(chain.size for _, chain in prepared.work.starts)


def _drawn(prepared: Prepared, window: Window, exchanges: Sequence[Exchange]) -> tuple[int, ...]:
    """The schedule as drawn, for loads whose every request is due at a time of its own."""
    if any(exchange.request.turn or exchange.request.parent is not None for exchange in exchanges):
        return ()
    offsets = (int(due.at_s * 1e9) for due in prepared.schedule.dues)
    steady_ns = int((prepared.plan.ramp_s + prepared.plan.warmup_s) * 1e9)
    kept = [at for place, at in enumerate(offsets) if at >= steady_ns and place >= prepared.plan.warmup_requests]
    return tuple(at + window.started_ns for at in kept)


def _prepared_s(traces: Sequence[RequestTrace], called_ns: int) -> float:
    sent = [trace.sent_ns for trace in traces if trace.sent_ns is not None]
    return (min(sent) - called_ns) / 1e9 if sent else 0.0


def _facts(prepared: Prepared, window: Window) -> dict[str, Any]:
    lags = sorted(window.read_lag_ns)
    return {
        "harness_version": HARNESS_VERSION,
        "prompt_tokens_are": "exact" if prepared.vocabulary.exact else "an estimate: no tokenizer was given",
        "raw_log": "full: nothing was sent after it; give a shorter --duration" if window.full else "whole",
        "connections": window.connections,
        "reads": len(lags),
        "read_lag_p99_s": lags[int(len(lags) * 0.99)] / 1e9 if lags else None,
        "url": prepared.plan.url,
        "model": prepared.plan.model,
        "api": prepared.plan.api.value,
    }
