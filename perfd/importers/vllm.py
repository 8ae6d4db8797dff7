"""vLLM's `bench serve` JSON (--save-result, with raw requests by --save-detailed)."""

from datetime import UTC, datetime

from perfd.domain.arrival import Arrival
from perfd.domain.suite import WorkloadClass
from perfd.importers import serving
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, once
from perfd.importers.source import Node, Source

NAME = "vllm"
LOAD = {
    "request_rate": "rate_per_s", "max_concurrency": "concurrency", "num_prompts": "requests", "burstiness": "burstiness",
    "total_input_tokens": "input_tokens",
}  # fmt: skip


def sniff(text: str) -> bool:
    """Whether it looks so."""
    return '"num_prompts"' in text and '"model_id"' in text and '"request_throughput"' in text


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """The one load of the file."""
    told = source.json()
    maker = Maker(NAME, given, given.named(told["label"].text() or "vllm"), Machine(), source.key)
    commit = Commit("", _moment(told["date"]))
    extra = {key: told[key].maybe_number() for key in ("completed", "failed", "duration", "total_output_tokens")}
    return once(
        [
            maker.arrival(
                commit,
                "serve",
                serving.measured(told),
                parameters=serving.parameters(told, LOAD),
                workload_class=WorkloadClass.CHAT,
                model=told["model_id"].name(),
                failure=serving.failure(told),
                extra=extra | {"endpoint": told["endpoint_type"].text() or told["backend"].text()},
            )
        ]
    )


def _moment(node: Node) -> datetime | None:
    """VLLM writes 20260102-120000, in the machine's own zone; UTC is taken."""
    if not node:
        return None
    try:
        return datetime.strptime(node.text(), "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        raise node.refuse("a time such as 20260102-120000") from None
