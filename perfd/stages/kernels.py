"""Kernels tried by themselves: the measuring child of a night, without a night and without a database."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from perfd.bench import kernels as bench_kernels
from perfd.bench.runner import run_child
from perfd.config import Config
from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.results import Results
from perfd.domain.run import RunState
from perfd.domain.suite import Workload
from perfd.errors import BadInputError
from perfd.stages.measure import points
from perfd.stages.subjects import kernels as kernels_of


@dataclass(frozen=True)
class Figure:
    """One Metric of one try."""

    metric: str
    value: float
    unit: str


@dataclass(frozen=True)
class KernelLine:
    """What came of one Workload."""

    workload: str
    device_class: str
    state: RunState
    reason: str
    figures: tuple[Figure, ...]


def try_kernels(config: Config, ops: frozenset[str], *, static_only: bool) -> tuple[KernelLine, ...]:
    """Every Workload of the chosen ops that needs no GPU, one after the other; raises BadInputError for an unknown op."""
    known = {kernel.name for kernel in kernels_of(config.kernels_folder)}
    unknown = sorted(ops - known)
    if not known:
        raise BadInputError(f"{config.kernels_folder} holds no kernels (files such as add_rms_norm.py); correct kernels.folder")
    if unknown:
        raise BadInputError(
            f"no kernel called {', '.join(unknown)} in {config.kernels_folder}; there is {', '.join(sorted(known))}"
        )
    shapes = config.suites_folder / "kernels" / "shapes.py"
    return tuple(
        _try(config, op, workload)
        for op in sorted(ops or known)
        for workload in bench_kernels.kernel_workloads(op, shapes)
        if not static_only or workload.parameters["kind"] == "static"
    )


def _try(config: Config, op: str, workload: Workload) -> KernelLine:
    device_class = bench_kernels.device_class(workload)
    with TemporaryDirectory(prefix="perfd-kernel-") as folder:
        work = Path(folder)
        job = Job(op, "here", "here", config.kernels_folder.absolute(), workload, Device("here", "compiler", device_class),
                  "by hand", "by hand", work / "run", 1)  # fmt: skip
        results = run_child(job, work / "results.json", workload.time_limit_s)
    return KernelLine(workload.name, device_class, results.state, results.reason, _figures(results))


def _figures(results: Results) -> tuple[Figure, ...]:
    units = {samples.name: samples.unit for samples in results.samples}
    return tuple(Figure(name, reduced.value, units[name]) for name, reduced in points(results).items())
