"""The definitions of docs/metrics.md, computed from Traces: seconds out, nothing else in.

Time starts at the intended send time. k tokens that arrive together after a gap count as k gaps of gap/k.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from perfd.bench.load.events import RequestOutcome, RequestTrace
from perfd.bench.load.plan import Slo

PERCENTILES = (50, 90, 95, 99)
_NS = 1e-9


def ttft_s(trace: RequestTrace) -> float:
    """Intended send time to the arrival of the first output token."""
    return (trace.chunks[0][0] - trace.intended_ns) * _NS


def e2e_s(trace: RequestTrace) -> float:
    """Intended send time to the arrival of the last output token."""
    return (trace.chunks[-1][0] - trace.intended_ns) * _NS


def tpot_s(trace: RequestTrace) -> float | None:
    """First to last arrival over the tokens that came after the first arrival; absent where none did.

    Tokens that came together with the first are excluded with it: their time is TTFT.
    """
    later = sum(tokens for _, tokens in trace.chunks[1:])
    return (trace.chunks[-1][0] - trace.chunks[0][0]) * _NS / later if later else None


def itl_s(trace: RequestTrace) -> list[float]:
    """One gap a token after the first arrival."""
    gaps: list[float] = []
    for (before_ns, _), (ns, tokens) in zip(trace.chunks, trace.chunks[1:], strict=False):
        gaps += [(ns - before_ns) * _NS / tokens] * tokens
    return gaps


def send_lag_s(trace: RequestTrace) -> float | None:
    """From the moment the client could send to the moment it did: the client's own fault; absent where nothing was sent."""
    return None if trace.sent_ns is None else (trace.sent_ns - trace.ready_ns) * _NS


def done(traces: Iterable[RequestTrace]) -> list[RequestTrace]:
    """Measured requests that completed, in the order they were due."""
    return [trace for trace in traces if trace.measured and trace.outcome is RequestOutcome.DONE]


def samples(traces: Sequence[RequestTrace]) -> dict[str, list[float]]:
    """Raw Samples by Metric: one a request, and for ITL one a token."""
    good = done(traces)
    return {
        "ttft_s": [ttft_s(trace) for trace in good],
        "itl_s": [gap for trace in good for gap in itl_s(trace)],
        "tpot_s": [tpot for trace in good if (tpot := tpot_s(trace)) is not None],
        "e2e_s": [e2e_s(trace) for trace in good],
    }


def summary(values: Sequence[float]) -> dict[str, float] | None:
    """Linear-interpolated percentiles and the mean; absent without values."""
    if not values:
        return None
    cuts = np.percentile(np.asarray(values), PERCENTILES, method="linear")
    return {**{f"p{p}": float(cut) for p, cut in zip(PERCENTILES, cuts, strict=True)}, "mean": float(np.mean(values))}


def window_ns(traces: Sequence[RequestTrace]) -> tuple[int, int] | None:
    """(first intended send, last output token) of the measured requests that completed; absent without any."""
    good = done(traces)
    if not good:
        return None
    starts = [trace.intended_ns for trace in traces if trace.measured]
    return min(starts), max(trace.chunks[-1][0] for trace in good)


def output_tokens_per_s(traces: Sequence[RequestTrace]) -> float | None:
    """Output tokens of measured, completed requests over the window; absent without any."""
    window = window_ns(traces)
    if window is None:
        return None
    tokens = sum(trace.generated_tokens for trace in done(traces))
    return tokens / ((window[1] - window[0]) * _NS)


def rate_rps(times_ns: Sequence[int]) -> float | None:
    """Requests a second between the first and the last of these times; absent for fewer than two."""
    if len(times_ns) < 2 or max(times_ns) == min(times_ns):
        return None
    return (len(times_ns) - 1) / ((max(times_ns) - min(times_ns)) * _NS)


def keeps(trace: RequestTrace, slo: Slo) -> bool:
    """Whether a request completed within every limit; one without a TPOT keeps any limit on it."""
    if trace.outcome is not RequestOutcome.DONE:
        return False
    held = ((ttft_s(trace), slo.ttft_s), (tpot_s(trace), slo.tpot_s), (e2e_s(trace), slo.e2e_s))
    return all(limit is None or value is None or value <= limit for value, limit in held)


def goodput(traces: Sequence[RequestTrace], slo: Slo) -> dict[str, float] | None:
    """Share of the measured requests that kept the limits, and how many a second; failed ones count as sent."""
    sent = [trace for trace in traces if trace.measured]
    window = window_ns(traces)
    if not sent or window is None or slo == Slo():
        return None
    good = sum(keeps(trace, slo) for trace in sent)
    return {"share": good / len(sent), "rps": good / ((window[1] - window[0]) * _NS)}
