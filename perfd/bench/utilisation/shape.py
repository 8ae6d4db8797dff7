"""The shape of a model: what decides how much it computes and reads, from its config.json or its GGUF metadata."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfd.bench.utilisation.gguf import GgufHead, read_gguf
from perfd.errors import BadInputError

_DTYPE_BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "float8_e4m3fn": 1.0, "float8_e5m2": 1.0, "int8": 1.0}
_METHOD_BYTES = {"fp8": 1.0, "modelopt": 1.0, "mxfp4": 0.53125, "bitsandbytes": 0.5}
"""Bytes a weight where a quantisation names no number of bits; mxfp4 has 32 values of 4 bits and a scale of 8."""


@dataclass(frozen=True)
class Weights:
    """Bytes of the weights, by how often a decode step reads them."""

    always_bytes: int
    """Read in every step: attention, dense and shared feed-forward, routers, norms, the output head."""
    expert_bytes: int
    """All routed experts of all layers; a step reads those that it touches."""
    lookup_bytes: int
    """The input embedding where it is not the head too: a row a token is read, which is nothing."""

    @property
    def total_bytes(self) -> int:
        """All of it."""
        return self.always_bytes + self.expert_bytes + self.lookup_bytes


@dataclass(frozen=True)
class Shape:
    """A decoder-only transformer; one layer's figures where nothing else is said."""

    layers: int
    hidden: int
    vocabulary: int
    heads: int
    qk_dim: int
    """Of one head's queries and keys."""
    v_dim: int
    kv_values: int
    """Values that the cache holds for a token: 2 x KV heads x head size, or the latent of MLA."""
    attention_params: int
    dense_layers: int
    """Layers with an ordinary feed-forward; the rest routes to experts."""
    dense_ff: int
    experts: int = 0
    experts_used: int = 0
    expert_ff: int = 0
    shared_ff: int = 0
    """Of all shared experts together."""
    tied: bool = False
    """The output head is the input embedding."""
    capped_layers: int = 0
    """Layers in which a token attends to at most `attended` tokens: a sliding window, or those that an indexer chose."""
    attended: int = 0
    index_layers: int = 0
    """Layers with an indexer, which scores every key with `index_heads` heads of size `index_dim`."""
    index_heads: int = 0
    index_dim: int = 0

    @property
    def moe_layers(self) -> int:
        """Layers that route to experts."""
        return self.layers - self.dense_layers

    @property
    def expert_params(self) -> int:
        """Of one expert: gate, up and down."""
        return 3 * self.hidden * self.expert_ff

    @property
    def head_params(self) -> int:
        """The output head."""
        return self.hidden * self.vocabulary

    @property
    def always_params(self) -> int:
        """Matrices that every token passes, the head excluded; norms are left out (under 0.1 %)."""
        moe = self.moe_layers * (3 * self.hidden * self.shared_ff + self.hidden * self.experts)
        dense = self.dense_layers * 3 * self.hidden * self.dense_ff
        indexer = self.index_layers * self.hidden * self.index_dim * (self.index_heads + 1)
        return self.layers * self.attention_params + dense + moe + indexer

    @property
    def active_params(self) -> int:
        """Matrices that one token passes in the layers: all but the experts that it was not sent to."""
        return self.always_params + self.moe_layers * self.experts_used * self.expert_params

    @property
    def total_params(self) -> int:
        """All matrices."""
        embeddings = self.head_params if self.tied else 2 * self.head_params
        return self.always_params + self.moe_layers * self.experts * self.expert_params + embeddings

    def weights(self, bytes_per_weight: float) -> Weights:
        """Their bytes where all have the same size."""
        always = (self.always_params + self.head_params) * bytes_per_weight
        experts = self.moe_layers * self.experts * self.expert_params * bytes_per_weight
        return Weights(int(always), int(experts), 0 if self.tied else int(self.head_params * bytes_per_weight))


def shape_of(path: Path) -> tuple[Shape, Weights]:
    """The model in a GGUF file, or in a folder (or beside a file) with config.json; raises BadInputError with what is missing."""
    if path.suffix == ".gguf":
        head = read_gguf(path)
        return shape_from_gguf(head), weights_from_gguf(head)
    config = (path if path.is_dir() else path.parent) / "config.json"
    try:
        document = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise BadInputError(f"{path}: neither a GGUF file nor beside a readable config.json") from None
    shape = shape_from_config(document)
    return shape, shape.weights(bytes_per_weight(document))


