"""Utilisation: every formula against numbers worked out by hand, and no number where something is not known."""

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from perfd.bench.load import RequestOutcome, RequestTrace
from perfd.bench.utilisation import (
    EnergyMeter,
    Served,
    price_for,
    read_gguf,
    shape_from_config,
    shape_from_gguf,
    shape_of,
    utilisation,
    work_of,
)
from perfd.bench.utilisation.energy import between_j
from perfd.bench.utilisation.report import devices_of, peak_of
from perfd.bench.utilisation.shape import bytes_per_weight
from perfd.bench.utilisation.work import (
    attention_flops,
    cache_bytes,
    decode_flops,
    decode_steps,
    prefill_flops,
    step_weight_bytes,
)
from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.model import Model
from perfd.errors import BadInputError

JobMaker = Callable[..., Job]
SMOLLM2 = {
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "vocab_size": 49152,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
}
LLAMA = {
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "torch_dtype": "bfloat16",
}
SPARSE = [0] * 3 + [1] * 57
M3: dict[str, Any] = {
    "text_config": {
        "hidden_size": 6144,
        "intermediate_size": 3072,
        "dense_intermediate_size": 12288,
        "shared_intermediate_size": 3072,
        "num_hidden_layers": 60,
        "num_attention_heads": 64,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "vocab_size": 200064,
        "num_local_experts": 128,
        "num_experts_per_tok": 4,
        "n_shared_experts": 1,
        "moe_layer_freq": SPARSE,
        "sparse_attention_config": {
            "sparse_num_index_heads": 4,
            "sparse_index_dim": 128,
            "sparse_topk_blocks": 16,
            "sparse_block_size": 128,
            "sparse_attention_freq": SPARSE,
        },
    }
}
MLA = {
    "hidden_size": 7168,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "vocab_size": 129280,
}


def test_parameters_of_known_models_are_those_that_are_published() -> None:
    norms = {"smollm2": 61 * 576, "llama": 65 * 4096}

    assert shape_from_config(SMOLLM2).total_params + norms["smollm2"] == 134_515_008
    assert shape_from_config(LLAMA).total_params + norms["llama"] == 8_030_261_248
    assert round(shape_from_config(MLA).total_params / 1e9) == 671  # DeepSeek-V3: "671B total, 37B active"
    assert round((shape_from_config(MLA).active_params + shape_from_config(MLA).head_params) / 1e9) == 37


def test_parameters_of_minimax_m3_are_its_layers_by_hand() -> None:
    shape = shape_from_config(M3)
    attention = 2 * 6144 * 64 * 128 + 2 * 6144 * 4 * 128
    expert, dense = 3 * 6144 * 3072, 3 * 6144 * 12288
    indexer = 6144 * 128 * 5
    always = 60 * attention + 3 * dense + 57 * (expert + 6144 * 128 + indexer)

    assert shape.active_params == always + 57 * 4 * expert
    assert shape.total_params == always + 57 * 128 * expert + 2 * 6144 * 200064
    assert (shape.dense_layers, shape.attended, shape.index_layers) == (3, 2048, 57)


def test_flat_keys_of_the_indexer_say_the_same_as_nested_ones() -> None:
    flat = {key: value for key, value in M3["text_config"].items() if key not in {"sparse_attention_config", "moe_layer_freq"}}
    flat |= {
        "index_n_heads": 4,
        "index_head_dim": 128,
        "index_topk_blocks": 16,
        "index_block_size": 128,
        "layer_types": ["full_attention"] * 3 + ["minimax_m3_sparse"] * 57,
        "mlp_layer_types": ["dense"] * 3 + ["sparse"] * 57,
    }

    assert shape_from_config({"text_config": flat}) == shape_from_config(M3)


def test_prefill_of_a_small_model_by_hand() -> None:
    shape = shape_from_config(SMOLLM2)
    layers = 30 * (884_736 + 2_654_208)  # attention and feed-forward of a layer
    attention = 30 * 4 * 9 * 64 * (1 + 2 + 3)  # layers, 2 x (score and value), heads, head size, contexts

    assert prefill_flops(shape, 0, 3) == 2 * 3 * layers + 2 * 28_311_552 + attention


