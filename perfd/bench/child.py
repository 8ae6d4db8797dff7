"""The measuring child: `python -m perfd.bench.child JOB RESULTS` measures one Run and writes its results file.

It exits 0 whenever it could write the file, whatever the outcome of the Run. Nothing that it started outlives it.
"""

import json
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from perfd import HARNESS_VERSION
from perfd.bench import gpu, kernels, longrun, machine, quality, serving
from perfd.bench.cage import network
from perfd.bench.engine import EngineError, Server, launched
from perfd.bench.keeper import keep
from perfd.bench.measured import Measured, metric_samples
from perfd.bench.runner import identity, log_tail
from perfd.bench.taken import keep_to_ourselves
from perfd.bench.watcher import Watcher
from perfd.bench.witness import left_behind
from perfd.domain import results as results_file
from perfd.domain.codec import from_json
from perfd.domain.environment import DeviceState
from perfd.domain.health import why_sick
from perfd.domain.job import Job
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.suite import WorkloadClass
from perfd.errors import PerfdError


@dataclass(frozen=True)
class Finding:
    """Why a Run is not done."""

    state: RunState
    failure: FailureKind
    sentence: str
    hopeless: bool = False
    """Whether trying again would end the same."""


def main(arguments: list[str]) -> int:
    """Measure under a keeper; the exit code is the measuring half's."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python -m perfd.bench.child JOB RESULTS\n")
        return 3
    job_path, results_path = map(Path, arguments)
    parent = os.getppid()
    keep_to_ourselves()
    return keep(lambda: measure_into(job_path, results_path), parent)


def measure_into(job_path: Path, results_path: Path) -> int:
    """RESULTS holds the outcome of the job in JOB."""
    job = from_json(Job, json.loads(job_path.read_text(encoding="utf-8")))
    results_file.write(measure(job), results_path)
    return 0


def measure(job: Job) -> Results:
    """One Run's outcome, with the Environment and the device's states around it."""
    if job.workload.workload_class is WorkloadClass.KERNEL:
        return kernels.measure(job)
    started_at = datetime.now(UTC)
    if gpu.is_gpu(job.device) and gpu.find(job.device.name) is None:
        return _gone(job, started_at)
    environment = machine.environment(job.device, job.software, job.threads)
    watcher = Watcher(job.device)
    outcome = _outcome(job, watcher)
    about = Results(
        state=RunState.DONE,
        samples=(),
        started_at=started_at,
        finished_at=datetime.now(UTC),
        environment=environment,
        device_states=watcher.states,
        harness_version=HARNESS_VERSION,
        run=identity(job),
    )
    if isinstance(outcome, longrun.Came):
        return replace(about, samples=outcome.samples, extra=outcome.extra)
    return with_measured(about, outcome, job) if isinstance(outcome, Measured) else with_finding(about, outcome, job)


def _outcome(job: Job, watcher: Watcher) -> Measured | longrun.Came | Finding:
    try:
        measured = _measure(job, watcher)
    except EngineError as error:
        watcher.look()  # an engine whose GPU failed dies too, and that is no finding about the Build
        sick = why_sick(watcher.states)
        return Finding(RunState.FAILED, FailureKind.DEVICE if sick else error.failure, sick or error.sentence)
    except PerfdError as error:
        return Finding(RunState.FAILED, FailureKind.HARNESS, error.message, hopeless=error.permanent)
    except Exception as error:  # noqa: BLE001 - the outermost line of the child: its own fault is a result with a traceback
        traceback.print_exc()
        return Finding(RunState.FAILED, FailureKind.HARNESS, f"perfd's own fault: {type(error).__name__}: {error}")
    hot = watcher.why_void()
    return Finding(RunState.VOID, FailureKind.DEVICE, hot) if hot else measured


def _gone(job: Job, started_at: datetime) -> Results:
    """A Run on a GPU that was there when the Run was claimed."""
    lost = DeviceState(started_at, {"gpu_lost": "NVML finds it no more"})
    return Results(
        state=RunState.FAILED,
        samples=(),
        started_at=started_at,
        finished_at=datetime.now(UTC),
        environment=None,
        device_states=(lost,),
        failure=FailureKind.DEVICE,
        reason=why_sick([lost]),
        harness_version=HARNESS_VERSION,
        run=identity(job),
    )


def with_measured(about: Results, measured: Measured, job: Job) -> Results:
    """Samples, or a void Run that keeps them for a reader."""
    done = replace(about, samples=metric_samples(measured.samples), extra=measured.extra)
    return with_finding(done, Finding(RunState.VOID, FailureKind.HARNESS, measured.why_void), job) if measured.why_void else done


def with_finding(about: Results, finding: Finding, job: Job) -> Results:
    """What went wrong, with the ends of the logs."""
    extra = {**about.extra, results_file.HOPELESS: True} if finding.hopeless else about.extra
    end = replace(about, state=finding.state, failure=finding.failure, reason=finding.sentence, extra=extra)
    return replace(end, log_tail=log_tail(job.work))


def _measure(job: Job, watcher: Watcher) -> Measured | longrun.Came:
    if job.workload.workload_class is not WorkloadClass.LONG_RUN:
        return _measure_engine(job, watcher)
    watcher.look()
    came = longrun.measure(job, watcher)
    watcher.look()
    return came


def _measure_engine(job: Job, watcher: Watcher) -> Measured:
    if job.caged:
        network.enter()
    watcher.look()
    with launched(job) as server:
        watcher.start(server.engine_pid)
        try:
            measured = _measure_workload(job, server)
            server.check_alive()
        finally:
            watcher.stop()
    watcher.look()
    beside: dict[str, Sequence[float]] = {"ready_s": [server.ready_s], "peak_memory_bytes": [watcher.peak_memory_bytes]}
    extra = left_behind(measured.extra, server.left_behind)
    return replace(measured, samples={**measured.samples, **beside}, extra=extra)


def _measure_workload(job: Job, server: Server) -> Measured:
    if job.workload.workload_class is WorkloadClass.ACCURACY:
        return quality.measure(job, server)
    return serving.measure(job, server)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