def shape_from_config(document: Mapping[str, Any]) -> Shape:
    """From a config.json of transformers; of a composite one, its text model. Raises BadInputError for a missing key."""
    config = _Config({**document, **document.get("text_config", {})})
    layers, hidden = config.need("num_hidden_layers"), config.need("hidden_size")
    heads = config.need("num_attention_heads")
    experts = config.first("num_local_experts", "n_routed_experts", "num_experts")
    expert_ff = config.first("moe_intermediate_size", "intermediate_size") if experts else 0
    dense_layers = config.dense_layers(layers) if experts else layers
    attention = _mla(config, hidden, heads) if config.first("kv_lora_rank") else _grouped(config, hidden, heads)
    return Shape(
        layers=layers,
        hidden=hidden,
        vocabulary=config.need("vocab_size"),
        heads=heads,
        **attention,
        dense_layers=dense_layers,
        dense_ff=(config.first("dense_intermediate_size", "mlp_intermediate_size", "intermediate_size")),
        experts=experts,
        experts_used=config.first("num_experts_per_tok", "num_experts_per_token", "moe_topk"),
        expert_ff=expert_ff,
        shared_ff=config.shared_ff(expert_ff),
        tied=bool(config.values.get("tie_word_embeddings", False)),
        **config.sparse(layers),
    )


@dataclass(frozen=True)
class _Config:
    values: Mapping[str, Any]

    def need(self, name: str) -> int:
        value = self.first(name)
        if not value:
            raise BadInputError(f"config.json has no {name}, which utilisation is counted from")
        return value

    def first(self, *names: str) -> int:
        """The first of these that is a whole number above 0; else 0."""
        found = (self.values.get(name) for name in names)
        return next((v for v in found if isinstance(v, int) and not isinstance(v, bool) and v > 0), 0)

    def dense_layers(self, layers: int) -> int:
        """By a flag a layer (MiniMax), by a kind a layer (transformers 5), or by how many come first (DeepSeek)."""
        flags, kinds = self.values.get("moe_layer_freq"), self.values.get("mlp_layer_types")
        if isinstance(flags, list):
            return sum(not flag for flag in flags)
        if isinstance(kinds, list):
            return kinds.count("dense")
        return min(layers, self.first("first_k_dense_replace"))

    def shared_ff(self, expert_ff: int) -> int:
        if size := self.first("shared_intermediate_size", "shared_expert_intermediate_size"):
            return size * max(1, self.first("n_shared_experts"))
        return self.first("n_shared_experts", "num_shared_experts") * expert_ff

    def sparse(self, layers: int) -> dict[str, int]:
        """An indexer (by blocks: MiniMax-M3, by tokens: DeepSeek) or a sliding window; {} where all tokens are attended to."""
        legacy = self.values.get("sparse_attention_config")
        inner = _Config({**self.values, **(legacy if isinstance(legacy, dict) else {})})
        heads = inner.first("index_n_heads", "sparse_num_index_heads")
        blocks = inner.first("index_topk_blocks", "sparse_topk_blocks")
        attended = blocks * inner.first("index_block_size", "sparse_block_size") or inner.first("index_topk")
        if heads and attended:
            count = self._layers_of("sparse", inner.values.get("sparse_attention_freq"), layers)
            dim = inner.first("index_head_dim", "sparse_index_dim")
            return {
                "capped_layers": count,
                "attended": attended,
                "index_layers": count,
                "index_heads": heads,
                "index_dim": dim,
            }
        window = self.first("sliding_window")
        if not window or self.values.get("use_sliding_window") is False:
            return {}
        return {"capped_layers": self._layers_of("sliding", None, layers), "attended": window}

    def _layers_of(self, word: str, flags: Any, layers: int) -> int:
        kinds = self.values.get("layer_types")
        if isinstance(kinds, list):
            return sum(word in str(kind) for kind in kinds)
        return sum(map(bool, flags)) if isinstance(flags, list) else layers


def _grouped(config: _Config, hidden: int, heads: int) -> dict[str, int]:
    """Query heads that share KV heads: four projections."""
    dim = config.first("head_dim") or hidden // heads
    kv_heads = config.first("num_key_value_heads") or heads
    params = 2 * hidden * heads * dim + 2 * hidden * kv_heads * dim
    return {"qk_dim": dim, "v_dim": dim, "kv_values": 2 * kv_heads * dim, "attention_params": params}


