"""Metrics: a name, a unit, which way is better, and how Samples become a Point. docs/metrics.md defines each in words."""

from dataclasses import dataclass
from enum import StrEnum

DEFINITIONS_VERSION = "1"
"""Raised when any definition below changes meaning; stored with every Run."""


class Better(StrEnum):
    """Which way is better."""

    HIGHER = "higher"
    LOWER = "lower"


class Reduction(StrEnum):
    """How the Samples of one Run become the value of its Point."""

    MEDIAN = "median"
    MEAN = "mean"
    """For Metrics that are sums over items (log-likelihood, agreement): the median would hide a few bad items."""


class MetricKind(StrEnum):
    """What question the Metric answers; speed and quality are judged together."""

    SPEED = "speed"
    QUALITY = "quality"
    RESOURCE = "resource"
    STATIC = "static"
    """Counted by a compiler, without noise."""


class Evidence(StrEnum):
    """What two Builds are compared by."""

    PAIRS = "pairs"
    """Interleaved Runs: each gives one value."""
    ITEMS = "items"
    """Right and wrong answers to the same items, in the Samples' order."""
    DOCUMENTS = "documents"
    """Values of the same documents or prompts, in the Samples' order: one of them is one witness."""


@dataclass(frozen=True)
class Metric:
    """A measured quantity."""

    name: str
    unit: str
    better: Better
    kind: MetricKind
    sentence: str
    reduction: Reduction = Reduction.MEDIAN
    relevant: float = 0.02
    """The smallest relative effect that matters to a person: 0.02 is 2 %."""
    evidence: Evidence = Evidence.PAIRS


_LOWER, _HIGHER = Better.LOWER, Better.HIGHER
_SPEED, _QUALITY = MetricKind.SPEED, MetricKind.QUALITY
_RESOURCE, _STATIC = MetricKind.RESOURCE, MetricKind.STATIC

CATALOGUE: tuple[Metric, ...] = (
    Metric("ttft_s", "s", _LOWER, _SPEED, "Time from the intended send time to the first output token's bytes."),
    Metric("itl_s", "s", _LOWER, _SPEED, "Gap before each output token after the first; k tokens together share a gap."),
    Metric("tpot_s", "s", _LOWER, _SPEED, "Mean time per output token of a request, the first token excluded."),
    Metric("e2e_s", "s", _LOWER, _SPEED, "Time from the intended send time to the last output token's bytes."),
    Metric("output_tokens_per_s", "tokens/s", _HIGHER, _SPEED, "Output tokens of completed requests over the window."),
    Metric("session_s", "s", _LOWER, _SPEED, "Time from a session's first intended send to its last output token."),
    Metric(
        "retrieval_score",
        "share",
        _HIGHER,
        _QUALITY,
        "Share of the numbers hidden in a long prompt and asked for that the answer names, one Sample a request.",
        Reduction.MEAN,
    ),
    Metric("ready_s", "s", _LOWER, _SPEED, "Time from the start of the engine's process to its first ready answer."),
    Metric("failed_requests", "requests", _LOWER, _QUALITY, "Requests that did not complete, of those sent.", relevant=0.0),
    Metric("peak_memory_bytes", "bytes", _LOWER, _RESOURCE, "Highest resident memory of the engine's process tree."),
    Metric(
        "nll_nats",
        "nats/token",
        _LOWER,
        _QUALITY,
        "Mean negative log-likelihood of a fixed text, one Sample a document.",
        Reduction.MEAN,
        relevant=0.005,
        evidence=Evidence.DOCUMENTS,
    ),
    Metric(
        "outside_top_k",
        "positions",
        _LOWER,
        _QUALITY,
        "Positions of the fixed text whose token was not among the top k that the engine reports.",
        relevant=0.0,
    ),
    Metric(
        "greedy_agreement",
        "share",
        _HIGHER,
        _QUALITY,
        "Share of greedy output tokens equal to the stored reference output, one Sample a prompt.",
        Reduction.MEAN,
        relevant=0.01,
        evidence=Evidence.DOCUMENTS,
    ),
    Metric(
        "kl_nats",
        "nats/token",
        _LOWER,
        _QUALITY,
        "KL divergence of the engine's probabilities from stored ones of the same weights, one Sample a document.",
        Reduction.MEAN,
        relevant=0.5,
        evidence=Evidence.DOCUMENTS,
    ),
    Metric(
        "task_accuracy",
        "share",
        _HIGHER,
        _QUALITY,
        "Share of a task's items that were answered right, one Sample an item: 0 or 1.",
        Reduction.MEAN,
        evidence=Evidence.ITEMS,
    ),
    Metric(
        "kernel_error",
        "rms ratio",
        _LOWER,
        _QUALITY,
        "RMS error against float64, over the output's own RMS.",
        relevant=0.1,
    ),
    Metric("kernel_s", "s", _LOWER, _SPEED, "Time of one kernel launch on a GPU, raw rounds kept."),
    Metric(
        "registers",
        "registers/thread",
        _LOWER,
        _STATIC,
        "Registers a thread, as the compiler allocated them.",
        relevant=0.0,
    ),
    Metric("spills", "instructions", _LOWER, _STATIC, "Local loads and stores in the machine code.", relevant=0.0),
    Metric("shared_memory_bytes", "bytes", _LOWER, _STATIC, "Shared memory of a block, static and dynamic.", relevant=0.0),
    Metric(
        "instructions",
        "instructions",
        _LOWER,
        _STATIC,
        "Machine instructions of the kernel, padding excluded.",
        relevant=0.0,
    ),
    Metric("compile_s", "s", _LOWER, _RESOURCE, "Time to compile the kernel from nothing.", relevant=0.25),
    Metric(
        "ttft_per_1k_uncached_s",
        "s/1,000 tokens",
        _LOWER,
        _SPEED,
        "Slope of TTFT over the prompt tokens that were not cached, by least squares over the Run's requests.",
        relevant=0.05,
    ),
    Metric(
        "cache_hit_share",
        "share",
        _HIGHER,
        _RESOURCE,
        "Prompt tokens out of the engine's cache, of all; told only where the Workload wants reuse.",
    ),
    Metric(
        "recomputed_share",
        "share",
        _LOWER,
        _RESOURCE,
        "Prompt tokens computed although an LRU cache of the same capacity would have held them, of all.",
    ),
    Metric(
        "kv_pool_tokens",
        "tokens",
        _HIGHER,
        _RESOURCE,
        "Tokens that the engine's KV cache holds, as it says after its start.",
    ),
    Metric(
        "mfu",
        "share",
        _HIGHER,
        _RESOURCE,
        "FLOPs that the model needs over the bfloat16 peak of the devices in the window.",
    ),
    Metric(
        "mbu",
        "share",
        _HIGHER,
        _RESOURCE,
        "Bytes that the model must move at the least over what the devices' memory could move in the window.",
    ),
    Metric(
        "energy_j_per_token",
        "J/token",
        _LOWER,
        _RESOURCE,
        "Energy of the device in the window for each output token in it.",
        relevant=0.05,
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in CATALOGUE}
