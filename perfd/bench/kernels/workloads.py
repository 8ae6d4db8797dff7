"""The Workloads of an op: compiled for each architecture, held against float64 for each dtype, timed at each shape.

Only the standard library is needed here, so that a stage can plan kernels on a machine without torch.
"""

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from perfd.bench import gpu as gpus
from perfd.domain.suite import Workload, WorkloadClass
from perfd.errors import BadInputError

SUITE = "kernels"
ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
"""A100, H100 and H200, B200."""
DTYPES = ("float32", "bfloat16")
"""Checked every night; `suites/kernels` also checks float16."""
INTERPRETED = "triton interpreter"
"""The device class of `values`: the interpreter's answer does not depend on the machine."""
SHAPES = Path("suites/kernels/shapes.py")


def kernel_workloads(
    op: str, shapes: Path = SHAPES, *, gpu: str | None = None, dtypes: tuple[str, ...] = DTYPES
) -> tuple[Workload, ...]:
    """All Workloads of `op`: static and values anywhere, timing only where `gpu` names one (see `gpu_class`).

    An op that `shapes` does not know is compiled and nothing else.
    """
    sizes = _load(shapes)
    checked, timed = sizes["CHECKED"].get(op), sizes["TIMED"].get(op)
    made = list(_static(op))
    if checked is not None:
        made.extend(_values(op, checked, dtypes))
    if timed is not None and gpu is not None:
        made.extend(_timing(op, timed))
    return tuple(made)


def device_class(workload: Workload, gpu: str | None = None) -> str:
    """What the numbers of a kernel Workload belong to: an architecture, the interpreter, or a GPU's model."""
    kind = workload.parameters["kind"]
    if kind == "static":
        return f"{workload.parameters['arch']} (compiled)"
    if kind == "values":
        return INTERPRETED
    if gpu is None:
        raise BadInputError(f"{workload.name} is timed on a GPU, and this machine has none")
    return gpu


def gpu_class() -> str | None:
    """The device class of this machine's first GPU, or None where there is none."""
    cards = gpus.cards()
    return gpus.device_class(cards[0]) if cards else None


def _static(op: str) -> Iterator[Workload]:
    for arch in ARCHITECTURES:
        yield _workload(
            f"{op}/static/{arch}",
            {"kind": "static", "op": op, "arch": arch},
            f"What does the compiler make of {op} on {arch}: registers, spills, shared memory, instructions?",
        )


def _values(op: str, shapes: Mapping[str, Any], dtypes: tuple[str, ...]) -> Iterator[Workload]:
    for dtype in dtypes:
        yield _workload(
            f"{op}/values/{dtype}",
            {"kind": "values", "op": op, "dtype": dtype, "shapes": shapes},
            f"Is {op} right in {dtype}, on odd shapes and unfriendly numbers?",
        )


def _timing(op: str, shapes: Mapping[str, Any]) -> Iterator[Workload]:
    for shape, axes in shapes.items():
        yield _workload(
            f"{op}/timing/{shape}",
            {"kind": "timing", "op": op, "dtype": "bfloat16", "shape": shape, "axes": axes},
            f"How long does {op} take at {shape}, with a cold cache?",
        )


def _workload(name: str, parameters: Mapping[str, Any], question: str) -> Workload:
    return Workload(SUITE, name, WorkloadClass.KERNEL, parameters, seed=1, data_hash="", time_limit_s=180.0, question=question)


def _load(shapes: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("perfd_kernel_shapes", shapes)
    if not shapes.is_file() or spec is None or spec.loader is None:
        raise BadInputError(f"{shapes}: the sizes to measure kernels at are not there; run perfd where suites/ is")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"CHECKED": module.CHECKED, "TIMED": module.TIMED}
