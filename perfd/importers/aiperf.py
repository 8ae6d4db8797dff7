"""AIPerf's profile export, JSON or CSV: a statistic a Metric over requests."""

import re
from typing import Any

from perfd.domain.arrival import Arrival
from perfd.domain.metric import Better
from perfd.domain.suite import WorkloadClass
from perfd.errors import BadInputError
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, Measured, once
from perfd.importers.serving import seconds
from perfd.importers.source import Node, Source, csv_rows
from perfd.importers.units import TIMES, Quantity

NAME = "aiperf"
LATENCIES = {
    "time_to_first_token": "ttft", "request_latency": "e2e", "inter_token_latency": "tpot",
}  # fmt: skip
"""Its inter-token latency is (last - first)/(n - 1) of each request, which is our TPOT."""
RATES = {
    "request_throughput": ("requests_per_s", "requests/s"),
    "output_token_throughput": ("output_tokens_per_s", "tokens/s"),
    "total_token_throughput": ("total_tokens_per_s", "tokens/s"),
}
ROW = re.compile(r"(?P<name>[^()]+?)\s*\((?P<unit>[^()]+)\)")


def sniff(text: str) -> bool:
    """Whether it looks so."""
    return ('"request_throughput"' in text and '"avg"' in text) or text.lstrip("\ufeff").startswith("Metric,avg")


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """The one profile of the file."""
    text = source.text()
    document = source.json() if text.lstrip().startswith("{") else Node(_table(text), "table")
    settings = document["input_config"]
    load, model = _load(settings) if settings else ({}, "")
    found = [part for key, told in document.items() if key in LATENCIES or key in RATES for part in _measured(key, told)]
    if not found:
        raise BadInputError(f"none of AIPerf's Metrics {', '.join([*LATENCIES, *RATES])} is in it")
    maker = Maker(NAME, given, given.named(""), Machine(), source.key)
    commit = Commit("", document["start_time"].moment())
    return once([maker.arrival(commit, "profile", found, parameters=load, workload_class=WorkloadClass.CHAT, model=model)])


def _load(settings: Node) -> tuple[dict[str, Any], str]:
    generator, endpoint = settings["loadgen"], settings["endpoint"]
    names = ("request_rate", "concurrency", "request_count", "arrival_pattern", "request_rate_mode")
    load = {name: generator[name].word() for name in names if generator[name]} if generator else {}
    models = endpoint["model_names"] if endpoint else endpoint
    return load, next((one.text() for one in models.each()), "") if models else ""


def _measured(key: str, told: Node) -> list[Measured]:
    n = told["count"].count() if told["count"] else 1
    if key in RATES:
        metric, unit = RATES[key]
        return [Measured(Quantity(metric, unit, Better.HIGHER), (told["avg"].number(),), n=n)]
    factor = TIMES.get(told["unit"].text())
    if factor is None:
        raise told["unit"].refuse("ms or another unit of time")
    words = {"p50": "", "p99": "_p99"}
    parts = [(words[name], told[name]) for name in words if told[name]] or [("_mean", told["avg"])]
    return [Measured(seconds(f"{LATENCIES[key]}{word}_s", factor), (value.number(),), n=n) for word, value in parts]


def _table(text: str) -> dict[str, dict[str, Any]]:
    """The rows of its CSV as the fields of its JSON: a block of statistics, an empty line, a block of single values."""
    found: dict[str, dict[str, Any]] = {}
    head: list[str] = []
    for number, row in enumerate(csv_rows(text), 1):
        if not any(row):
            head = []
        elif not head:
            head = row
        else:
            named = ROW.fullmatch(row[0].strip())
            key = re.sub(r"[^a-z0-9]+", "_", (named["name"] if named else row[0]).lower()).strip("_")
            if key in LATENCIES or key in RATES:
                values = {
                    name if name != "Value" else "avg": _number(number, cell)
                    for name, cell in zip(head[1:], row[1:], strict=False)
                    if cell
                }
                found[key] = values | {"unit": named["unit"] if named else ""}
    return found


def _number(line: int, cell: str) -> float:
    try:
        return Node(float(cell.replace(",", "")), f"line {line}").number()
    except ValueError:
        raise BadInputError(f"line {line}: expected a number, saw {cell[:40]!r}") from None
