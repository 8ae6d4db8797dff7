"""What vLLM's and SGLang's serving benchmarks share: requests as they were timed, or medians and percentiles in milliseconds."""

import re
from collections.abc import Mapping

from perfd.domain.identity import Json
from perfd.domain.metric import Better
from perfd.importers.making import Measured
from perfd.importers.source import Node
from perfd.importers.units import Quantity

TIMES = {"ttft": "ttft", "tpot": "tpot", "itl": "chunk_gap", "e2el": "e2e", "e2e_latency": "e2e"}
"""Their words, and ours. What both call ITL is a gap between chunks; perfd's `itl_s` is per token, so it has another name."""
STATISTIC = re.compile(r"(?P<what>median|p[0-9]+(?:\.[0-9]+)?)_(?P<time>ttft|tpot|itl|e2el|e2e_latency)_ms")
RATES = {
    "request_throughput": ("requests_per_s", "requests/s"),
    "output_throughput": ("output_tokens_per_s", "tokens/s"),
    "total_token_throughput": ("total_tokens_per_s", "tokens/s"),
    "request_goodput": ("good_requests_per_s", "requests/s"),
}


def measured(told: Node) -> list[Measured]:
    """Every Metric of one line: raw requests where they were kept, otherwise the tool's own statistics."""
    n = told["completed"].count() if told["completed"] else 1
    raw = _raw(told)
    found = list(raw)
    taken = {one.quantity.metric for one in raw}
    for key, value in told.items():
        statistic = STATISTIC.fullmatch(key)
        if statistic is not None and value:
            median = statistic["what"] == "median"
            metric = f"{TIMES[statistic['time']]}{'' if median else '_' + statistic['what'].replace('.', '_')}_s"
            if metric not in taken:
                found.append(Measured(seconds(metric, 1e-3), (value.number(),), n=n))
    for key, (metric, unit) in RATES.items():
        if told[key]:
            found.append(Measured(Quantity(metric, unit, Better.HIGHER), (told[key].number(),), n=n))
    return found


def seconds(metric: str, factor: float = 1.0) -> Quantity:
    """A time, which is better lower."""
    return Quantity(metric, "s", Better.LOWER, factor)


def _raw(told: Node) -> list[Measured]:
    failed = [bool(one.text()) for one in told["errors"].each()] if told["errors"] else []
    if not told["ttfts"] or not told["itls"]:
        return []
    first = [value for place, value in enumerate(told["ttfts"].numbers()) if not _at(failed, place)]
    gaps = [one.numbers() for place, one in enumerate(told["itls"].each()) if not _at(failed, place)]
    flat = tuple(gap for some in gaps for gap in some)
    found = [Measured(seconds("ttft_s"), tuple(first))] if first else []
    return [*found, Measured(seconds("chunk_gap_s"), flat)] if flat else found


def _at(failed: list[bool], place: int) -> bool:
    return place < len(failed) and failed[place]


def parameters(told: Node, names: Mapping[str, str]) -> dict[str, Json]:
    """The load as the file tells it, under our names; what it does not tell is left out."""
    return {ours: told[theirs].word() for theirs, ours in names.items() if told[theirs]}


def failure(told: Node) -> str:
    """Why the load gave no result; "" where it did."""
    completed = told["completed"].maybe_number()
    return "no request completed" if completed == 0 else ""
