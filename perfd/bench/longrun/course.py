"""The course of a long Run: the work in its cage, what it hands in scored meanwhile, and what stands at its end."""

import os
import queue
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from perfd.bench import gpu, machine, processes
from perfd.bench.cage import network
from perfd.bench.cage.plan import ENGINE, NO_NETWORK, Limits, Plan, command, python_places, same_place
from perfd.bench.cage.refuse import refusal
from perfd.bench.engine import EngineError, Server, launched
from perfd.bench.longrun.asked import FILES, SCORES, VALIDATION, Asked, asked, filled
from perfd.bench.longrun.scoring import score
from perfd.bench.longrun.taking import Taken, Taker
from perfd.bench.longrun.told import tell
from perfd.bench.runner import tail
from perfd.bench.watcher import Watcher
from perfd.domain.identity import Json
from perfd.domain.job import Job
from perfd.domain.results import MetricSamples
from perfd.domain.run import FailureKind
from perfd.domain.submission import Submission, best, mean
from perfd.errors import BadInputError

MEMORY_SHARE = 0.8
"""Of the machine's: the scorer needs some."""
LOOKS = 500
"""Of the device, about so many in the whole Run."""


@dataclass(frozen=True)
class Came:
    """What a long Run has come to: the Metric's Samples of its best submission on the held-out set, and how it went."""

    samples: tuple[MetricSamples, ...]
    extra: dict[str, Json]


class _Places:
    """The folders of one long Run, made anew: two that are the work's own, and two that it cannot write."""

    def __init__(self, work: Path) -> None:
        self.own, self.submissions, self.taken, self.scores = (work / name for name in ("own", "submissions", "taken", "scores"))
        for folder in (self.own, self.submissions, self.taken, self.scores):
            folder.mkdir()


def measure(job: Job, watcher: Watcher) -> Came:
    """The work has ended or its time was over, and everything that it handed in was scored.

    The Run's Samples are the held-out scores of the submission that is best on the validation set: an honest work would name
    that one, and a work that memorised is shown with what it is worth. Raises EngineError where nothing could be scored.
    """
    wanted = asked(job)
    if refusal():
        raise BadInputError(f"a long Run keeps its held-out set away from the work, which needs a cage: {refusal()}")
    if wanted.engine:
        network.enter()  # a loopback that the server and the work share, and nobody else
        with launched(job) as server:
            return _work(job, wanted, watcher, server)
    return _work(job, wanted, watcher, None)


def _work(job: Job, wanted: Asked, watcher: Watcher, server: Server | None) -> Came:
    places = _Places(job.work.resolve())
    taker = Taker(places.submissions, places.taken, wanted.most_submissions, wanted.most_bytes)
    with _running(job, wanted, places, server) as work:
        watcher.start(work.pid, every_s=max(2.0, wanted.work_s / LOOKS))
        taker.start()
        try:
            found, code = _follow(job, wanted, taker, work, places.scores)
        finally:
            watcher.stop()
    came = _came(job, wanted, found, code)
    came.extra["long_run"]["passed_over"] = taker.passed_over
    return came


def _follow(
    job: Job, wanted: Asked, taker: Taker, work: "subprocess.Popen[bytes]", scores: Path
) -> tuple[tuple[Submission, ...], int | None]:
    """Everything that was handed in, scored; and the work's exit code, absent where its time was over."""
    found: list[Submission] = []
    end_s = time.monotonic() + wanted.work_s
    while work.poll() is None and time.monotonic() < end_s:
        try:
            found.append(_scored(job, wanted, taker.taken.get(timeout=0.2), scores))
        except queue.Empty:
            continue
    code = work.poll()
    taker.stop()
    _end(work)
    while not taker.taken.empty():
        found.append(_scored(job, wanted, taker.taken.get(), scores))
    return tuple(found), code


def _scored(job: Job, wanted: Asked, taken: Taken, scores: Path) -> Submission:
    made = score(wanted, taken, gpu=gpu.is_gpu(job.device))
    tell(job.work, made)
    if made.validation:  # the work may know how it does where it may look; of the held-out set it hears nothing
        beside = scores / f".{taken.name}"
        beside.write_text(f"{mean(made.validation):.9g}\n", encoding="ascii")
        beside.chmod(0o644)
        beside.rename(scores / taken.name)
    return made


@contextmanager
def _running(job: Job, wanted: Asked, at: _Places, server: Server | None) -> Iterator["subprocess.Popen[bytes]"]:
    """The work, in its cage; it and all that it started have ended when the block is left."""
    shown = {**python_places(), **same_place(job.artifact), VALIDATION: str(wanted.validation), SCORES: str(at.scores)}
    if wanted.files is not None:
        shown[FILES] = str(wanted.files)
    places = {"files": FILES, "validation": VALIDATION, "artifact": str(job.artifact)}
    plan = Plan(
        command=filled(wanted.work, places),
        limits=_limits(wanted),
        environment=_variables(at, server),
        shown=shown,
        writes=(str(at.own), str(at.submissions)),
        cwd=str(at.own),
        network=NO_NETWORK if server is None else network.entered(),
        gpu=gpu.is_gpu(job.device),
    )
    with (job.work / "work.log").open("wb") as log:
        work = subprocess.Popen(
            command(plan), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd="/", env={}, start_new_session=True
        )
    try:
        yield work
    finally:
        _end(work)


def _variables(at: _Places, server: Server | None) -> dict[str, str]:
    """All that the work gets told."""
    said = {
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "HOME": str(at.own),
        "TMPDIR": "/tmp",  # noqa: S108 - the cage's own
        "PERFD_FILES": FILES,
        "PERFD_VALIDATION": VALIDATION,
        "PERFD_SUBMISSIONS": str(at.submissions),
        "PERFD_SCORES": SCORES,
    }
    return said if server is None else {**said, "PERFD_URL": f"http://127.0.0.1:{server.port}"}


def _limits(wanted: Asked) -> Limits:
    total = machine.meminfo().get("MemTotal", ENGINE.memory_bytes)
    # Our own clock strikes first and keeps what was handed in; the cage's is there should we be killed.
    return replace(ENGINE, wall_s=wanted.work_s + 60.0, memory_bytes=int(MEMORY_SHARE * total))


def _end(work: "subprocess.Popen[bytes]") -> None:
    if work.poll() is None:
        processes.signal_all([work.pid], signal.SIGTERM)
        try:
            work.wait(5.0)
        except subprocess.TimeoutExpired:
            os.killpg(work.pid, signal.SIGKILL)
            work.wait()


def _came(job: Job, wanted: Asked, found: tuple[Submission, ...], code: int | None) -> Came:
    chosen = best(found)
    how = "its time was over" if code is None else f"it ended with {code}"
    if chosen is None:
        kind = FailureKind.NONSENSE if found else FailureKind.TIMEOUT if code is None else FailureKind.DIED
        last = found[-1].reason if found else f"the work handed nothing in before {how}"
        raise EngineError(kind, f"no submission could be scored: {last}; its last words: {_last_words(job)}")
    told = {
        "work": how,
        "submissions": len(found),
        "scored": sum(bool(one.validation) for one in found),
        "best": chosen.name,
        "best_after_s": round(chosen.elapsed_s, 3),
        "repeats": wanted.repeats,
    }
    return Came((MetricSamples(chosen.metric, chosen.unit, chosen.better, chosen.held_out),), {"long_run": told})


def _last_words(job: Job) -> str:
    return tail(job.work / "work.log", 300) or "none"
