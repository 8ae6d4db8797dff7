"""Random weights of announced shapes: a GGUF file with every tensor of the real one, the same on every machine."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perfd import builders
from perfd.bench.utilisation.gguf import read_gguf
from perfd.domain.model import Model
from perfd.domain.subject import Engine, Launch, Source, SourceKind
from perfd.errors import BadInputError

SHAPES = {
    "model_type": "llama",
    "vocab_size": 1024,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "max_position_embeddings": 2048,
}


def model(folder: Path, quantisation: str = "Q8_0", **changes: Any) -> Model:
    path = folder / "config.json"
    path.write_text(json.dumps(SHAPES | changes), encoding="utf-8")
    made = Model("m3-rehearsal", "", "", "", "", quantisation, "ours", shape=str(path))
    return replace(made, sha256=builders.random_weights_hash(made))


def test_the_file_has_every_tensor_of_the_shapes_in_their_quantisation(tmp_path: Path) -> None:
    head = read_gguf(builders.fetch_weights(model(tmp_path), tmp_path / "state"))

    assert ("llama", 2, 4, 2) == (
        head.architecture,
        *(head.number(key) for key in ("block_count", "attention.head_count", "attention.head_count_kv")),
    )
    assert 3 + 9 * 2 == len(head.tensor_bytes)
    assert 1024 * 64 * 34 // 32 == head.tensor_bytes["token_embd.weight"]  # Q8_0: 32 values and a scale in 34 bytes
    assert 64 * 4 == head.tensor_bytes["blk.1.attn_norm.weight"]
    assert 32 * 64 * 34 // 32 == head.tensor_bytes["blk.0.attn_k.weight"]


def test_equal_shapes_give_equal_bytes_and_are_written_once(tmp_path: Path) -> None:
    one = model(tmp_path, "Q4_0")
    first = builders.fetch_weights(one, tmp_path / "here")
    second = builders.fetch_weights(one, tmp_path / "there")

    assert first.read_bytes() == second.read_bytes()
    before = first.stat().st_mtime_ns
    assert first == builders.fetch_weights(one, tmp_path / "here")
    assert before == first.stat().st_mtime_ns
    assert [first.name] == [path.name for path in first.parent.iterdir()]


@pytest.mark.parametrize(
    ("kind", "more", "name", "size"),
    [
        ("qwen2", {}, "blk.0.attn_q.bias", 64 * 4),
        ("qwen3", {"head_dim": 32}, "blk.0.attn_q_norm.weight", 32 * 4),
        ("mixtral", {"num_local_experts": 4}, "blk.1.ffn_down_exps.weight", 4 * 64 * 96 * 34 // 32),
        ("qwen3_moe", {"num_experts": 8, "moe_intermediate_size": 32}, "blk.1.ffn_up_exps.weight", 8 * 32 * 64 * 34 // 32),
    ],
)
def test_each_architecture_has_its_own_tensors(tmp_path: Path, kind: str, more: dict[str, int], name: str, size: int) -> None:
    head = read_gguf(builders.fetch_weights(model(tmp_path, model_type=kind, **more), tmp_path / "state"))

    assert size == head.tensor_bytes[name]


@pytest.mark.parametrize("quantisation", ["F32", "F16", "BF16", "Q5_1", "Q4_1"])
def test_each_quantisation_is_written(tmp_path: Path, quantisation: str) -> None:
    bytes_of_32 = {"F32": 128, "F16": 64, "BF16": 64, "Q5_1": 24, "Q4_1": 20}

    head = read_gguf(builders.fetch_weights(model(tmp_path, quantisation), tmp_path / "state"))
    assert 64 * 96 // 32 * bytes_of_32[quantisation] == head.tensor_bytes["blk.0.ffn_down.weight"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no JSON of at most"),
        ("[]", "expected an object like config.json, saw a list"),
        ('{"model_type": "minimax_m3"}', "not for model_type 'minimax_m3'; rehearse with the nearest of these"),
        ('{"model_type": "llama"}', "needs vocab_size, hidden_size"),
        (json.dumps(SHAPES | {"hidden_size": -1}), "hidden_size must be a whole number above 0, not -1"),
        (json.dumps(SHAPES | {"hidden_size": True}), "hidden_size must be a whole number above 0, not True"),
        (json.dumps(SHAPES | {"rope_theta": "x"}), "rope_theta must be a number above 0"),
        (json.dumps(SHAPES | {"vocab_size": 100}), "a vocabulary of 100 is too small"),
    ],
)
def test_shapes_that_are_none_are_refused_in_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    one = model(tmp_path)
    Path(one.shape).write_text(text, encoding="utf-8")

    with pytest.raises(BadInputError, match=told):
        builders.read_shape(one)


def test_shapes_that_are_gone_or_changed_since_the_plan_are_refused(tmp_path: Path) -> None:
    one = model(tmp_path)
    model(tmp_path, hidden_size=128)
    with pytest.raises(BadInputError, match="are not those that m3-rehearsal was planned with"):
        builders.fetch_weights(one, tmp_path / "state")
    Path(one.shape).unlink()
    with pytest.raises(BadInputError, match=r"there are no shapes at .*config.json: check models.shape"):
        builders.read_shape(one)


def test_a_quantisation_that_gguf_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be written in fp8; expected one of F32, F16"):
        builders.fetch_weights(model(tmp_path, "fp8"), tmp_path / "state")


def test_an_engine_that_loads_no_gguf_is_named_in_one_sentence() -> None:
    source = Source(SourceKind.GIT, "x")
    assert "" == builders.why_no_random_weights(Engine("a", source, "script", Launch((), "llamacpp"), (), ()))
    assert "--load-format dummy" in builders.why_no_random_weights(Engine("b", source, "script", Launch((), "openai"), (), ()))
