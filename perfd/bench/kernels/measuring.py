"""A job of class `kernel` to its Results: what the measuring child calls.

torch and Triton are imported only after the environment says how: Triton decides at import whether it interprets.
"""

import importlib
import importlib.metadata
import os
import platform
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path

from perfd import HARNESS_VERSION
from perfd.bench import gpu, machine
from perfd.bench.kernels.finding import Finding, KernelError
from perfd.bench.kernels.workloads import device_class
from perfd.bench.look import look
from perfd.bench.measured import metric_samples
from perfd.bench.runner import identity, log_tail
from perfd.domain.environment import Device, Environment
from perfd.domain.health import why_sick
from perfd.domain.job import Job
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.errors import PerfdError


def measure(job: Job) -> Results:
    """What became of the job. Needs a process that has not imported Triton."""
    started_at = datetime.now(UTC)
    kind = str(job.workload.parameters["kind"])
    prepare(interpreted=kind == "values", cache=Path(tempfile.mkdtemp(prefix="triton-", dir=job.work)))
    if kind == "timing":
        os.environ["CUDA_VISIBLE_DEVICES"] = job.device.name
    measuring = importlib.import_module(f"perfd.bench.kernels.{kind}")
    try:
        finding: Finding = measuring.measure(job)
    except KernelError as error:
        traceback.print_exc()  # into the child's log, whose tail is kept
        states = (look(job.device, shares=False),) if gpu.is_gpu(job.device) else ()
        sick = why_sick(states)  # a kernel fails on a GPU that has failed, and that is no finding about the kernel
        failure = FailureKind.DEVICE if sick else error.failure
        finding = Finding(measuring.hardware(job), device_states=states, failure=failure, reason=sick or error.sentence)
    return results(job, finding, started_at)


def prepare(*, interpreted: bool, cache: Path) -> None:
    """Triton, once imported, interprets or compiles as asked, into `cache`, with the same arithmetic in every version."""
    if "triton" in sys.modules:
        raise PerfdError("triton is imported already and cannot be told any more to interpret or to compile: use a new process")
    os.environ["TRITON_INTERPRET"] = "1" if interpreted else "0"
    os.environ["TRITON_CACHE_DIR"] = str(cache)
    # Triton 3.10 turns the fusion of multiply and add off by default, which would look like a change of the kernel.
    os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"


def results(job: Job, finding: Finding, started_at: datetime) -> Results:
    """The finding as Results, with the Environment that its numbers belong to."""
    void = finding.failure is None and finding.why_void
    state = RunState.FAILED if finding.failure else RunState.VOID if void else RunState.DONE
    return Results(
        state=state,
        samples=metric_samples(finding.samples),
        started_at=started_at,
        finished_at=datetime.now(UTC),
        environment=_environment(job, finding),
        device_states=finding.device_states,
        failure=FailureKind.DEVICE if void else finding.failure,
        reason=finding.reason or finding.why_void,
        log_tail=log_tail(job.work) if finding.failure else "",
        harness_version=HARNESS_VERSION,
        run=identity(job),
        extra=finding.extra,
    )


def _environment(job: Job, finding: Finding) -> Environment:
    device = Device(job.device.host, job.device.name, device_class(job.workload, job.device.device_class))
    versions = {name: importlib.metadata.version(name) for name in ("torch", "triton", "numpy")}
    # The host is no hardware identity here: counts are the same on every machine. A step in compile_s names it as a suspect.
    host = {"python": platform.python_version(), "compiled_on": machine.cpu_model()}
    return Environment(device, finding.hardware, finding.clock_policy, {**job.software, **finding.software, **versions, **host})
