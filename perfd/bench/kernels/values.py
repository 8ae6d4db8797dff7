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
    hardware = {"target": "triton interpreter"}
    errors: dict[str, float] = {}
    try:
        op = ops.load(job.artifact, str(parameters["op"]))
        for case in cases(str(parameters["dtype"]), parameters["shapes"]):
            errors[case.name] = within_tolerance(op, case, job.workload.seed)
    except KernelError as error:
        return Finding(hardware, failure=error.failure, reason=error.sentence)
    return Finding(hardware, {"kernel_error": tuple(errors.values())}, {"cases": list(errors)})


def within_tolerance(op: Op, case: Case, seed: int) -> float:
    """The case's error; raises KernelError when it is larger than its dtype's tolerance."""
    found, allowed = check(op, case, seed), TOLERANCE[case.dtype]
    if found <= allowed:
        return found
    sentence = f"{op.name} is wrong on {case.name}: its error is {found:.2g}, and at most {allowed:.2g} is allowed"
    raise KernelError(FailureKind.NONSENSE, sentence)


def check(op: Op, case: Case, seed: int, device: str = "cpu") -> float:
    """The error of one case, the largest over all outputs; infinite for a wrong shape or dtype, or a value that is not finite."""
    inputs = case.inputs(op, seed, device)
    expected = _as_tuple(op.reference(*inputs))
    actual = _as_tuple(_run(op, inputs))
    if len(actual) != len(expected):
        return math.inf
    dtype = getattr(torch, case.dtype)
    return max(error(one, wanted, dtype) for one, wanted in zip(actual, expected, strict=True))


def _run(op: Op, inputs: tuple[Any, ...]) -> Any:
    try:
        return op.run(*inputs)
    except Exception as error:  # an op's code may raise anything, and that is a finding about the op
        raise KernelError(FailureKind.DIED, f"{op.name} raised {type(error).__name__}: {error}") from error


def error(actual: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> float:
    """RMS of the difference over the RMS of `expected` (float64)."""
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


def _as_tuple(outputs: Any) -> tuple[Any, ...]:
    return outputs if isinstance(outputs, tuple) else (outputs,)
