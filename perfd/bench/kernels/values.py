"""Is a kernel right? Its outputs are held against float64, and the error is relative to the output's own size.

An absolute tolerance would let a tensor of zeros pass wherever outputs are small; RMS error over the output's RMS does not.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from perfd.bench.kernels import op as ops
from perfd.bench.kernels.draw import DISTRIBUTIONS, seeded
from perfd.bench.kernels.finding import Finding, KernelError
from perfd.bench.kernels.op import Op
from perfd.domain.identity import digest
from perfd.domain.job import Job
from perfd.domain.run import FailureKind

TOLERANCE = {"float32": 3e-5, "float16": 1e-3, "bfloat16": 6e-3}
"""The largest error that is right, by dtype: a few roundings of the output."""


@dataclass(frozen=True)
class Case:
    """One call of an op on drawn inputs."""

    dtype: str
    shape: str
    axes: Mapping[str, int]
    distribution: str

    @property
    def name(self) -> str:
        """Dtype, shape and distribution in one word."""
        return f"{self.dtype}-{self.shape}-{self.distribution}"

    def inputs(self, op: Op, seed: int, device: str = "cpu") -> tuple[Any, ...]:
        """The inputs; another seed or another case gives others."""
        own = int(digest([seed, op.name, self.name])[:15], 16)
        return op.inputs(seeded(getattr(torch, self.dtype), self.distribution, own, device=device), **self.axes)


def cases(dtype: str, shapes: Mapping[str, Mapping[str, int]]) -> Iterator[Case]:
    """The first shape in every distribution, each other one in the next: the interpreter is too slow for all of all."""
    for index, (shape, axes) in enumerate(shapes.items()):
        for distribution in DISTRIBUTIONS if index == 0 else (DISTRIBUTIONS[(index - 1) % len(DISTRIBUTIONS)],):
            yield Case(dtype, shape, axes, distribution)


def measure(job: Job) -> Finding:
    """One Sample a case; the first case beyond its tolerance fails the Run."""
    parameters = job.workload.parameters
    op = ops.load(job.artifact, str(parameters["op"]))
    tried = tuple(cases(str(parameters["dtype"]), parameters["shapes"]))
    errors = tuple(within_tolerance(op, case, job.workload.seed) for case in tried)
    return Finding(hardware(job), {"kernel_error": errors}, {"cases": [case.name for case in tried]})


def hardware(job: Job) -> dict[str, str]:
    """The interpreter, for every machine's says the same of a dtype."""
    return {"target": f"triton interpreter, {job.workload.parameters['dtype']}"}


def within_tolerance(op: Op, case: Case, seed: int, device: str = "cpu") -> float:
    """The case's error; raises KernelError when it is larger than its dtype's tolerance."""
    return refuse_beyond_tolerance(op.name, case.name, case.dtype, check(op, case, seed, device))


def refuse_beyond_tolerance(op: str, case: str, dtype: str, found: float) -> float:
    """The error itself; raises KernelError when it is larger than the tolerance of `dtype`, or no number."""
    if found <= TOLERANCE[dtype]:
        return found
    sentence = f"{op} is wrong on {case}: its error is {found:.2g}, and at most {TOLERANCE[dtype]:.2g} is allowed"
    raise KernelError(FailureKind.NONSENSE, sentence)


def check(op: Op, case: Case, seed: int, device: str = "cpu") -> float:
    """The error of one case, the largest over all outputs."""
    inputs = case.inputs(op, seed, device)
    expected = op.reference(*inputs)
    return compare(_run(op, inputs), expected, getattr(torch, case.dtype))


def compare(outputs: Any, expected: Any, dtype: torch.dtype) -> float:
    """The largest error over all outputs; infinite for one too many or too few."""
    actual, wanted = as_tuple(outputs), as_tuple(expected)
    if len(actual) != len(wanted):
        return math.inf
    return max(error(one, reference, dtype) for one, reference in zip(actual, wanted, strict=True))


def _run(op: Op, inputs: tuple[Any, ...]) -> Any:
    try:
        return op.run(*inputs)
    except Exception as error:  # an op's code may raise anything, and that is a finding about the op
        raise KernelError(FailureKind.DIED, f"{op.name} raised {type(error).__name__}: {error}") from error


def error(actual: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> float:
    """RMS of the difference over the RMS of `expected` (float64); infinite for a wrong shape or dtype, or a value not finite."""
    if type(actual) is not torch.Tensor or actual.shape != expected.shape or actual.dtype != dtype:
        return math.inf
    difference = _rms(actual.double() - expected)
    if not math.isfinite(difference):
        return math.inf
    size = _rms(expected)
    if size == 0:
        return 0.0 if difference == 0 else math.inf
    return difference / size


def _rms(values: torch.Tensor) -> float:
    return math.sqrt(float(values.square().mean())) if values.numel() else 0.0


def as_tuple(outputs: Any) -> tuple[Any, ...]:
    """A single output as a tuple of one."""
    return outputs if isinstance(outputs, tuple) else (outputs,)
