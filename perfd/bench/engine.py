"""A launched Engine: started in a session of its own, ready or failed with its log, and ended whole.

The engine dies with the child that launched it (prctl), and what it started dies with the keeper (keeper.py).
"""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from perfd.bench import processes
from perfd.bench.caged import caged_engine
from perfd.bench.runner import child_environment, tail
from perfd.domain.job import Job
from perfd.domain.run import FailureKind
from perfd.domain.subject import Launch

HOST = "127.0.0.1"
PORT_TRIES = 3
POLL_S = 0.01
LISTENER_LOOKS = 3
TERM_GRACE_S = 5.0
FOLLOW_S = 1.0
"""What an engine started may end so much later than itself without having been left behind."""
PORT_TAKEN = ("address already in use", "address in use", "couldn't bind", "could not bind", "failed to bind", "errno 98")


class EngineError(Exception):
    """A finding about the Build: its engine did not do what an engine does."""

    def __init__(self, failure: FailureKind, sentence: str) -> None:
        super().__init__(sentence)
        self.failure = failure
        self.sentence = sentence


class PortTakenError(EngineError):
    """Somebody else took the engine's port between our look and its bind."""


@dataclass(frozen=True)
class Server:
    """An engine that has answered on its readiness path."""

    process: "subprocess.Popen[bytes]"
    port: int
    ready_s: float
    log: Path
    left_behind: list[str] = field(default_factory=list)
    """Filled when the engine has ended: processes below it that outlived it, until they were killed."""
    caged: bool = False

    @property
    def pids(self) -> list[int]:
        """The engine's process and everything below it."""
        return [self.process.pid, *processes.descendants(self.process.pid)]

    @property
    def engine_pid(self) -> int:
        """The engine's own process, whose memory is its own; two of the cage's stand above a caged one."""
        above = 2 if self.caged else 0
        return next(iter(self.pids[above:]), self.process.pid)

    def check_alive(self) -> None:
        """Raise EngineError when the engine has ended."""
        code = self.process.poll()
        if code is not None:
            raise EngineError(FailureKind.DIED, f"the engine {how_it_ended(code)} while it was measured")


@contextmanager
def launched(job: Job) -> Iterator[Server]:
    """A ready engine, which is ended when the block is left; raises EngineError when it does not get ready."""
    launch = job.launch
    if launch is None:
        raise EngineError(
            FailureKind.HARNESS, f"the job for {job.subject} has no launch stanza, and its Workload needs an engine"
        )
    server = _start_on_a_free_port(job, launch)
    try:
        yield server
    finally:
        server.left_behind.extend(end(server.process))


def _start_on_a_free_port(job: Job, launch: Launch) -> Server:
    log = job.work / "engine.log"
    for left in reversed(range(PORT_TRIES)):
        port = free_port()
        start_s = time.monotonic()
        process = start(*_as_started(job, command(job, launch, port), environment(job, launch)), job.work, log)
        try:
            wait_ready(process, port, launch, start_s)
            return Server(process, port, time.monotonic() - start_s, log, caged=job.caged)
        except EngineError as error:
            end(process)
            if left == 0 or not is_port_taken(error, log):
                raise
    raise AssertionError("unreachable: the last try returns or raises")


def _as_started(job: Job, arguments: list[str], variables: Mapping[str, str]) -> tuple[list[str], Mapping[str, str]]:
    """The same, or the cage's own program around it, which gets no variable of ours."""
    return (caged_engine(job, arguments, variables), {}) if job.caged else (arguments, variables)


