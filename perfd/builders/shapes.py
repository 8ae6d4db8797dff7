"""The announced shapes of a Model: a file like config.json, read into the tensors that a GGUF file of it holds."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from perfd.domain.model import Model
from perfd.domain.subject import Engine
from perfd.errors import BadInputError

ARCHITECTURES = {
    "llama": "llama",
    "mistral": "llama",
    "mixtral": "llama",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "qwen3_moe": "qwen3moe",
}
"""model_type of a config.json, and what llama.cpp calls that architecture."""
NEEDS = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
LARGEST_BYTES = 1_000_000
LEAST_VOCABULARY = 512
VERSION = "1"
"""Raised when equal shapes would give another file."""


@dataclass(frozen=True)
class Shapes:
    """A decoder-only transformer, as its makers announced it."""

    architecture: str
    """llama.cpp's word."""
    vocabulary: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head: int
    """Size of one head."""
    feed_forward: int
    """Of a dense layer, or of one expert."""
    context: int
    experts: int
    """0 for a dense model."""
    experts_used: int
    tied: bool
    rope_base: float
    norm_epsilon: float

    def tensors(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Name and shape (rows first, as numpy has them) of every tensor, in the order of the file."""
        yield "token_embd.weight", (self.vocabulary, self.hidden)
        for layer in range(self.layers):
            for name, shape in self._layer():
                yield f"blk.{layer}.{name}", shape
        yield "output_norm.weight", (self.hidden,)
        if not self.tied:
            yield "output.weight", (self.vocabulary, self.hidden)

    def _layer(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        queries, keys = self.heads * self.head, self.kv_heads * self.head
        yield "attn_norm.weight", (self.hidden,)
        for name, rows in (("attn_q", queries), ("attn_k", keys), ("attn_v", keys)):
            yield f"{name}.weight", (rows, self.hidden)
            if self.architecture == "qwen2":
                yield f"{name}.bias", (rows,)
        yield "attn_output.weight", (self.hidden, queries)
        if self.architecture.startswith("qwen3"):
            yield "attn_q_norm.weight", (self.head,)
            yield "attn_k_norm.weight", (self.head,)
        yield "ffn_norm.weight", (self.hidden,)
        yield from self._feed_forward()

    def _feed_forward(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        ends, many = ("", ()) if not self.experts else ("_exps", (self.experts,))
        if self.experts:
            yield "ffn_gate_inp.weight", (self.experts, self.hidden)
        for name in ("ffn_gate", "ffn_up"):
            yield f"{name}{ends}.weight", (*many, self.feed_forward, self.hidden)
        yield f"ffn_down{ends}.weight", (*many, self.hidden, self.feed_forward)


def why_no_random_weights(engine: Engine) -> str:
    """One sentence for an Engine that perfd cannot write random weights for; "" for one that loads GGUF files."""
    if engine.launch.dialect == "llamacpp":
        return ""
    return (
        f"perfd writes random weights as GGUF, which the engine {engine.name} does not load: leave the days before 0 out, or "
        "launch it on weights that it makes up itself (vLLM and SGLang: --load-format dummy)"
    )


def random_weights_hash(model: Model) -> str:
    """What names the weights: sha256 over the shapes, the quantisation, and the version of how they follow from these."""
    told = {"shapes": read_document(Path(model.shape)), "quantisation": model.quantisation, "version": VERSION}
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def read_shape(model: Model) -> Shapes:
    """The announced shapes; raises BadInputError where the file is none, or its architecture is one that perfd cannot write."""
    path = Path(model.shape)
    return _shapes(read_document(path), path)


def read_document(path: Path) -> dict[str, Any]:
    """The file as JSON; raises BadInputError where it cannot be read or is no object."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_BYTES + 1)
        found = json.loads(text)
    except FileNotFoundError:
        raise BadInputError(f"there are no shapes at {path}: check models.shape") from None
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise BadInputError(f"{path}: no JSON of at most {LARGEST_BYTES:,} bytes; expected a file like config.json") from None
    if not isinstance(found, dict):
        raise BadInputError(f"{path}: expected an object like config.json, saw a {type(found).__name__}")
    return found


def _shapes(told: dict[str, Any], path: Path) -> Shapes:
    kind = told.get("model_type")
    if kind not in ARCHITECTURES:
        raise BadInputError(
            f"{path}: random weights can be written for {', '.join(ARCHITECTURES)}, not for model_type {kind!r}; "
            "rehearse with the nearest of these"
        )
    missing = [name for name in NEEDS if name not in told]
    if missing:
        raise BadInputError(f"{path}: needs {', '.join(missing)}")
    heads = _whole(told, "num_attention_heads", path)
    experts = _whole(told, "num_local_experts", path, _whole(told, "num_experts", path, 0))
    dense = _whole(told, "intermediate_size", path)
    made = Shapes(
        architecture=ARCHITECTURES[str(kind)],
        vocabulary=_whole(told, "vocab_size", path),
        hidden=_whole(told, "hidden_size", path),
        layers=_whole(told, "num_hidden_layers", path),
        heads=heads,
        kv_heads=_whole(told, "num_key_value_heads", path, heads),
        head=_whole(told, "head_dim", path, _whole(told, "hidden_size", path) // heads),
        feed_forward=_whole(told, "moe_intermediate_size", path, dense) if experts else dense,
        context=_whole(told, "max_position_embeddings", path, 4096),
        experts=experts,
        experts_used=_whole(told, "num_experts_per_tok", path, 2) if experts else 0,
        tied=told.get("tie_word_embeddings") is True,
        rope_base=_number(told, "rope_theta", path, 10000.0),
        norm_epsilon=_number(told, "rms_norm_eps", path, 1e-5),
    )
    if made.vocabulary < LEAST_VOCABULARY:
        raise BadInputError(f"{path}: a vocabulary of {made.vocabulary} is too small; at least {LEAST_VOCABULARY} are needed")
    return made


def _whole(told: dict[str, Any], name: str, path: Path, default: int | None = None) -> int:
    value = told.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 1 << 31:
        raise BadInputError(f"{path}: {name} must be a whole number above 0, not {value!r}")
    return value


def _number(told: dict[str, Any], name: str, path: Path, default: float) -> float:
    value = told.get(name, default)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1e12:
        raise BadInputError(f"{path}: {name} must be a number above 0, not {value!r}")
    return float(value)
