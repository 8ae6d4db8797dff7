"""Launching: placeholders, ports, processes."""

import os
import shlex
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from perfd.bench import engine, processes
from perfd.bench.engine import EngineError, launched
from perfd.domain.job import Job
from perfd.domain.run import FailureKind
from perfd.domain.subject import Launch

JobMaker = Callable[..., Job]
ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"


@pytest.fixture
def job(make_job: JobMaker) -> Job:
    made = make_job()
    made.work.mkdir()
    return made


def test_every_placeholder_of_a_launch_command_is_replaced(job: Job) -> None:
    words = ("{python}", "{artifact}/serve", "{host}:{port}", "{weights}", "-t{threads}", "{other}")
    command = engine.command(replace(job, weights=Path("/w.gguf")), Launch(words, "openai"), 8123)

    assert command == [sys.executable, f"{job.artifact}/serve", "127.0.0.1:8123", "/w.gguf", "-t1", "{other}"]


def test_a_build_with_an_interpreter_of_its_own_is_run_by_it(job: Job) -> None:
    own = job.artifact / "venv/bin/python"
    own.parent.mkdir(parents=True)
    own.touch()

    assert engine.command(job, Launch(("{python}",), "openai"), 1) == [str(own)]


def test_an_engine_whose_port_is_taken_is_given_another(job: Job) -> None:
    first = "test -e seen || { touch seen; echo 'bind: Address already in use'; exit 1; }"
    script = f"{first}; exec {shlex.quote(sys.executable)} {shlex.quote(str(ENGINE))} --port $0"
    job = replace(job, launch=Launch(("/bin/sh", "-c", script, "{port}"), "openai"))

    with launched(job) as server:
        assert server.process.poll() is None


def test_an_engine_that_never_finds_its_port_free_fails_the_run(job: Job) -> None:
    job = replace(job, launch=Launch(("/bin/sh", "-c", "echo x >> tries; echo 'address already in use'; exit 1"), "openai"))

    with pytest.raises(EngineError) as caught, launched(job):
        pass

    assert caught.value.failure is FailureKind.DIED
    assert len((job.work / "tries").read_text().splitlines()) == engine.PORT_TRIES


def test_only_the_process_that_listens_owns_the_port() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        assert not processes.owns_listener([os.getpid()], port)

        listener.listen()
        assert processes.owns_listener([os.getpid()], port)
        assert not processes.owns_listener([os.getppid()], port)


def test_the_port_is_free_once_the_engine_has_ended(job: Job) -> None:
    with launched(job) as server:
        port = server.port
        with socket.socket() as probe, pytest.raises(OSError, match="in use"):
            probe.bind(("127.0.0.1", port))

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))


def test_threads_are_told_to_every_thread_pool(job: Job) -> None:
    assert job.launch is not None
    seen = engine.environment(replace(job, threads=3), job.launch)

    assert (seen["OMP_NUM_THREADS"], seen["HOME"]) == ("3", str(job.work))
    assert not [name for name in seen if name.startswith("PERFD")]


def test_peak_memory_is_at_least_what_is_held_now() -> None:
    assert processes.peak_resident_bytes(os.getpid()) >= processes.resident_bytes(os.getpid()) * 0.9 > 0


def test_a_process_that_is_gone_has_no_memory_and_no_name() -> None:
    gone = 2**22 - 1

    assert (processes.resident_bytes(gone), processes.peak_resident_bytes(gone), processes.name(gone)) == (0, 0, "?")
