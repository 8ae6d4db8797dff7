from collections.abc import Callable
from pathlib import Path

import pytest

from perfd.bench.kernels import kernel_workloads
from perfd.bench.runner import run_child
from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.results import Results
from perfd.domain.suite import Workload

ROOT = Path(__file__).parents[2]
CPU = Device("here", "cpu", "cpu:any:t1")


@pytest.fixture(scope="session")
def kernels() -> Path:
    return ROOT / "kernels"


@pytest.fixture(scope="session")
def shapes() -> Path:
    return ROOT / "suites" / "kernels" / "shapes.py"


@pytest.fixture(scope="session")
def workload(shapes: Path) -> Callable[[str], Workload]:
    def find(name: str) -> Workload:
        op = name.partition("/")[0]
        return next(one for one in kernel_workloads(op, shapes, gpu="gpu:NVIDIA H200") if one.name == name)

    return find


@pytest.fixture
def measured(tmp_path: Path) -> Callable[[Workload, Path], Results]:
    """In a process of its own, as a night does it: Triton cannot interpret and compile in one."""

    def measure(workload: Workload, artifact: Path) -> Results:
        job = Job(
            "k", "r", "b", artifact, workload, CPU, "night:x", "run", tmp_path / "work", threads=1, software={"recipe": "x"}
        )
        return run_child(job, tmp_path / "results.json", limit_s=120)

    return measure
