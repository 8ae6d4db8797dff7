"""Whether a Run may be believed: the offered load was the asked one, and the client's own error is small."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from perfd.bench.load import metrics
from perfd.bench.load.events import EventLog, RequestOutcome
from perfd.bench.load.plan import Bounds

FEWEST_FOR_P99 = 100
"""Requests of a calibration from which on the p99 of its gaps is more than a few neighbours on the machine."""
FEWEST_FOR_ONE = 20


@dataclass(frozen=True)
class _Bound:
    """A limit on a time, and the words for it."""

    seconds: float
    words: str


def why_invalid(log: EventLog, bounds: Bounds) -> tuple[str, ...]:
    """One sentence for each thing that voids the Run; none for a Run that counts."""
    found = [*_nothing_measured(log), *_offered(log, bounds), *_send_lag(log, bounds), *_calibration(log, bounds)]
    return tuple(found)


def offered_error(log: EventLog) -> float | None:
    """Offered over drawn rate, minus 1; absent for a closed load or fewer than two requests.

    The rate is the slope of sent against due times, so that a drift of the whole shows and one late request at the edge does not
    pass for it (its lag has a bound of its own); requests that were never begun count as not offered.
    """
    begun = [trace for trace in log.traces if trace.measured]
    pairs = [(trace.intended_ns, trace.sent_ns) for trace in begun if trace.sent_ns is not None]
    if len(log.head.drawn_ns) < 2 or len(pairs) < 2:
        return None
    due, sent = (np.asarray(times, dtype=np.float64) - pairs[0][0] for times in zip(*pairs, strict=True))
    spread = float(np.var(due))
    slope = float(np.mean((due - due.mean()) * (sent - sent.mean()))) / spread if spread else 0.0
    return len(begun) / len(log.head.drawn_ns) / slope - 1 if slope > 0 else None


def _nothing_measured(log: EventLog) -> list[str]:
    if metrics.done(log.traces):
        return []
    failed = next((trace for trace in log.traces if trace.outcome is RequestOutcome.FAILED), None)
    why = f"; the first failed with {failed.reason}: {failed.detail}" if failed else ""
    return [f"none of the {len(log.traces)} requests completed within the measured window{why}"]


def _offered(log: EventLog, bounds: Bounds) -> list[str]:
    error = offered_error(log)
    if error is None or abs(error) <= bounds.offered_error or log.head.interrupted or log.head.concurrency is not None:
        return []
    return [f"the offered load was {error:+.1%} off the drawn schedule, and at most {bounds.offered_error:.0%} is allowed"]


def _send_lag(log: EventLog, bounds: Bounds) -> list[str]:
    lags = [lag for trace in log.traces if trace.measured and (lag := metrics.send_lag_s(trace)) is not None]
    ttft = _median_ttft(log)
    if ttft is None:
        return []
    bound = _larger(bounds.send_lag_p99_s, bounds.send_lag_share, ttft)
    late = sum(lag > bound.seconds for lag in lags)
    if late <= allowed_late(len(lags)):
        return []
    worst = max(lags) * 1e3
    return [f"the client sent late: {late} of {len(lags)} requests by more than {bound.words}, the worst by {worst:.2f} ms"]


def allowed_late(requests: int) -> int:
    """One in a hundred, as a bound on the p99 says; of 20 to 100 requests one, where the p99 would be the very worst of them."""
    return max(requests // 100, 1 if requests >= FEWEST_FOR_ONE else 0)


def _median_ttft(log: EventLog) -> float | None:
    found = metrics.summary([metrics.ttft_s(trace) for trace in metrics.done(log.traces)])
    return None if found is None else found["p50"]


def _larger(seconds: float, share: float, ttft_s: float) -> _Bound:
    if share * ttft_s > seconds:
        return _Bound(share * ttft_s, f"{share * ttft_s * 1e3:.2f} ms ({share:.1%} of the median TTFT)")
    return _Bound(seconds, f"{seconds * 1e3:.2f} ms")


def _calibration(log: EventLog, bounds: Bounds) -> list[str]:
    found, ttft = log.head.self_calibration, _median_ttft(log)
    if found is None or ttft is None:
        return []
    gaps = metrics.summary([gap for trace in metrics.done(log.traces) for gap in metrics.itl_s(trace)])
    return calibration_complaints(found, bounds, ttft, gaps)


def _itl_error(found: Mapping[str, Any], place: str, itl_s: float) -> float | None:
    own: float | None = found["itl_error"][place]
    seconds: float | None = found.get("itl_error_s", {}).get(place)
    if own is None or seconds is None or itl_s <= 0:
        return own
    return min(own, seconds / itl_s, key=abs)


def _itl_places(found: Mapping[str, Any]) -> list[str]:
    """The percentiles of ITL that a calibration can speak of: the p99 of a short one is a handful of gaps, and says nothing."""
    few = found.get("requests", FEWEST_FOR_P99) < FEWEST_FOR_P99
    return [place for place in found.get("itl_error", {}) if not (few and place == "p99")]


def calibration_complaints(
    found: Mapping[str, Any], bounds: Bounds, ttft_s: float, itl_s: Mapping[str, float] | None = None
) -> list[str]:
    """What in a self-calibration is outside the bounds, for a load with this median TTFT and these percentiles of ITL.

    The client errs by a time, not by a share; so its ITL error counts relative to the load's gaps, where they are longer than
    those that it was measured on.
    """
    limits = {
        "p50": _larger(bounds.ttft_bias_p50_s, bounds.ttft_bias_p50_share, ttft_s),
        "p99": _larger(bounds.ttft_bias_p99_s, bounds.ttft_bias_p99_share, ttft_s),
    }
    said = []
    for place, bound in limits.items():
        bias = found.get("ttft_bias_s", {}).get(place)
        if bias is None or abs(bias) > bound.seconds:
            seen = "unknown" if bias is None else f"{bias * 1e3:+.2f} ms"
            said.append(f"calibration: the client's TTFT bias at {place} is {seen}, and the bound is {bound.words}")
    for place in _itl_places(found):
        error = _itl_error(found, place, (itl_s or {}).get(place, 0.0))
        small = abs(found.get("itl_error_s", {}).get(place, 1.0)) <= bounds.itl_error_s
        limit = bounds.itl_error if place == "p50" else bounds.itl_error_p99
        if error is None or (abs(error) > limit and not small):
            seen = "unknown" if error is None else f"{error:+.2%}"
            said.append(f"calibration: the client's ITL error at {place} is {seen}, and the bound is {limit:.1%}")
    return said