def _mla(config: _Config, hidden: int, heads: int) -> dict[str, int]:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): the cache holds one latent and one rotary key a token."""
    latent, rotary = config.need("kv_lora_rank"), config.need("qk_rope_head_dim")
    plain, value = config.need("qk_nope_head_dim"), config.need("v_head_dim")
    low = config.first("q_lora_rank")
    queries = low * (hidden + heads * (plain + rotary)) if low else hidden * heads * (plain + rotary)
    params = queries + hidden * (latent + rotary) + latent * heads * (plain + value) + heads * value * hidden
    return {"qk_dim": plain + rotary, "v_dim": value, "kv_values": latent + rotary, "attention_params": params}


def bytes_per_weight(document: Mapping[str, Any]) -> float:
    """By the quantisation where there is one, else by the dtype; 2 where neither is told."""
    inner = document.get("text_config", {})
    quantised = document.get("quantization_config") or inner.get("quantization_config")
    if isinstance(quantised, dict):
        method = str(quantised.get("quant_method", "")).lower()
        bits = quantised.get("bits", quantised.get("w_bit"))
        if isinstance(bits, int):
            return bits / 8
        if method in _METHOD_BYTES:
            return _METHOD_BYTES[method]
    names = (document.get(key) or inner.get(key) for key in ("dtype", "torch_dtype"))
    return _DTYPE_BYTES.get(str(next((name for name in names if name), "")).removeprefix("torch."), 2.0)


def shape_from_gguf(head: GgufHead) -> Shape:
    """From GGUF metadata; raises BadInputError with the key that is missing, or for attention that is not counted here."""
    if head.number("attention.kv_lora_rank"):
        raise BadInputError(
            f"the GGUF architecture {head.architecture} has latent attention, which is counted from config.json only"
        )
    layers, hidden = _need(head, "block_count"), _need(head, "embedding_length")
    heads = _need(head, "attention.head_count")
    kv_heads = head.number("attention.head_count_kv") or heads
    qk_dim = head.number("attention.key_length") or hidden // heads
    v_dim = head.number("attention.value_length") or hidden // heads
    experts = head.number("expert_count") or 0
    expert_ff = head.number("expert_feed_forward_length") or head.number("feed_forward_length") or 0
    shared = head.number("expert_shared_feed_forward_length") or (head.number("expert_shared_count") or 0) * expert_ff
    return Shape(
        layers=layers,
        hidden=hidden,
        vocabulary=head.number("vocab_size") or _vocabulary(head),
        heads=heads,
        qk_dim=qk_dim,
        v_dim=v_dim,
        kv_values=kv_heads * (qk_dim + v_dim),
        attention_params=hidden * (heads * (qk_dim + v_dim) + kv_heads * (qk_dim + v_dim)),
        dense_layers=(head.number("leading_dense_block_count") or 0) if experts else layers,
        dense_ff=head.number("feed_forward_length") or 0,
        experts=experts,
        experts_used=head.number("expert_used_count") or 0,
        expert_ff=expert_ff if experts else 0,
        shared_ff=shared if experts else 0,
        tied="output.weight" not in head.tensor_bytes,
        **_sparse_gguf(head, layers),
    )


def _sparse_gguf(head: GgufHead, layers: int) -> dict[str, int]:
    heads, top = head.number("attention.indexer.head_count"), head.number("attention.indexer.top_k")
    if heads and top:
        attended = top * (head.number("attention.indexer.block_size") or 1)
        with_indexer = {m[1] for name in head.tensor_bytes if (m := re.match(r"blk\.(\d+)\.indexer", name))}
        count = len(with_indexer) or layers
        dim = head.number("attention.indexer.key_length") or 0
        return {"capped_layers": count, "attended": attended, "index_layers": count, "index_heads": heads, "index_dim": dim}
    window = head.number("attention.sliding_window")
    if not window:
        return {}
    pattern = head.metadata.get(f"{head.architecture}.attention.sliding_window_pattern")
    count = sum(map(bool, pattern)) if isinstance(pattern, list) else layers
    return {"capped_layers": count, "attended": window}


def weights_from_gguf(head: GgufHead) -> Weights:
    """The tensors' own sizes in the file: what a step reads, quantised as it is."""
    embedding = sum(size for name, size in head.tensor_bytes.items() if name == "token_embd.weight")
    experts = sum(size for name, size in head.tensor_bytes.items() if re.search(r"_exps\.", name))
    lookup = embedding if "output.weight" in head.tensor_bytes else 0
    return Weights(sum(head.tensor_bytes.values()) - experts - lookup, experts, lookup)


def _vocabulary(head: GgufHead) -> int:
    tokens = head.metadata.get("tokenizer.ggml.tokens")
    if isinstance(tokens, list):
        return len(tokens)
    if isinstance(tokens, dict):
        return int(tokens["length"])
    raise BadInputError("the GGUF file tells no vocabulary, which utilisation is counted from")


def _need(head: GgufHead, key: str) -> int:
    value = head.number(key)
    if not value:
        raise BadInputError(f"the GGUF file has no {head.architecture}.{key}, which utilisation is counted from")
    return value
