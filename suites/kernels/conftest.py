"""The ops of kernels/ measured in pytest, without a database: `python -m pytest suites/kernels` from the project's folder.

Values and counts are measured anywhere; times on a GPU only. `--perfd-results FOLDER` keeps the raw rounds of each benchmark
as a results file, which `perfd import` reads.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from perfd.bench import gpu, machine
from perfd.bench.runner import run_child
from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.results import Results
from perfd.domain.suite import Workload

KERNELS = Path(__file__).parents[2] / "kernels"


def pytest_addoption(parser: pytest.Parser) -> None:
    """One option of our own."""
    parser.addoption(
        "--perfd-results", metavar="FOLDER", type=Path, help="keep raw rounds there: one perfd.results/1 a benchmark"
    )


@pytest.fixture(scope="session")
def card() -> gpu.Card:
    """The GPU; a test that needs one is skipped elsewhere."""
    cards = gpu.cards()
    if not cards:
        pytest.skip("there is no GPU here, or no nvidia-ml-py to see it with; a CPU's time would say nothing about a GPU's")
    return cards[0]


@pytest.fixture
def job(tmp_path: Path) -> Callable[[Workload, Device], Job]:
    """A job on the working copy of kernels/."""

    def make(workload: Workload, device: Device) -> Job:
        op = str(workload.parameters["op"])
        return Job(op, "working copy", "", KERNELS, workload, device, "suite", "", tmp_path / "work", threads=1)

    return make


@pytest.fixture
def measured(tmp_path: Path, job: Callable[[Workload, Device], Job]) -> Callable[[Workload], Results]:
    """Measures a Workload in a process of its own, for Triton cannot interpret and compile in one."""

    def measure(workload: Workload) -> Results:
        return run_child(job(workload, machine.device("cpu", 1)), tmp_path / "results.json", workload.time_limit_s)

    return measure
