import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from perfd.bench.kernels import op as ops
from perfd.bench.kernels import values
from perfd.bench.kernels.draw import DISTRIBUTIONS, seeded
from perfd.bench.kernels.finding import KernelError
from perfd.bench.kernels.op import Op
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.suite import Workload

ROWS = {"t9_h33": {"T": 9, "H": 33}}
PAGES = {"b4_l37": {"B": 4, "L": 37, "Hq": 4, "Hk": 2, "d": 16, "page": 8}}


@pytest.fixture(scope="module")
def add_rms_norm(kernels: Path) -> Op:
    return ops.load(kernels, "add_rms_norm")


@pytest.fixture(scope="module")
def paged_decode(kernels: Path) -> Op:
    return ops.load(kernels, "paged_decode")


def in_torch(op: Op, **changed: Callable[..., Any]) -> Op:
    """The op with its formula in the inputs' dtype instead of the Triton kernel: an honest rival that runs anywhere."""

    def run(*inputs: torch.Tensor) -> Any:
        outputs = tuple(one.to(inputs[0].dtype) for one in values.as_tuple(op.reference(*inputs)))
        return outputs if len(outputs) > 1 else outputs[0]

    return dataclasses.replace(op, run=changed.get("run", run))


def worst(op: Op, dtype: str, shapes: dict[str, dict[str, int]]) -> float:
    return max(values.check(op, case, seed=3) for case in values.cases(dtype, shapes))


@pytest.mark.parametrize("dtype", values.TOLERANCE)
def test_a_right_kernel_passes_in_every_dtype(add_rms_norm: Op, paged_decode: Op, dtype: str) -> None:
    assert worst(in_torch(add_rms_norm), dtype, ROWS) <= values.TOLERANCE[dtype]
    assert worst(in_torch(paged_decode), dtype, PAGES) <= values.TOLERANCE[dtype]


