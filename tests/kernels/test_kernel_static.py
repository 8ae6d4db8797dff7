import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from perfd.bench.kernels import op as ops
from perfd.bench.kernels import static
from perfd.bench.kernels.finding import KernelError
from perfd.bench.kernels.op import Compiled
from perfd.bench.kernels.workloads import ARCHITECTURES
from perfd.domain.metric import METRICS, MetricKind
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.suite import Workload

# As nvdisasm prints it: predicates, uniform registers, a fused multiply-add that is no tensor-core instruction, padding.
DISASSEMBLY = """
.text.kernel:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0020*/              @UP1 UMOV UR4, 0x1 ;
        /*0030*/                   HFMA2.MMA R9, -RZ, RZ, 0, 0 ;
        /*0040*/                   HMMA.16816.F32.BF16 R4, R8, R10, R4 ;
        /*0050*/                   NOP ;
        /*0060*/                   STL.64 [R1], R4 ;
        /*0070*/                   EXIT ;
.L_x_0:
        /*0080*/                   BRA `(.L_x_0);
        /*0090*/                   NOP;
        /*00a0*/                   NOP;
"""


@pytest.fixture(scope="module")
def split(kernels: Path) -> Compiled:
    return ops.load(kernels, "paged_decode").compiled[0]


def counted(compiled: Compiled, arch: str, folder: Path) -> static.Counts:
    folder.mkdir()
    return dataclasses.replace(static.count(compiled, arch, folder), compile_s=0.0)


def test_instructions_are_counted_without_the_padding_at_the_end() -> None:
    opcodes = static.executed(DISASSEMBLY)

    assert opcodes == ["LDC", "LDG", "UMOV", "HFMA2", "HMMA", "NOP", "STL", "EXIT", "BRA"]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_attention_runs_on_tensor_cores_and_spills_nothing(split: Compiled, arch: str, tmp_path: Path) -> None:
    counts = counted(split, arch, tmp_path / "cache")

    assert counts.tensor_core_instructions > 0
    assert (counts.spills, counts.stack_bytes) == (0, 0)
    assert 32 * 1024 <= counts.shared_memory_bytes <= 48 * 1024
    assert counts.instructions > 500


def test_two_compilations_from_nothing_count_the_same(split: Compiled, tmp_path: Path) -> None:
    assert counted(split, "sm_90", tmp_path / "one") == counted(split, "sm_90", tmp_path / "two")


def test_too_few_registers_are_seen_as_spills(split: Compiled, tmp_path: Path) -> None:
    starved = dataclasses.replace(split, options={**split.options, "maxnreg": 32})

    counts = counted(starved, "sm_90", tmp_path / "cache")

    assert counts.registers == 32
    assert counts.spills > 0
    assert counts.stack_bytes > 0


def test_arguments_that_are_not_divisible_cost_instructions(kernels: Path, tmp_path: Path) -> None:
    (norm,) = ops.load(kernels, "add_rms_norm").compiled

    aligned = counted(norm, "sm_90", tmp_path / "aligned")
    unaligned = counted(dataclasses.replace(norm, divisible=()), "sm_90", tmp_path / "unaligned")

    assert unaligned.instructions > aligned.instructions


def test_what_does_not_compile_is_a_finding_about_the_build(split: Compiled, tmp_path: Path) -> None:
    nonsense = dataclasses.replace(split, constexprs={**split.constexprs, "BLOCK_N": 63})

    with pytest.raises(KernelError, match="split_kernel does not compile for sm_80") as refused:
        static.count(nonsense, "sm_80", tmp_path)

    assert refused.value.failure is FailureKind.BUILD


class Recorder:
    """Stands where a kernel stands and keeps how it was launched."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.launch: dict[str, Any] = {}

    def __getitem__(self, _grid: tuple[int, ...]) -> Callable[..., None]:
        def launch(*arguments: Any, **named: Any) -> None:
            self.launch = {**dict(zip(self.names, arguments, strict=False)), **named}

        return launch


@pytest.mark.parametrize(("name", "shape"), [("add_rms_norm", "t8192_h6144"), ("paged_decode", "b8_l131072_h64_kv4_d128_ps128")])
def test_what_is_compiled_is_what_a_launch_would_compile(
    name: str, shape: str, kernels: Path, workload: Callable[[str], Workload]
) -> None:
    op = ops.load(kernels, name)
    recorders = {one.name: Recorder(one.kernel.arg_names) for one in op.compiled}
    op.run.__globals__.update(recorders)
    axes = workload(f"{name}/timing/{shape}").parameters["axes"]

    op.run(*op.inputs(Shapes(), **axes))

    for one in op.compiled:
        launched = recorders[one.name].launch
        # How many splits there are depends on the GPU, which is not here.
        known = set(one.constexprs) - {"ALL_SPLITS"}
        assert {key: launched[key] for key in known} == {key: one.constexprs[key] for key in known}
        assert {key: launched[key] for key in one.options} == one.options
        types = {torch.bfloat16: "*bf16", torch.float32: "*fp32", torch.int32: "*i32"}
        tensors = {key: types[value.dtype] for key, value in launched.items() if isinstance(value, torch.Tensor)}
        assert tensors == {key: kind for key, kind in one.signature.items() if kind.startswith("*")}
        numbers = {key for key in one.divisible if isinstance(launched[key], int)}
        assert all(launched[key] % 16 == 0 for key in numbers)


class Shapes:
    """A Draw whose tensors have a shape and no memory."""

    def __call__(self, *shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=torch.bfloat16, device="meta")

    def lengths(self, rows: int, _most: int) -> torch.Tensor:
        return torch.empty(rows, dtype=torch.int32, device="meta")

    def permutation(self, n: int) -> torch.Tensor:
        return torch.empty(n, dtype=torch.int32, device="meta")


def test_a_static_run_counts_all_kernels_of_the_op_whatever_the_machine(
    workload: Callable[[str], Workload], measured: Callable[[Workload, Path], Results], kernels: Path
) -> None:
    results = measured(workload("paged_decode/static/sm_90"), kernels)

    assert results.state is RunState.DONE, results.reason
    samples = {one.name: one.values for one in results.samples}
    both = results.extra["kernels"]
    assert [one["kernel"] for one in both] == ["split_kernel", "merge_kernel"]
    assert samples["instructions"] == (sum(one["instructions"] for one in both),)
    assert samples["registers"] == (max(one["registers"] for one in both),)
    assert {name for name, metric in METRICS.items() if metric.kind is MetricKind.STATIC} <= set(samples)
    assert results.environment is not None
    assert results.environment.device.device_class == "sm_90 (compiled)"
    assert results.environment.hardware == {"target": "sm_90"}
    assert {"triton", "torch", "compiled_on", "recipe"} <= set(results.environment.software)
