"""The dictionary: what each engine calls the counters and gauges that a witness looks at.

An engine that is not listed, or a name that a release no longer has, gives an absent value and a sentence, never a zero.
"""

from dataclasses import dataclass
from types import MappingProxyType

from perfd.bench.witness.prometheus import Scrape


@dataclass(frozen=True)
class Names:
    """The names of one engine; of several the first that is there counts. () means that the engine tells no such thing."""

    engine: str
    prefix: str
    running: tuple[str, ...]
    waiting: tuple[str, ...]
    kv_share: tuple[str, ...]
    """Share of the KV pool that is in use."""
    preempted: tuple[str, ...]
    preempted_beside: str
    """A series that is there from the start, where the counter only appears with its first count; "" elsewhere."""
    paused: tuple[str, ...]
    """A gauge, for an engine that counts no preemptions."""
    prompt: tuple[str, ...]
    """All prompt tokens, or those computed where `prompt_is_computed`."""
    cached: tuple[str, ...]
    output: tuple[str, ...]
    prompt_is_computed: bool = False
    preemption: str = "preemption"
    """The engine's own word."""


LLAMACPP = Names(
    engine="llama.cpp",
    prefix="llamacpp:",
    running=("llamacpp:requests_processing",),
    waiting=("llamacpp:requests_deferred",),
    kv_share=("llamacpp:kv_cache_usage_ratio",),
    preempted=(),
    preempted_beside="",
    paused=(),
    prompt=("llamacpp:prompt_tokens_total",),
    cached=("llamacpp:prompt_tokens_cached_total",),
    output=("llamacpp:tokens_predicted_total",),
    prompt_is_computed=True,
)
VLLM = Names(
    engine="vLLM",
    prefix="vllm:",
    running=("vllm:num_requests_running",),
    waiting=("vllm:num_requests_waiting",),
    kv_share=("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    preempted=("vllm:num_preemptions_total", "vllm:num_preemptions"),
    preempted_beside="",
    paused=(),
    prompt=("vllm:prompt_tokens_total",),
    cached=("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"),
    output=("vllm:generation_tokens_total",),
)
SGLANG = Names(
    engine="SGLang",
    prefix="sglang:",
    running=("sglang:num_running_reqs",),
    waiting=("sglang:num_queue_reqs",),
    kv_share=("sglang:token_usage",),
    preempted=("sglang:num_retracted_requests_total",),
    preempted_beside="sglang:num_retracted_reqs",
    paused=(),
    prompt=("sglang:prompt_tokens_total",),
    cached=("sglang:cached_tokens_total",),
    output=("sglang:generation_tokens_total",),
    preemption="retraction",
)
TRTLLM = Names(
    engine="TensorRT-LLM",
    prefix="trtllm_",
    running=("trtllm_num_requests_running",),
    waiting=("trtllm_num_requests_waiting",),
    kv_share=("trtllm_kv_cache_utilization",),
    preempted=(),
    preempted_beside="",
    paused=("trtllm_num_paused_requests",),
    prompt=("trtllm_prompt_tokens_total",),
    cached=(),
    output=("trtllm_generation_tokens_total",),
    preemption="pause",
)
ENGINES = (LLAMACPP, VLLM, SGLANG, TRTLLM)
BY_ENGINE = MappingProxyType({names.engine: names for names in ENGINES})


def engine_of(scrape: Scrape) -> Names | None:
    """Whose names these are, by most series; absent for none of them."""
    counts = [(sum(name.startswith(names.prefix) for name in scrape.values), names) for names in ENGINES]
    count, names = max(counts, key=lambda pair: pair[0])
    return names if count else None


@dataclass(frozen=True)
class Look:
    """One look at a server, in words that all engines share; what it does not tell is absent."""

    at_ns: int
    """Of the monotonic clock, when the answer had come."""
    answer_s: float
    """From the question to the answer."""
    running: float | None = None
    waiting: float | None = None
    kv_share: float | None = None
    preempted: float | None = None
    paused: float | None = None
    prompt_tokens: float | None = None
    """All prompt tokens since the server's start, cached ones among them."""
    cached_tokens: float | None = None
    output_tokens: float | None = None


def look_of(scrape: Scrape, names: Names, at_ns: int, answer_s: float) -> Look:
    """The scrape in shared words."""
    prompt, cached = scrape.total(*names.prompt), scrape.total(*names.cached)
    if names.prompt_is_computed and prompt is not None:
        prompt = None if cached is None else prompt + cached
    preempted = scrape.total(*names.preempted)
    if preempted is None and names.preempted_beside in scrape.values:
        preempted = 0.0
    return Look(
        at_ns=at_ns,
        answer_s=answer_s,
        running=scrape.total(*names.running),
        waiting=scrape.total(*names.waiting),
        kv_share=scrape.highest(*names.kv_share),
        preempted=preempted,
        paused=scrape.total(*names.paused),
        prompt_tokens=prompt,
        cached_tokens=cached,
        output_tokens=scrape.total(*names.output),
    )
