"""A job of class `kernel` to its Results: what the measuring child calls.

torch and Triton are imported only after the environment says how: Triton decides at import whether it interprets.
"""

import importlib
import importlib.metadata
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from perfd import HARNESS_VERSION
from perfd.bench.kernels.finding import Finding
from perfd.bench.kernels.workloads import device_class
from perfd.bench.measured import metric_samples
from perfd.bench.runner import identity
from perfd.domain.environment import Device, Environment
from perfd.domain.job import Job
from perfd.domain.results import Results
from perfd.domain.run import RunState
from perfd.errors import BadInputError, PerfdError

CACHE = "triton-cache"
"""The folder in `job.work` that Triton compiles into."""


def measure(job: Job) -> Results:
    """What became of the job. Needs a process that has not imported Triton, and an empty `job.work`."""
    started_at = datetime.now(UTC)
    kind = str(job.workload.parameters["kind"])
    prepare(interpreted=kind == "values", cache=job.work / CACHE)
    measuring = importlib.import_module(f"perfd.bench.kernels.{kind}")
    finding: Finding = measuring.measure(job)
    return _results(job, finding, started_at)


def prepare(*, interpreted: bool, cache: Path) -> None:
    """Triton, once imported, interprets or compiles as asked, from an empty cache, with the same arithmetic in every version."""
    if "triton" in sys.modules:
        raise PerfdError("triton is imported already and cannot be told any more to interpret or to compile: use a new process")
    if cache.exists():
        raise BadInputError(f"{cache}: is there already; a Run compiles into an empty folder of its own")
    cache.mkdir(parents=True)
    os.environ["TRITON_INTERPRET"] = "1" if interpreted else "0"
    os.environ["TRITON_CACHE_DIR"] = str(cache)
    # Triton 3.10 turns the fusion of multiply and add off by default, which would look like a change of the kernel.
    os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"


def _results(job: Job, finding: Finding, started_at: datetime) -> Results:
    return Results(
        state=RunState.DONE if finding.failure is None else RunState.FAILED,
        samples=metric_samples(finding.samples),
        started_at=started_at,
        finished_at=datetime.now(UTC),
        environment=_environment(job, finding),
        device_states=finding.device_states,
        failure=finding.failure,
        reason=finding.reason,
        harness_version=HARNESS_VERSION,
        run=identity(job),
        extra=finding.extra,
    )


def _environment(job: Job, finding: Finding) -> Environment:
    device = Device(job.device.host, job.device.name, device_class(job.workload, finding.hardware.get("gpu")))
    versions = {name: importlib.metadata.version(name) for name in ("torch", "triton", "numpy")}
    # The host is no hardware identity here: counts are the same on every machine. A step in compile_s names it as a suspect.
    host = {"python": platform.python_version(), "compiled_on": _cpu_model()}
    return Environment(device, finding.hardware, finding.clock_policy, {**job.software, **versions, **host})


def _cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
