"""Facts of a server after its start: how many requests it runs at once, and how large its KV pool is."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from perfd.bench.cache import Blocks, Policy, Slots
from perfd.bench.witness.bootlog import BootLog
from perfd.bench.witness.dictionary import LLAMACPP, SGLANG, TRTLLM, VLLM, Names
from perfd.bench.witness.peek import ask_json
from perfd.bench.witness.prometheus import Scrape
from perfd.domain.identity import Json

NULL_BLOCKS = 1
"""vLLM keeps one block of the pool that never holds a request."""
GRAIN = Blocks(1, None)
"""For an engine whose cache is not known: tokens, and nothing about capacity."""


@dataclass(frozen=True)
class ServerFacts:
    """What a server is; what it does not tell is absent."""

    engine: str
    """ "llama.cpp", "vLLM" …, or "unknown"."""
    slots: int | None = None
    """Requests that it runs at once at most (llama.cpp)."""
    context_tokens: int | None = None
    """Of one request."""
    kv_pool_tokens: int | None = None
    kv_pool_bytes: int | None = None
    block_tokens: int | None = None
    prefix_caching: bool | None = None
    cannot_know: tuple[str, ...] = ()
    """One sentence for each thing that this engine does not tell."""

    def as_json(self) -> dict[str, Json]:
        """For the results file."""
        return {**asdict(self), "cannot_know": list(self.cannot_know)}


def facts_of(names: Names | None, scrape: Scrape, log: BootLog, port: int) -> ServerFacts:
    """The server's facts from its metrics, its boot log and, for llama.cpp, its properties."""
    if names is LLAMACPP:
        return llamacpp_facts(ask_json(port, "/props"), log)
    if names is VLLM:
        return vllm_facts(scrape)
    if names is SGLANG:
        return sglang_facts(scrape)
    if names is TRTLLM:
        return ServerFacts(
            TRTLLM.engine, cannot_know=("the size of its KV pool: it stands in its log only, which inferlint reads",)
        )
    return ServerFacts(
        "unknown",
        cannot_know=(
            "running requests, KV pool, cache hits, its own token counts: no metrics known here (transformers serve has none)",
        ),
    )


def llamacpp_facts(properties: Any, log: BootLog) -> ServerFacts:
    """By /props, and by the log where that does not answer. With a unified cache, all slots share one context."""
    given = properties if isinstance(properties, dict) else {}
    settings = given.get("default_generation_settings")
    context = _whole(settings.get("n_ctx")) if isinstance(settings, dict) else None
    slots = _whole(given.get("total_slots")) or log.slots
    context = context or log.slot_context_tokens
    pool = log.kv_cells
    if pool is None and slots and context:
        pool = context if log.unified else slots * context
    missing = [] if log.kv_bytes else ["the KV pool's bytes: llama.cpp logs them only with more verbosity (-lv 4)"]
    return ServerFacts(
        LLAMACPP.engine,
        slots=slots,
        context_tokens=context,
        kv_pool_tokens=pool,
        kv_pool_bytes=log.kv_bytes,
        cannot_know=("preemptions: llama.cpp has none, a request that finds no slot waits", *missing),
    )


def vllm_facts(scrape: Scrape) -> ServerFacts:
    """By the labels of vllm:cache_config_info."""
    labels = scrape.labels.get("vllm:cache_config_info", {})
    block, blocks = _digits(labels, "block_size"), _digits(labels, "num_gpu_blocks")
    caching = labels.get("enable_prefix_caching")
    return ServerFacts(
        VLLM.engine,
        kv_pool_tokens=block * max(0, blocks - NULL_BLOCKS) if block and blocks else None,
        block_tokens=block,
        prefix_caching=None if caching is None else caching == "True",
        cannot_know=() if block and blocks else ("the size of its KV pool: vllm:cache_config_info is missing",),
    )


def sglang_facts(scrape: Scrape) -> ServerFacts:
    """By its gauges, which it serves with --enable-metrics."""
    pool, page = scrape.highest("sglang:max_total_num_tokens"), scrape.highest("sglang:page_size")
    return ServerFacts(
        SGLANG.engine,
        kv_pool_tokens=int(pool) if pool else None,
        block_tokens=int(page) if page else None,
        cannot_know=() if pool else ("the size of its KV pool: sglang:max_total_num_tokens is missing",),
    )


def policy_of(facts: ServerFacts) -> Policy:
    """The cache that the server has, as a simulator; of an unknown one only the grain of tokens."""
    if facts.slots:
        return Slots(facts.slots)
    if not facts.block_tokens:
        return GRAIN
    if facts.prefix_caching is False:
        return Blocks(facts.block_tokens, 0)
    pool = facts.kv_pool_tokens
    return Blocks(facts.block_tokens, pool // facts.block_tokens if pool else None)


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _digits(labels: Mapping[str, str], name: str) -> int | None:
    text = labels.get(name, "")
    return int(text) if text.isdigit() and int(text) > 0 else None
