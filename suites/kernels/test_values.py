"""Every op against float64: odd shapes, four distributions, ragged lengths, pages in an order of chance."""

from collections.abc import Callable
from pathlib import Path

import pytest

from perfd.bench import gpu
from perfd.bench.kernels import kernel_workloads
from perfd.bench.kernels.op import load, names
from perfd.domain.results import Results
from perfd.domain.run import RunState
from perfd.domain.suite import Workload

KERNELS = Path(__file__).parents[2] / "kernels"
SHAPES = Path(__file__).parent / "shapes.py"
DTYPES = ("float32", "float16", "bfloat16")
WORKLOADS = [
    workload
    for op in names(KERNELS)
    for workload in kernel_workloads(op, SHAPES, dtypes=DTYPES)
    if workload.parameters["kind"] == "values"
]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_an_op_is_right_under_the_interpreter(workload: Workload, measured: Callable[[Workload], Results]) -> None:
    """Its error stays within a few roundings of its dtype."""
    results = measured(workload)

    assert results.state is RunState.DONE, results.reason


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_an_op_is_right_on_a_gpu(workload: Workload, card: gpu.Card) -> None:
    """The same cases, compiled."""
    from perfd.bench.kernels import values  # noqa: PLC0415 - torch is needed only where there is a GPU

    assert card.name
    op = load(KERNELS, str(workload.parameters["op"]))
    for case in values.cases(str(workload.parameters["dtype"]), workload.parameters["shapes"]):
        values.within_tolerance(op, case, workload.seed, device="cuda")
