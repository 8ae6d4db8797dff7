"""What a load makes a model compute and read at the least, prefill and decode apart.

FLOPs: two for each weight that a token passes, and for each token attended to two for the score and two for the value, per
head size (Kaplan et al. 2020, arXiv 2001.08361, section 2.1; PaLM, arXiv 2204.02311, appendix B, forward pass only). Softmax,
norms and rotary embeddings are left out, as there.
Bytes: weights once a step, and the cache of every sequence in it (the model-bandwidth utilisation of Databricks' "LLM
Inference Performance Engineering: Best Practices", 2023). Activations are left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perfd.bench.utilisation.shape import Shape, Weights

KV_BYTES = 2.0
"""Of one cached value: float16 or bfloat16. An engine with a quantised cache reads less than is counted here."""


@dataclass(frozen=True)
class Served:
    """What one request was, in tokens."""

    cached: int
    """Of the prompt, found in the cache: neither computed nor written again."""
    computed: int
    output: int


@dataclass(frozen=True)
class Work:
    """The least work of a set of requests."""

    prefill_flops: float
    decode_flops: float
    prefill_bytes: float
    decode_bytes: float

    @property
    def flops(self) -> float:
        """Of both phases."""
        return self.prefill_flops + self.decode_flops

    @property
    def bytes(self) -> float:
        """Of both phases."""
        return self.prefill_bytes + self.decode_bytes


def work_of(shape: Shape, weights: Weights, served: Sequence[Served], decode_steps: float) -> Work:
    """The work of these requests, decoded in so many steps (each of which reads the weights once, whatever its batch)."""
    decoded = sum(max(0, one.output - 1) for one in served)
    batch = decoded / decode_steps if decode_steps else 0.0
    cache_read = sum(_cache_read(shape, one) for one in served)
    return Work(
        prefill_flops=sum(prefill_flops(shape, one.cached, one.computed) for one in served),
        decode_flops=sum(decode_flops(shape, one) for one in served),
        prefill_bytes=sum(prefill_bytes(shape, weights, one.cached, one.computed) for one in served),
        decode_bytes=decode_steps * step_weight_bytes(shape, weights, batch) + cache_read + decoded * cache_bytes(shape),
    )


def prefill_flops(shape: Shape, cached: int, computed: int) -> float:
    """Of `computed` prompt tokens after `cached` ones; the head is needed for the last of them only."""
    dense = 2.0 * computed * shape.active_params + 2.0 * shape.head_params
    return dense + attention_flops(shape, range(cached + 1, cached + computed + 1))


def decode_flops(shape: Shape, one: Served) -> float:
    """Of all output tokens but the first, which the prefill gave."""
    later = max(0, one.output - 1)
    start = one.cached + one.computed + 1
    return 2.0 * later * (shape.active_params + shape.head_params) + attention_flops(shape, range(start, start + later))


def attention_flops(shape: Shape, contexts: range) -> float:
    """Of tokens that see so many tokens each (itself among them): scores and values, and the indexer's scores."""
    full = shape.layers - shape.capped_layers
    attended = full * _sum(contexts) + shape.capped_layers * _sum(contexts, shape.attended)
    indexed = shape.index_layers * _sum(contexts) * shape.index_heads * shape.index_dim
    return 2.0 * shape.heads * (shape.qk_dim + shape.v_dim) * attended + 2.0 * indexed


def _sum(contexts: range, most: int | None = None) -> float:
    """The sum of the numbers of a range, each cut at `most`, without walking it."""
    if not contexts:
        return 0.0
    first, last = contexts[0], contexts[-1]
    if most is None or last <= most:
        return (first + last) * len(contexts) / 2
    below = range(first, most + 1)
    return _sum(below) + float(most) * (len(contexts) - len(below))


def cache_bytes(shape: Shape) -> float:
    """Of one token in the cache of all layers, the indexer's key with it."""
    return (shape.layers * shape.kv_values + shape.index_layers * shape.index_dim) * KV_BYTES


def prefill_bytes(shape: Shape, weights: Weights, cached: int, computed: int) -> float:
    """At the least: the weights once, the cached prefix once, and the new tokens' cache written."""
    return step_weight_bytes(shape, weights, float(computed)) + (cached + computed) * cache_bytes(shape)


def step_weight_bytes(shape: Shape, weights: Weights, tokens: float) -> float:
    """Weights that a step of so many tokens reads; of E experts it touches E (1 - (1 - k/E)^tokens) with even routing."""
    if not shape.experts or not tokens:
        return float(weights.always_bytes)
    touched: float = 1.0 - (1.0 - shape.experts_used / shape.experts) ** tokens
    return weights.always_bytes + weights.expert_bytes * touched


def _cache_read(shape: Shape, one: Served) -> float:
    """Bytes of the cache that one request's decode steps read."""
    start = one.cached + one.computed + 1
    contexts = range(start, start + max(0, one.output - 1))
    full = (shape.layers - shape.capped_layers) * _sum(contexts) + shape.capped_layers * _sum(contexts, shape.attended)
    return (full * shape.kv_values + shape.index_layers * _sum(contexts) * shape.index_dim) * KV_BYTES


def decode_steps(arrivals: Iterable[Sequence[tuple[int, int]]]) -> float:
    """How many steps the engine took to decode these streams, as an estimate from when their tokens came.

    `arrivals` holds (ns, tokens) of each stream. While n streams decode, a step gives each of them a token, so a token is 1/n of
    a step. Cost: one sort of all arrivals.
    """
    events: list[tuple[int, int, int]] = []
    for stream in arrivals:
        if len(stream) < 2:
            continue
        events.append((stream[0][0], 0, 1))
        events.append((stream[-1][0], 2, -1))
        events.extend((ns, 1, tokens) for ns, tokens in stream[1:])
    running, steps = 0, 0.0
    for _, kind, amount in sorted(events):
        if kind == 1:
            steps += amount / max(1, running)
        else:
            running += amount
    return steps
