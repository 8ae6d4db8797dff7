"""SGLang's `bench_serving` JSONL: a line a load."""

from perfd.domain.arrival import Arrival
from perfd.domain.suite import WorkloadClass
from perfd.errors import BadInputError
from perfd.importers import serving
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, once
from perfd.importers.source import Source, parse

NAME = "sglang"
LOAD = {
    "request_rate": "rate_per_s", "max_concurrency": "concurrency", "random_input_len": "input_tokens",
    "random_output_len": "output_tokens", "random_range_ratio": "range_ratio", "sharegpt_output_len": "output_tokens_fixed",
}  # fmt: skip


def sniff(text: str) -> bool:
    """Whether it looks so."""
    first = text.lstrip().partition("\n")[0]
    return (
        first.startswith("{")
        and '"median_ttft_ms"' in first
        and ('"dataset_name"' in first or '"backend"' in first)
        and '"model_id"' not in first
    )


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """Every line of the file."""
    maker = Maker(NAME, given, given.named("sglang"), Machine(), source.key)
    made = []
    for number, line in source.lines():
        if not line.strip():
            continue
        told = parse(line, line=number, root=f"line {number}: $")
        server = told["server_info"]
        model = server["model_path"].text() if server and isinstance(server.value, dict) else ""
        if not serving.measured(told):
            raise BadInputError(f"line {number}: there is no Metric of `bench_serving` in it")
        made.append(
            maker.arrival(
                Commit("", None),
                told["dataset_name"].text() or "serve",
                serving.measured(told),
                parameters=serving.parameters(told, LOAD),
                workload_class=WorkloadClass.CHAT,
                model=model or told["model"].text(),
                failure=serving.failure(told),
                extra={key: told[key].maybe_number() for key in ("completed", "duration", "concurrency", "accept_length")},
            )
        )
    return once(made)
