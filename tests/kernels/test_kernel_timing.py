from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from perfd.bench.kernels import op as ops
from perfd.bench.kernels import peaks, timing
from perfd.bench.kernels.draw import seeded
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.suite import Workload

MIB = 1 << 20


@pytest.mark.parametrize(
    ("input_bytes", "copies"), [(1 << 30, 2), (125 * MIB, 2), (100 * MIB, 3), (10 * MIB, 25), (1, 250 * MIB)]
)
def test_copies_are_five_times_the_cache_and_never_fewer_than_two(input_bytes: int, copies: int) -> None:
    assert timing.copies_needed(input_bytes, cache_bytes=50 * MIB) == copies


def test_copies_share_one_store_without_overlap_and_are_aligned(kernels: Path) -> None:
    op = ops.load(kernels, "paged_decode")
    axes = {"B": 3, "L": 10, "Hq": 3, "Hk": 1, "d": 5, "page": 4}

    store, copies = timing.copies_of(op, axes, seeded(torch.bfloat16, "normal", 1, ragged=False), count=3)

    store.zero_()
    for number, one in enumerate((tensor for copy in copies for tensor in copy[:3]), start=1):
        assert one.is_contiguous()
        assert (one.data_ptr() - store.data_ptr()) % timing.ALIGNMENT == 0
        one.fill_(number)
    assert [copy[at].unique().tolist() for copy in copies for at in range(3)] == [[number] for number in range(1, 10)]
    assert all(copy[4].tolist() == [10, 10, 10] for copy in copies)
    assert not torch.equal(copies[0][3], copies[1][3])


def test_a_refill_renews_values_and_keeps_tables(kernels: Path) -> None:
    op = ops.load(kernels, "paged_decode")
    draw = seeded(torch.bfloat16, "normal", 1, ragged=False)
    store, copies = timing.copies_of(op, {"B": 3, "L": 10, "Hq": 4, "Hk": 2, "d": 8, "page": 4}, draw, count=2)
    turning = timing.Rotation(op, draw, store, copies, outputs=(), graph=None)
    turning.refill()
    before = [tensor.clone() for tensor in copies[1]]

    turning.refill()

    kept = [torch.equal(old, new) for old, new in zip(before, copies[1], strict=True)]
    assert kept == [False, False, False, True, True]
    assert store.float().std().item() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("op", "axes", "floor_us"),
    [
        ("add_rms_norm", {"T": 8192, "H": 6144}, 83.9),
        ("paged_decode", {"B": 8, "L": 131072, "Hq": 64, "Hk": 4, "d": 128, "page": 128}, 447.4),
    ],
)
def test_the_floor_is_the_memory_of_an_h200(kernels: Path, op: str, axes: dict[str, int], floor_us: float) -> None:
    flops, moved = ops.load(kernels, op).cost(**axes)

    assert peaks.PEAKS["NVIDIA H200"].floor_s(flops, moved) * 1e6 == pytest.approx(floor_us, abs=0.1)


def test_a_gpu_without_known_limits_gives_no_share() -> None:
    assert peaks.of_floor("NVIDIA H200", 0, 48, 2e-11) == pytest.approx(0.5)
    assert peaks.of_floor("a card of tomorrow", 0, 48, 2e-11) is None


def test_nothing_is_timed_on_a_cpu(
    workload: Callable[[str], Workload], measured: Callable[[Workload, Path], Results], kernels: Path
) -> None:
    results = measured(workload("add_rms_norm/timing/t1_h6144"), kernels)

    assert (results.state, results.failure) == (RunState.FAILED, FailureKind.DEVICE)
    assert results.reason == "torch sees no GPU here, and a time on a CPU would say nothing about one"


class Pairs:
    """A timer that counts what it is asked."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self) -> float:
        self.calls.append("clock")
        return float(len(self.calls))


PAIRS = Pairs()


@pytest.mark.benchmark(timer=PAIRS)
def test_pytest_benchmark_asks_its_timer_once_before_and_once_after(benchmark: Any) -> None:
    if benchmark.disabled:
        pytest.skip("pytest-benchmark is switched off (pytest-xdist does that)")
    benchmark.pedantic(lambda: PAIRS.calls.append("run"), setup=lambda: PAIRS.calls.append("set up"), rounds=3, warmup_rounds=2)

    assert PAIRS.calls == ["set up", "clock", "run", "clock"] * 5
    assert benchmark.stats.stats.data == [2.0] * 3
