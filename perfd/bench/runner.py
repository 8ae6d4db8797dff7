"""Run a job in a measuring child and get its Results, whatever happens to the child.

`run_child` is all that the measure stage uses of this folder's serving half.
"""

import json
import os
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from perfd import HARNESS_VERSION
from perfd.bench import processes
from perfd.bench.caged import caged_child
from perfd.domain import results as results_file
from perfd.domain.codec import to_json
from perfd.domain.job import Job
from perfd.domain.results import LOG_TAIL_CHARACTERS, Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.suite import WorkloadClass
from perfd.errors import BadInputError

HEARTBEAT_S = 5.0
END_GRACE_S = 5.0
"""A keeper that was told to stop needs milliseconds; one that has not ended by then is killed."""
OURS: Mapping[str, str] = {
    "PYTHONUNBUFFERED": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONSAFEPATH": "1",
    "PYTHONNOUSERSITE": "1",
}
"""For the child alone: its log is whole when it is killed, and numpy starts no threads before it forks. What the engine leaves in
the Run's folder, which is the child's home and current folder, is no place to import from."""
FOR_THE_CHILD = ("PERFD_EVALS",)
"""What the child reads and the engine does not see: where the items of tasks lie."""
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "NVIDIA_VISIBLE_DEVICES")
"""What a child may see of our environment: what programs need to run, and no secret."""


def run_child(
    job: Job,
    results_path: Path,
    limit_s: float,
    heartbeat: Callable[[], None] = lambda: None,
    heartbeat_s: float = HEARTBEAT_S,
    *,
    held: tuple[int, ...] = (),
) -> Results:
    """The Run's outcome, at most `limit_s` and a few seconds later; no process of it is alive and its port is free.

    `heartbeat` is called about every `heartbeat_s` while the child works; what it raises stops the child and passes on.
    `held` are open files whose locks last as long as the child.
    A child that hangs, dies or writes nonsense gives failed Results of kind `timeout`, `died` or `nonsense`.
    """
    started_at = datetime.now(UTC)
    job.work.mkdir(parents=True, exist_ok=True)
    results_path.unlink(missing_ok=True)
    log = job.work / "child.log"
    child = _start(job, results_path, log, held)
    try:
        in_time = _wait(child, limit_s, heartbeat, heartbeat_s)
    finally:
        _end(child, job.work)
    if not in_time:
        reason = f"the measuring child had not ended after {limit_s:g} s and was killed with its engine"
        return _failed(FailureKind.TIMEOUT, reason, started_at, job)
    return _read(results_path, child.returncode, started_at, job)


def child_environment(work: Path) -> dict[str, str]:
    """What the child and the engine see: a handful of our variables, and a home and temporary folder of their own."""
    seen = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**seen, "HOME": str(work), "TMPDIR": str(work), "PYTHONDONTWRITEBYTECODE": "1"}


def _start(job: Job, results_path: Path, log: Path, held: tuple[int, ...]) -> "subprocess.Popen[bytes]":
    job_path = job.work / "job.json"
    job_path.write_text(json.dumps(to_json(job), indent=1), encoding="utf-8")
    here = Path(__file__).resolve().parents[2]
    seen = {name: os.environ[name] for name in FOR_THE_CHILD if name in os.environ}
    words = [sys.executable, "-m", "perfd.bench.child", str(job_path.resolve()), str(results_path.resolve())]
    variables = {**child_environment(job.work.resolve()), **OURS, **seen, "PYTHONPATH": str(here)}
    if job.caged and job.workload.workload_class is WorkloadClass.KERNEL:
        words, variables = caged_child(job, words, variables), {}
    with log.open("wb") as output:
        return subprocess.Popen(
            words,
            env=variables,
            cwd=job.work,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=held,
        )


def _wait(child: "subprocess.Popen[bytes]", limit_s: float, heartbeat: Callable[[], None], heartbeat_s: float) -> bool:
    """True when the child ended by itself in time. A pidfd is waited for, so that nothing polls while an engine is timed."""
    end = time.monotonic() + limit_s
    handle = os.pidfd_open(child.pid)
    try:
        while (left := end - time.monotonic()) > 0:
            ended, _, _ = select.select([handle], [], [], min(left, heartbeat_s))
            if ended:
                return True
            heartbeat()
    finally:
        os.close(handle)
    return False


def _end(child: "subprocess.Popen[bytes]", work: Path) -> None:
    """Stop the keeper, which ends its tree; whatever still works in the Run's folder after that is killed."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(END_GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    end_s = time.monotonic() + END_GRACE_S
    # Nothing is left unless the keeper itself was killed: then the engine follows it by prctl, and this waits until it has.
    while (left := processes.working_in(work)) and time.monotonic() < end_s:
        processes.signal_all(left, signal.SIGKILL)
        time.sleep(0.02)


def _read(results_path: Path, code: int, started_at: datetime, job: Job) -> Results:
    if results_path.exists() and not stat.S_ISREG(results_path.lstat().st_mode):
        # A link could name any file of ours, and a pipe would never end.
        return _failed(FailureKind.NONSENSE, "the results file is no ordinary file", started_at, job)
    if not results_path.exists():
        how = (
            f"was killed by signal {code - 128 if code > 128 else -code}"
            if code < 0 or code > 128
            else f"exited with code {code}"
        )
        return _failed(FailureKind.DIED, f"the measuring child {how} before it wrote its results", started_at, job)
    try:
        results = results_file.read(results_path)
    except BadInputError as error:
        return _failed(FailureKind.NONSENSE, f"the results file cannot be used: {error.message}", started_at, job)
    return replace(results, log_tail=results.log_tail[-LOG_TAIL_CHARACTERS:], reason=results.reason[:2000])


def _failed(failure: FailureKind, reason: str, started_at: datetime, job: Job) -> Results:
    return Results(
        state=RunState.FAILED,
        samples=(),
        started_at=started_at,
        finished_at=datetime.now(UTC),
        environment=None,
        failure=failure,
        reason=reason,
        log_tail=log_tail(job.work),
        harness_version=HARNESS_VERSION,
        run=identity(job),
    )


def identity(job: Job) -> dict[str, str]:
    """The Run's identity as a results file tells it."""
    workload = job.workload
    model = job.model
    return {
        "run": job.run,
        "subject": job.subject,
        "revision": job.revision,
        "build": job.build,
        "suite": workload.suite,
        "workload": workload.name,
        "workload_identity": workload.identity,
        "model": model.name if model else "",
        "quantisation": model.quantisation if model else "",
        "parallelism": model.parallelism if model else "",
        "occasion": job.occasion,
    }


def log_tail(work: Path) -> str:
    """The last lines of the engine's log and the child's, each under its name."""
    parts = []
    for name in ("child.log", "engine.log", "work.log"):
        text = tail(work / name, LOG_TAIL_CHARACTERS // 2)
        if text:
            parts.append(f"--- {name}\n{text}")
    return "\n".join(parts)[-LOG_TAIL_CHARACTERS:]


def tail(path: Path, characters: int) -> str:
    """The end of a text file, read from its end; "" when there is none."""
    try:
        # A caged child owns its folder, and could put a link to a file of ours in the log's place, or a pipe that never ends.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123 - an open handle
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 4 * characters))
            return file.read().decode("utf-8", errors="replace")[-characters:].strip()
    except OSError:
        return ""
