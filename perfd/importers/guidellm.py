"""GuideLLM's JSON: a benchmark a strategy (a rate, a concurrency), with statistics over requests that succeeded."""

from perfd.domain.arrival import Arrival
from perfd.domain.metric import Better
from perfd.domain.suite import WorkloadClass
from perfd.errors import BadInputError
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, Measured, once
from perfd.importers.serving import seconds
from perfd.importers.source import Node, Source
from perfd.importers.units import Quantity

NAME = "guidellm"
KNOWN = {
    "time_to_first_token_ms": seconds("ttft_s", 1e-3),
    "inter_token_latency_ms": seconds("request_gap_s", 1e-3),
    "time_per_output_token_ms": seconds("e2e_per_token_s", 1e-3),
    "request_latency": seconds("e2e_s"),
    "requests_per_second": Quantity("requests_per_s", "requests/s", Better.HIGHER),
    "output_tokens_per_second": Quantity("output_tokens_per_s", "tokens/s", Better.HIGHER),
    "tokens_per_second": Quantity("total_tokens_per_s", "tokens/s", Better.HIGHER),
}
"""Its gap is a mean of each request, its time per output token holds the first token: each has another name than ours."""


def sniff(text: str) -> bool:
    """Whether it looks so."""
    return '"benchmarks"' in text and '"time_to_first_token_ms"' in text


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """Every benchmark of the report."""
    document = source.json()
    return once(_arrival(source, given, document, one) for one in document["benchmarks"].each())


def _arrival(source: Source, given: Given, document: Node, one: Node) -> Arrival:
    config = one["config"] or one["args"]
    strategy = config["strategy"] if config else Node(None, one.path)
    backend = config["backend"] if config else strategy
    load: Node | None = None if not strategy or not isinstance(strategy.value, dict) else strategy
    model = _model(document) or (backend["model"].text() if isinstance(backend.value, dict) else "")
    parameters = {key: load[key].word() for key in ("type_", "rate", "streams", "max_concurrency") if load and load[key]}
    maker = Maker(NAME, given, given.named(""), Machine(), source.key)
    found = [part for key, told in one["metrics"].items() if key in KNOWN for part in _measured(KNOWN[key], told)]
    if not found:
        raise BadInputError(f"{one.path}.metrics: none of {', '.join(KNOWN)}")
    return maker.arrival(
        Commit("", one["start_time"].moment()),
        str(parameters.get("type_", "serve")),
        found,
        parameters={key: value for key, value in parameters.items() if key != "type_"},
        workload_class=WorkloadClass.CHAT,
        model=model,
    )


def _model(document: Node) -> str:
    arguments = document["args"]
    return arguments["model"].text() if arguments and isinstance(arguments.value, dict) else ""


def _measured(kind: Quantity, told: Node) -> list[Measured]:
    good = told["successful"] or told
    n = good["count"].count() if good["count"] else 1
    rate = kind.better is Better.HIGHER
    value = good["mean"] if rate or not good["median"] else good["median"]
    if not value:
        return []
    found = [Measured(kind, (value.number(),), n=n)]
    ends = good["percentiles"]
    if not rate and ends and ends["p99"]:
        found.append(Measured(seconds(kind.metric.removesuffix("_s") + "_p99_s", kind.factor), (ends["p99"].number(),), n=n))
    return found
