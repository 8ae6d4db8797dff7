"""Every op compiled for three architectures, without a GPU: what must hold whatever the history of its counts says."""

from collections.abc import Callable
from pathlib import Path

import pytest

from perfd.bench.kernels import kernel_workloads
from perfd.bench.kernels.op import names
from perfd.domain.results import Results
from perfd.domain.run import RunState
from perfd.domain.suite import Workload

KERNELS = Path(__file__).parents[2] / "kernels"
SHAPES = Path(__file__).parent / "shapes.py"
MOST_SHARED_BYTES = {"sm_80": 163 * 1024, "sm_90": 227 * 1024, "sm_100": 227 * 1024}
"""What one block may have (CUDA C++ Programming Guide, technical specifications per compute capability)."""
WORKLOADS = [
    workload for op in names(KERNELS) for workload in kernel_workloads(op, SHAPES) if workload.parameters["kind"] == "static"
]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_an_op_compiles_without_spilling(workload: Workload, measured: Callable[[Workload], Results]) -> None:
    """No register is spilled, and a block fits on a multiprocessor."""
    results = measured(workload)

    assert results.state is RunState.DONE, results.reason
    counts = {samples.name: samples.values[0] for samples in results.samples}
    assert counts["spills"] == 0
    assert counts["shared_memory_bytes"] <= MOST_SHARED_BYTES[workload.parameters["arch"]]