def test_a_cached_prefix_is_attended_to_and_not_computed() -> None:
    shape = shape_from_config(SMOLLM2)
    per_context = 30 * 4 * 9 * 64

    fresh, cached = prefill_flops(shape, 0, 10), prefill_flops(shape, 1000, 10)

    assert cached - fresh == per_context * 10 * 1000


def test_decode_of_a_llama_by_hand() -> None:
    shape = shape_from_config(LLAMA)
    token = 2 * (6_979_321_856 + 525_336_576)
    attention = 32 * 4 * 32 * 128 * (101 + 102)  # the second and third token see 101 and 102 tokens

    assert decode_flops(shape, Served(cached=40, computed=60, output=3)) == 2 * token + attention


def test_a_request_of_one_token_decodes_nothing() -> None:
    shape = shape_from_config(LLAMA)

    assert decode_flops(shape, Served(0, 10, 1)) == 0.0


def test_attention_of_minimax_m3_stops_at_the_blocks_that_its_indexer_chose() -> None:
    shape = shape_from_config(M3)
    context = 100_000
    full, sparse, index = 3 * context, 57 * 2048, 57 * context * 4 * 128

    assert attention_flops(shape, range(context, context + 1)) == 2 * 64 * 256 * (full + sparse) + 2 * index


def test_a_context_that_grows_over_the_cap_is_summed_as_if_walked() -> None:
    shape = shape_from_config({**LLAMA, "sliding_window": 50})
    walked = sum(32 * 2 * 32 * 256 * min(context, 50) for context in range(40, 61))

    assert attention_flops(shape, range(40, 61)) == walked


def test_bytes_of_a_decode_step_by_hand() -> None:
    shape = shape_from_config(LLAMA)
    weights = shape.weights(2.0)
    cache = 32 * 2 * 8 * 128 * 2  # 131,072 bytes a token, as every page on Llama 3 has it

    work = work_of(shape, weights, [Served(0, 100, 3), Served(0, 100, 3)], decode_steps=2)

    assert cache_bytes(shape) == cache == 131_072
    assert weights.always_bytes == 2 * (6_979_321_856 + 525_336_576)
    assert weights.lookup_bytes == 2 * 525_336_576
    assert work.decode_bytes == 2 * weights.always_bytes + 2 * cache * (101 + 102) + 4 * cache
    assert work.prefill_bytes == 2 * (weights.always_bytes + 100 * cache)


def test_the_cache_of_latent_attention_is_the_latent() -> None:
    assert cache_bytes(shape_from_config(MLA)) == 61 * (512 + 64) * 2


def test_a_batch_touches_the_experts_that_even_routing_gives() -> None:
    shape = shape_from_config(M3)
    weights = shape.weights(1.0)

    one = step_weight_bytes(shape, weights, 1) - weights.always_bytes
    sixty_four = step_weight_bytes(shape, weights, 64) - weights.always_bytes

    assert one == pytest.approx(weights.expert_bytes * 4 / 128)
    assert round(128 * sixty_four / weights.expert_bytes) == 111  # as counted beside the measured kernel, notes of M3


def test_steps_are_shared_by_streams_that_decode_at_once() -> None:
    alone = [(0, 1), (10, 1), (20, 1), (30, 1)]
    apart = [(ns + 100, tokens) for ns, tokens in alone]
    drafted = [(0, 1), (10, 3)]

    assert decode_steps([alone]) == 3
    assert decode_steps([alone, alone, alone, alone]) == pytest.approx(3)
    assert decode_steps([alone, apart]) == 6
    assert decode_steps([drafted]) == 3
    assert decode_steps([[(0, 1)], []]) == 0


