"""What sessions say that single requests do not: time until all is done, TTFT turn by turn, and what one costs."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from perfd.bench.load import metrics
from perfd.bench.load.events import RequestOutcome, RequestTrace
from perfd.domain.identity import Json

_NS = 1e-9


def families(traces: Iterable[RequestTrace]) -> dict[int, list[RequestTrace]]:
    """Session → its requests, its sub-agents' among them."""
    found: dict[int, list[RequestTrace]] = defaultdict(list)
    for trace in traces:
        found[trace.session if trace.parent is None else trace.parent].append(trace)
    return dict(found)


def whole_sessions(traces: Sequence[RequestTrace]) -> list[list[RequestTrace]]:
    """Measured sessions of several requests of which every one completed."""
    return [
        ones
        for ones in families(traces).values()
        if len(ones) > 1 and all(one.measured and one.outcome is RequestOutcome.DONE for one in ones)
    ]


def session_s(traces: Sequence[RequestTrace]) -> list[float]:
    """First intended send to last output token, pauses included, of each whole session."""
    return [
        (max(one.chunks[-1][0] for one in ones) - min(one.intended_ns for one in ones)) * _NS for ones in whole_sessions(traces)
    ]


def engine_s(ones: Sequence[RequestTrace]) -> float:
    """Of a session, the time in which a request of it was under way: pauses and the agent's own work left out."""
    busy, until = 0, 0
    for start, end in sorted((one.intended_ns, one.chunks[-1][0]) for one in ones):
        busy += max(0, end - max(start, until))
        until = max(until, end)
    return busy * _NS


def by_turn(traces: Sequence[RequestTrace]) -> dict[str, Json]:
    """Turn (from 0; sub-agents left out) → requests, prompt tokens and TTFT: how the wait grows with the context."""
    turns: dict[int, list[RequestTrace]] = defaultdict(list)
    for trace in metrics.done(traces):
        if trace.parent is None:
            turns[trace.turn].append(trace)
    return {str(turn): _one_turn(ones) for turn, ones in sorted(turns.items())}


def _one_turn(ones: Sequence[RequestTrace]) -> dict[str, Json]:
    waits = metrics.summary([metrics.ttft_s(one) for one in ones]) or {}
    size = metrics.summary([one.asked_prompt_tokens if one.prompt_tokens is None else one.prompt_tokens for one in ones]) or {}
    return {"requests": len(ones), "prompt_tokens_p50": size["p50"], "ttft_s": {"p50": waits["p50"], "p90": waits["p90"]}}


def sessions_json(traces: Sequence[RequestTrace]) -> dict[str, Json] | None:
    """For the results file and `perfd load --json`; absent for a load whose requests stand alone."""
    many = [ones for ones in families(traces).values() if len(ones) > 1]
    if not many:
        return None
    whole = whole_sessions(traces)
    return {
        "sessions": len(many),
        "whole": len(whole),
        "requests_per_session": metrics.summary([float(len(ones)) for ones in whole]),
        "session_s": metrics.summary(session_s(traces)),
        "engine_s": metrics.summary([engine_s(ones) for ones in whole]),
        "output_tokens_per_session": metrics.summary([float(sum(one.generated_tokens for one in ones)) for ones in whole]),
        "ttft_by_turn": by_turn(traces),
    }


def retrieval_scores(traces: Sequence[RequestTrace]) -> list[float]:
    """One a completed request that was asked for something hidden in its prompt."""
    return [trace.retrieval for trace in metrics.done(traces) if trace.retrieval is not None]