def free_port() -> int:
    """A loopback port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_port_taken(error: EngineError, log: Path) -> bool:
    """Whether another port would help."""
    if isinstance(error, PortTakenError):
        return True
    text = tail(log, 4000).lower()
    return error.failure is FailureKind.DIED and any(sign in text for sign in PORT_TAKEN)


def command(job: Job, launch: Launch, port: int) -> list[str]:
    """The launch command with its placeholders replaced."""
    own = [path for path in (job.artifact / "venv/bin/python", job.artifact / "bin/python") if path.exists()]
    values = {
        "artifact": str(job.artifact),
        "python": str(own[0]) if own else sys.executable,
        "host": HOST,
        "port": str(port),
        "weights": str(job.weights or ""),
        "threads": str(job.threads),
    }
    return [_fill(part, values) for part in launch.command]


def _fill(part: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        part = part.replace("{" + name + "}", value)
    return part


def environment(job: Job, launch: Launch) -> dict[str, str]:
    """Minimal, without secrets; thread pools are told the threads that they may use."""
    threads = str(job.threads)
    pools = {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    return {**child_environment(job.work.resolve()), **pools, "PYTHONUNBUFFERED": "1", **launch.environment}


def start(arguments: list[str], variables: Mapping[str, str], work: Path, log: Path) -> "subprocess.Popen[bytes]":
    """The engine's process; raises EngineError when its program cannot be started."""
    with log.open("ab") as output:
        try:
            return subprocess.Popen(
                arguments,
                env=dict(variables),
                cwd=work,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=processes.die_with_parent,  # noqa: PLW1509 - one prctl, and this process has one thread yet
            )
        except OSError as error:
            raise EngineError(
                FailureKind.DIED, f"the engine's program {arguments[0]} cannot be started ({error.strerror})"
            ) from None


def wait_ready(process: "subprocess.Popen[bytes]", port: int, launch: Launch, start_s: float) -> None:
    """The engine has answered 200 on its readiness path; raises EngineError when it ends or its time is up."""
    last = "nothing listens on its port"
    while (waited_s := time.monotonic() - start_s) < launch.ready_timeout_s:
        code = process.poll()
        if code is not None:
            raise EngineError(FailureKind.DIED, f"the engine {how_it_ended(code)} before it was ready")
        last = ask_ready(port, launch.ready_path) or last
        if last == "200" and process.poll() is None:
            _check_listener(process, port)
            return
        time.sleep(POLL_S)
    seen = f"{launch.ready_path} answered {last}" if last.isdigit() else last
    raise EngineError(FailureKind.NOT_READY, f"the engine was not ready after {waited_s:.0f} s: {seen}")


def _check_listener(process: "subprocess.Popen[bytes]", port: int) -> None:
    """Raise PortTakenError when it was another program that answered: its numbers would pass for the engine's."""
    looks = range(LISTENER_LOOKS)
    # The kernel's table is read in pieces, and a row can slip between two of them while others come and go.
    if not any(processes.owns_listener([process.pid, *processes.descendants(process.pid)], port) for _ in looks):
        raise PortTakenError(FailureKind.DIED, f"another program listens on port {port}, which the engine was given")


def ask_ready(port: int, path: str) -> str:
    """The HTTP status of the readiness path as text, or what was seen instead; "" for a refused connection."""
    connection = http.client.HTTPConnection(HOST, port, timeout=2.0)
    try:
        connection.request("GET", path)
        return str(connection.getresponse().status)
    except ConnectionRefusedError:
        return ""
    except (OSError, http.client.HTTPException) as error:
        return f"{path} gave no HTTP answer ({type(error).__name__})"
    finally:
        connection.close()


def how_it_ended(code: int) -> str:
    """'exited with code 7', 'was killed by signal 9'."""
    return f"exited with code {code}" if code >= 0 else f"was killed by signal {-code}"


def end(process: "subprocess.Popen[bytes]") -> list[str]:
    """The engine and all below it have ended: asked first, then killed, so that its port and memory are free.

    Returns the processes that outlived the engine, as "name (pid 12)": an engine that ends well takes its own along.
    """
    below = processes.descendants(process.pid)
    born = processes.births(below)
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(TERM_GRACE_S)
        except subprocess.TimeoutExpired:
            _kill_group(process)
            process.wait()
    left = [f"{processes.name(pid)} (pid {pid})" for pid in processes.survivors(born, FOLLOW_S)]
    processes.signal_all(below, 9)
    _kill_group(process)
    return left


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, 9)
    except (ProcessLookupError, PermissionError):
        return