@pytest.mark.parametrize(
    ("document", "bytes_each"),
    [
        ({"torch_dtype": "float32"}, 4.0),
        ({"dtype": "torch.bfloat16"}, 2.0),
        ({"quantization_config": {"quant_method": "fp8"}, "torch_dtype": "bfloat16"}, 1.0),
        ({"quantization_config": {"quant_method": "awq", "bits": 4}}, 0.5),
        ({"text_config": {"torch_dtype": "float32"}}, 4.0),
        ({}, 2.0),
    ],
)
def test_bytes_of_a_weight_follow_the_config(document: dict[str, Any], bytes_each: float) -> None:
    assert bytes_per_weight(document) == bytes_each


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(path: Path, metadata: dict[str, Any], tensors: dict[str, int]) -> Path:
    """A GGUF file whose tensors have these sizes (multiples of 32)."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        if isinstance(value, str):
            head += text(key) + struct.pack("<I", 8) + text(value)
        elif isinstance(value, list):
            kind, items = (
                (8, b"".join(map(text, value))) if isinstance(value[0], str) else (4, struct.pack(f"<{len(value)}I", *value))
            )
            head += text(key) + struct.pack("<IIQ", 9, kind, len(value)) + items
        else:
            head += text(key) + struct.pack("<II", 4, value)
    offset = 0
    for name, size in tensors.items():
        head += text(name) + struct.pack("<IQIQ", 1, size, 2, offset)
        offset += size
    head += b"\0" * (-len(head) % 32)
    path.write_bytes(head + b"\0" * offset)
    return path


LLAMA_KEYS = {
    "general.architecture": "llama",
    "llama.block_count": 30,
    "llama.embedding_length": 576,
    "llama.attention.head_count": 9,
    "llama.attention.head_count_kv": 3,
    "llama.feed_forward_length": 1536,
    "tokenizer.ggml.tokens": [f"t{at}" for at in range(5000)],
}


def test_a_gguf_file_says_what_its_config_would(tmp_path: Path) -> None:
    path = gguf(
        tmp_path / "m.gguf", {**LLAMA_KEYS, "llama.vocab_size": 49152}, {"token_embd.weight": 320, "blk.0.ffn_up.weight": 64}
    )

    shape, weights = shape_of(path)

    assert shape == shape_from_config(SMOLLM2)
    assert (weights.always_bytes, weights.lookup_bytes, weights.total_bytes) == (384, 0, 384)


def test_the_vocabulary_is_counted_where_no_key_tells_it(tmp_path: Path) -> None:
    head = read_gguf(gguf(tmp_path / "m.gguf", LLAMA_KEYS, {"token_embd.weight": 320}))

    assert head.metadata["tokenizer.ggml.tokens"] == {"length": 5000}
    assert shape_from_gguf(head).vocabulary == 5000


def test_experts_of_a_gguf_file_are_weighed_apart(tmp_path: Path) -> None:
    keys = {**LLAMA_KEYS, "llama.expert_count": 8, "llama.expert_used_count": 2, "llama.expert_feed_forward_length": 96}
    tensors = {"token_embd.weight": 320, "output.weight": 640, "blk.0.ffn_up_exps.weight": 3200, "blk.0.attn_q.weight": 64}

    shape, weights = shape_of(gguf(tmp_path / "m.gguf", keys, tensors))

    assert (weights.always_bytes, weights.expert_bytes, weights.lookup_bytes) == (704, 3200, 320)
    assert (shape.moe_layers, shape.experts_used, shape.expert_ff, shape.tied) == (30, 2, 96, False)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"GGUF", "ends within its head"),
        (b"PK\3\4" + b"\0" * 40, "no GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 9, 0, 0), "version 9"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), "is the file damaged"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**50), "is the file damaged"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + struct.pack("<I", 77), "unknown type 77"),
    ],
)
def test_a_damaged_gguf_file_is_refused_in_one_sentence(content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)

    with pytest.raises(BadInputError, match=told):
        read_gguf(path)


@pytest.mark.parametrize("missing", ["num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"])
def test_a_config_without_a_key_is_refused_by_its_name(missing: str) -> None:
    with pytest.raises(BadInputError, match=missing):
        shape_from_config({key: value for key, value in LLAMA.items() if key != missing})


def test_a_folder_without_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"config\.json"):
        shape_of(tmp_path)


@pytest.mark.parametrize(("parallelism", "devices"), [("1", 1), ("tp2", 2), ("pp2tp4", 8), ("tp8ep8", 8), ("dp2tp2", 4)])
def test_devices_are_read_from_the_parallelism(parallelism: str, devices: int) -> None:
    assert devices_of(parallelism) == devices


def trace(index: int, start_ns: int, ttft_ns: int, gap_ns: int, output: int) -> RequestTrace:
    first = start_ns + ttft_ns
    chunks = tuple((first + at * gap_ns, 1) for at in range(output))
    return RequestTrace(
        index, index, 0, start_ns, start_ns, start_ns, chunks[-1][0], RequestOutcome.DONE,
        chunks=chunks, prompt_tokens=100, cached_tokens=0, completion_tokens=output, asked_prompt_tokens=100,
    )  # fmt: skip


def h200_job(make_job: JobMaker, tmp_path: Path, parallelism: str = "1") -> Job:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    model = Model("llama", "", "", "", "", "bf16", "", parallelism)
    return replace(make_job(), weights=tmp_path, device=Device("here", "GPU-1", "gpu:NVIDIA H200"), model=model, data=tmp_path)


DAY = date(2026, 11, 29)
SERIAL = [trace(at, at * 10**9, 100_000_000, 10_000_000, 51) for at in range(2)]


def test_shares_of_a_known_gpu_by_hand(make_job: JobMaker, tmp_path: Path) -> None:
    found = utilisation(h200_job(make_job, tmp_path), SERIAL, DAY)
    shape = shape_from_config(LLAMA)
    served = Served(0, 100, 51)
    flops = 2 * (prefill_flops(shape, 0, 100) + decode_flops(shape, served))

    assert found.window_s == pytest.approx(1.6)
    assert found.steps == 100
    assert found.mfu == pytest.approx(flops / (989e12 * 1.6))
    told = found.as_json()
    assert told["prefill"]["mfu"] == pytest.approx(2 * prefill_flops(shape, 0, 100) / (989e12 * 0.2))
    assert told["decode"]["seconds"] == pytest.approx(1.0)
    assert told["decode"]["mbu"] == pytest.approx(told["decode"]["bytes"] / 4.8e12)
    assert set(found.samples()) == {"mfu", "mbu"}


def test_more_devices_have_more_peak(make_job: JobMaker, tmp_path: Path) -> None:
    one = utilisation(h200_job(make_job, tmp_path), SERIAL, DAY).mfu
    four = utilisation(h200_job(make_job, tmp_path, "tp4"), SERIAL, DAY).mfu

    assert one is not None
    assert four == pytest.approx(one / 4)


def test_phases_that_overlap_have_no_seconds_of_their_own(make_job: JobMaker, tmp_path: Path) -> None:
    both = [trace(at, 0, 100_000_000, 10_000_000, 51) for at in range(2)]

    told = utilisation(h200_job(make_job, tmp_path), both, DAY).as_json()

    assert told["prefill"]["mfu"] is None
    assert told["mfu"] is not None
    assert told["decode_steps"] == {"count": 50.0, "are": "estimated from when tokens came"}


def test_steps_that_the_engine_counts_are_taken(make_job: JobMaker, tmp_path: Path) -> None:
    found = utilisation(h200_job(make_job, tmp_path), SERIAL, DAY, steps_told=77)

    assert found.as_json()["decode_steps"] == {"count": 77, "are": "counted by the engine"}


def test_a_cpu_gets_no_share_and_says_why(make_job: JobMaker, tmp_path: Path) -> None:
    job = replace(h200_job(make_job, tmp_path), device=Device("here", "cpu", "cpu:any:t1"))

    found = utilisation(job, SERIAL, DAY)

    assert found.samples() == {}
    assert "peaks of CPUs are not known" in found.as_json()["why_no_share"]
    assert found.as_json()["decode"]["flops"] > 0


def test_a_gpu_that_is_not_listed_gets_no_share() -> None:
    assert peak_of("gpu:Some New One")[0] is None


def test_a_model_without_a_shape_gets_no_share(make_job: JobMaker) -> None:
    found = utilisation(make_job(), SERIAL, DAY)

    assert found.as_json()["prefill"] is None
    assert "names no weights" in found.why_no_share


def test_a_run_without_answers_has_no_utilisation(make_job: JobMaker, tmp_path: Path) -> None:
    found = utilisation(h200_job(make_job, tmp_path), [], DAY)

    assert (found.samples(), found.as_json()["cost"]["none_because"][:9]) == ({}, "the price")


def test_energy_is_told_for_each_output_token(make_job: JobMaker, tmp_path: Path) -> None:
    found = utilisation(h200_job(make_job, tmp_path), SERIAL, DAY, energy=(204.0, ""))

    assert found.samples()["energy_j_per_token"] == [2.0]


PRICES = """
[[prices]]
device_class = "gpu:NVIDIA H200"
per_hour = 3.6
currency = "EUR"
valid_from = 2026-01-01
source = "made up for this test"