def norm(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    total = x.double() + residual.double()
    return total * torch.rsqrt(total.square().mean(-1, keepdim=True) + 1e-6) * (1 + weight.double()), total


def cast(outputs: tuple[torch.Tensor, ...], dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    return tuple(one.to(dtype) for one in outputs)


class Lazy(torch.Tensor):
    pass


WRONG_NORMS = {
    "zeros": lambda x, _r, _w: (torch.zeros_like(x), torch.zeros_like(x)),
    "forgets the residual": lambda x, _r, w: cast(norm(x, torch.zeros_like(x), w)),
    "forgets the offset": lambda x, r, w: cast(norm(x, r, w - 1)),
    "takes the variance for one": lambda x, r, w: (((x + r) * (1 + w)), x + r),
    "computes in bfloat16": lambda x, r, w: cast(cast(norm(x, r, w), torch.bfloat16)),
    "returns a narrower dtype": lambda x, r, w: cast(norm(x, r, w), torch.bfloat16),
    "returns one output of two": lambda x, r, w: cast(norm(x, r, w))[0],
    "returns fewer rows": lambda x, r, w: tuple(one[:-1] for one in cast(norm(x, r, w))),
    "returns a subclass": lambda x, r, w: tuple(one.as_subclass(Lazy) for one in cast(norm(x, r, w))),
    "leaves a value that is no number": lambda x, r, w: (cast(norm(x, r, w))[0].index_fill(0, torch.tensor(0), math.nan), x + r),
    "skips the last column": lambda x, r, w: (cast(norm(x, r, w))[0].index_fill(1, torch.tensor(x.shape[1] - 1), 0), x + r),
}


@pytest.mark.parametrize("run", WRONG_NORMS.values(), ids=WRONG_NORMS.keys())
def test_a_wrong_norm_is_refused(add_rms_norm: Op, run: Callable[..., Any]) -> None:
    assert worst(dataclasses.replace(add_rms_norm, run=run), "float32", ROWS) > values.TOLERANCE["float32"]


def identity_table(op: Op) -> Callable[..., Any]:
    def run(q: Any, k: Any, v: Any, table: Any, lens: Any) -> Any:
        return op.reference(q, k, v, torch.arange(table.numel()).view_as(table), lens).float()

    return run


def whole_pages(op: Op) -> Callable[..., Any]:
    def run(q: Any, k: Any, v: Any, table: Any, lens: Any) -> Any:
        return op.reference(q, k, v, table, lens // k.shape[1] * k.shape[1]).float()

    return run


def every_request_whole(op: Op) -> Callable[..., Any]:
    def run(q: Any, k: Any, v: Any, table: Any, lens: Any) -> Any:
        return op.reference(q, k, v, table.clamp(min=0), torch.full_like(lens, int(lens.max()))).float()

    return run


def unscaled(op: Op) -> Callable[..., Any]:
    def run(q: Any, k: Any, v: Any, table: Any, lens: Any) -> Any:
        return op.reference(q * q.shape[-1] ** 0.5, k, v, table, lens).float()

    return run


def neighbouring_heads(op: Op) -> Callable[..., Any]:
    def run(q: Any, k: Any, v: Any, table: Any, lens: Any) -> Any:
        return op.reference(q, k.flip(2), v.flip(2), table, lens).float()

    return run


def no_number_for_an_empty_request(op: Op) -> Callable[..., Any]:
    def run(q: Any, k: Any, v: Any, table: Any, lens: Any) -> Any:
        return op.reference(q, k, v, table, lens).float() / (lens > 0)[:, None, None]

    return run


WRONG_ATTENTION = [identity_table, whole_pages, every_request_whole, unscaled, neighbouring_heads, no_number_for_an_empty_request]


@pytest.mark.parametrize("wrong", WRONG_ATTENTION, ids=lambda wrong: wrong.__name__)
def test_a_wrong_attention_is_refused(paged_decode: Op, wrong: Callable[[Op], Any]) -> None:
    assert worst(dataclasses.replace(paged_decode, run=wrong(paged_decode)), "float32", PAGES) > values.TOLERANCE["float32"]


def test_a_refusal_says_where_and_by_how_much(add_rms_norm: Op) -> None:
    zeros = dataclasses.replace(add_rms_norm, run=WRONG_NORMS["zeros"])
    case = next(values.cases("float32", ROWS))

    with pytest.raises(
        KernelError, match=r"add_rms_norm is wrong on float32-t9_h33-normal: its error is 1, and at most 3e-05"
    ) as refused:
        values.within_tolerance(zeros, case, seed=3)

    assert refused.value.failure is FailureKind.NONSENSE


def test_an_output_of_zeros_must_be_exactly_zero() -> None:
    nothing = torch.zeros(3, dtype=torch.float64)

    assert values.error(torch.zeros(3), nothing, torch.float32) == 0
    assert values.error(torch.full((3,), 1e-30), nothing, torch.float32) == math.inf


def test_the_first_shape_comes_in_every_distribution_and_the_others_in_turn() -> None:
    three = {"a": {"T": 1, "H": 1}, "b": {"T": 1, "H": 1}, "c": {"T": 1, "H": 1}}

    names = [case.name for case in values.cases("float32", three)]

    assert names == [f"float32-a-{one}" for one in DISTRIBUTIONS] + ["float32-b-normal", "float32-c-uniform"]


def test_the_same_seed_draws_the_same_inputs_and_another_case_draws_others(paged_decode: Op) -> None:
    first, second = list(values.cases("float32", PAGES))[:2]

    assert all(map(torch.equal, first.inputs(paged_decode, 1), first.inputs(paged_decode, 1)))
    assert not torch.equal(first.inputs(paged_decode, 1)[0], first.inputs(paged_decode, 2)[0])
    assert not torch.equal(first.inputs(paged_decode, 1)[4], second.inputs(paged_decode, 1)[4])


def test_lengths_are_ragged_with_a_whole_and_an_empty_row() -> None:
    lengths = seeded(torch.float32, "normal", 1).lengths(50, 100).tolist()

    assert (lengths[0], lengths[-1]) == (100, 0)
    assert len(set(lengths)) > 20


def test_pages_are_permuted_and_unneeded_entries_are_no_pages(paged_decode: Op) -> None:
    _, k_pages, _, table, lens = next(values.cases("float32", PAGES)).inputs(paged_decode, 1)

    needed = [entry for row, length in zip(table.tolist(), lens.tolist(), strict=True) for entry in row[: -(-length // 8)]]
    assert sorted(set(needed)) == sorted(needed) != needed
    assert max(needed) < len(k_pages)
    assert table[-1].tolist() == [-1] * table.shape[1]


@pytest.mark.parametrize("name", ["add_rms_norm/values/bfloat16", "paged_decode/values/float32", "paged_decode/values/bfloat16"])
def test_our_kernels_are_right_under_the_interpreter(
    name: str, workload: Callable[[str], Workload], measured: Callable[[Workload, Path], Results], kernels: Path
) -> None:
    # Smaller than a night's, in every axis odd; 77 tokens in pages of 7 are three blocks and many splits.
    odd = {
        "add_rms_norm": {"t83_h781": {"T": 83, "H": 781}, "t61_h5": {"T": 61, "H": 5}},
        "paged_decode": {"b4_l177": {"B": 4, "L": 177, "Hq": 6, "Hk": 2, "d": 80, "page": 7}},
    }
    planned = workload(name)
    shapes = odd[planned.parameters["op"]]

    results = measured(dataclasses.replace(planned, parameters={**planned.parameters, "shapes": shapes}), kernels)

    assert results.state is RunState.DONE, results.reason
    (errors,) = results.samples
    assert errors.name == "kernel_error"
    assert len(errors.values) == len(results.extra["cases"]) == len(DISTRIBUTIONS) + len(shapes) - 1


@dataclasses.dataclass(frozen=True)
class Break:
    """One thing changed in an op, and what must come of it."""

    op: str
    before: str
    after: str
    failure: FailureKind
    sentence: str

    def snapshot(self, kernels: Path, folder: Path) -> Path:
        text = (kernels / f"{self.op}.py").read_text(encoding="utf-8")
        assert self.before in text
        folder.mkdir()
        (folder / f"{self.op}.py").write_text(text.replace(self.before, self.after), encoding="utf-8")
        return folder


BREAKS = {
    "wrong": Break(
        "add_rms_norm", "(offset + w)", "(offset - w)", FailureKind.NONSENSE, "add_rms_norm is wrong on float32-t183_h781"
    ),
    "reads another split's tokens": Break(
        "paged_decode",
        "tl.minimum(first + share, length)",
        "first + share",
        FailureKind.NONSENSE,
        "paged_decode is wrong on float32-b5",
    ),
    "raises": Break(
        "add_rms_norm", "T, H = x.shape", "T, H, _ = x.shape", FailureKind.DIED, "raised ValueError: not enough values to unpack"
    ),
    "no op": Break(
        "add_rms_norm", "def run(", "def walk(", FailureKind.BUILD, "add_rms_norm.py has no run; kernels/README.md says"
    ),
    "no import": Break(
        "add_rms_norm", "import torch", "import no_such_helper", FailureKind.BUILD, "cannot be loaded: ModuleNotFoundError"
    ),
}


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS.keys())
def test_a_broken_kernel_is_a_failed_run_that_says_why(
    broken: Break,
    kernels: Path,
    tmp_path: Path,
    workload: Callable[[str], Workload],
    measured: Callable[[Workload, Path], Results],
) -> None:
    artifact = broken.snapshot(kernels, tmp_path / "artifact")

    results = measured(workload(f"{broken.op}/values/float32"), artifact)

    assert (results.state, results.failure) == (RunState.FAILED, broken.failure)
    assert broken.sentence in results.reason
    assert results.samples == ()
    assert "KernelError" in results.log_tail