[[prices]]
device_class = "gpu:NVIDIA H200"
per_hour = 1.8
currency = "EUR"
valid_from = 2027-01-01
source = "a cheaper year, made up too"
"""


def test_cost_follows_the_price_of_the_day(make_job: JobMaker, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    job = h200_job(make_job, tmp_path)

    this_year = utilisation(job, SERIAL, DAY).as_json()["cost"]
    next_year = utilisation(job, SERIAL, date(2027, 5, 1)).as_json()["cost"]

    assert this_year["per_million_output_tokens"] == pytest.approx(3.6 * 1.6 / 3600 / 102 * 1e6)
    assert this_year["per_million_tokens"] == pytest.approx(3.6 * 1.6 / 3600 / 302 * 1e6)
    assert next_year["per_million_output_tokens"] == pytest.approx(this_year["per_million_output_tokens"] / 2)


def test_a_day_before_every_price_has_none(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)

    assert price_for(tmp_path / "prices.toml", "gpu:NVIDIA H200", date(2025, 1, 1)) is None
    assert price_for(tmp_path / "prices.toml", "gpu:NVIDIA B200", DAY) is None
    assert price_for(tmp_path / "none.toml", "gpu:NVIDIA H200", DAY) is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("per_hour = 3.6", "per_hour = -1"), "above 0"),
        (("per_hour = 3.6", "per_hour = inf"), "above 0"),
        (('currency = "EUR"', "currency = 5"), "currency"),
        (("valid_from = 2026-01-01", ""), "valid_from"),
        (("[[prices]]", "[[price]]"), "holds"),
        (("per_hour = 3.6", "per_hour = 3.6\nper_week = 1"), "per_week"),
        (("per_hour = 3.6", "per_hour = "), "TOML"),
    ],
)
def test_a_wrong_price_is_refused_with_its_place(change: tuple[str, str], told: str, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES.replace(change[0], change[1], 1))

    with pytest.raises(BadInputError, match=told):
        price_for(tmp_path / "prices.toml", "gpu:NVIDIA H200", DAY)


def test_the_price_table_that_is_shipped_holds_no_price() -> None:
    path = Path(__file__).parents[2] / "suites" / "data" / "prices.toml"

    assert path.exists()
    assert price_for(path, "gpu:NVIDIA H200", DAY) is None


def zone(folder: Path, name: str, energy_uj: int) -> None:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "energy_uj").write_text(f"{energy_uj}\n")
    (folder / name / "max_energy_range_uj").write_text("1000000\n")


def test_sockets_are_added_and_a_counter_that_wraps_goes_on(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", 900_000)
    zone(tmp_path, "intel-rapl:1", 0)
    zone(tmp_path, "intel-rapl:0:0", 5)  # a part of the first socket
    meter = EnergyMeter(Device("here", "cpu", "cpu:any:t1"), tmp_path)
    before = meter.read_j()
    zone(tmp_path, "intel-rapl:0", 100_000)
    zone(tmp_path, "intel-rapl:1", 300_000)
    after = meter.read_j()

    assert before is not None
    assert after == pytest.approx(before + 0.2 + 0.3)
    assert meter.source == "RAPL"


def test_a_machine_without_a_counter_says_so(tmp_path: Path) -> None:
    meter = EnergyMeter(Device("here", "cpu", "cpu:any:t1"), tmp_path)

    assert meter.read_j() is None
    assert "virtual machines" in meter.why_absent


def test_energy_between_two_moments_is_read_off_straight_lines() -> None:
    readings = [(0, 0.0), (10, 100.0), (20, 100.0), (30, 130.0)]

    assert between_j(readings, 5, 25) == pytest.approx(65.0)
    assert between_j(readings, 5, 31) is None
    assert between_j([], 0, 1) is None
