"""The measuring child: every way in which an engine or the child fails is an outcome, and nothing is left behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from perfd.bench.runner import run_child
from perfd.domain.codec import to_json
from perfd.domain.job import Job
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.subject import Launch

JobMaker = Callable[..., Job]
LeftBehind = Callable[[], list[str]]
LOAD = {"requests": 6, "concurrency": 2, "prompt_tokens": 32, "output_tokens": 8, "send_lag_p99_s": 5.0}
LONG = {"requests": 4000, "concurrency": 1, "prompt_tokens": 16, "output_tokens": 64}


def outcome(results: Results) -> tuple[RunState, FailureKind | None]:
    return results.state, results.failure


def wait_for(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, f"waited 20 s for {what}"
        time.sleep(0.02)


def samples(results: Results) -> dict[str, tuple[float, ...]]:
    return {one.name: one.values for one in results.samples}


def test_a_load_on_a_healthy_engine_gives_samples_of_every_metric(make_job: JobMaker, tmp_path: Path) -> None:
    results = run_child(make_job(), tmp_path / "results.json", 30)

    assert results.state is RunState.DONE, results.reason
    found = samples(results)
    gaps = found.pop("itl_s")
    assert 0 < len(gaps) <= 35  # tokens that come together with the first have no gap
    assert {name: len(values) for name, values in found.items()} == {
        "ttft_s": 5,
        "tpot_s": 5,
        "e2e_s": 5,
        "output_tokens_per_s": 1,
        "failed_requests": 1,
        "ready_s": 1,
        "peak_memory_bytes": 1,
    }
    assert found["failed_requests"] == (0.0,)
    assert found["peak_memory_bytes"][0] > 1e6


def test_time_per_token_is_the_engines_own(make_job: JobMaker, tmp_path: Path) -> None:
    results = run_child(make_job(token_s=0.02), tmp_path / "results.json", 30)

    middle = sorted(samples(results)["tpot_s"])[2]
    assert middle >= 0.0199


def test_the_clients_own_error_is_stored_where_it_is_asked_for(make_job: JobMaker, tmp_path: Path) -> None:
    results = run_child(make_job(parameters={**LOAD, "calibrate_s": 0.5}), tmp_path / "results.json", 30)

    # On a busy machine the client's error may be out of bounds, and the Run void for it: it is stored either way.
    assert results.state in {RunState.DONE, RunState.VOID}, results.reason
    assert "p50" in results.extra["load"]["client"]["self_calibration"]["ttft_bias_s"]


def test_environment_and_device_states_stand_beside_the_samples(make_job: JobMaker, tmp_path: Path) -> None:
    results = run_child(make_job(), tmp_path / "results.json", 30)

    assert results.environment is not None
    assert results.environment.hardware["threads"] == "1"
    assert len(results.device_states) >= 2


def test_tokens_are_counted_by_the_server_and_by_the_client(make_job: JobMaker, tmp_path: Path) -> None:
    results = run_child(make_job(), tmp_path / "results.json", 30)

    tokens = results.extra["tokens"]
    assert tokens["client_output"] == tokens["server_usage_output"] == tokens["server_counters"]["output_tokens"] == 48


def test_prompts_are_fresh_in_every_run_and_equal_in_size(make_job: JobMaker) -> None:
    from perfd.bench.serving import prompts_for

    job = make_job()
    other = replace(job, run="s" * 64)

    assert prompts_for(job) != prompts_for(other)
    assert replace(prompts_for(job), occasion="") == replace(prompts_for(other), occasion="")


BROKEN = {
    "dies at its start": ({"die_at_start": 1}, FailureKind.DIED, "exited with code 1 before it was ready"),
    "dies in an answer": ({"die_after": 2}, FailureKind.DIED, "exited with code 7"),
    "answers no JSON": ({"nonsense": 1}, FailureKind.NONSENSE, "none of"),
    "answers 500": ({"error_after": 1}, FailureKind.NONSENSE, "none of"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_engine_fails_the_run_and_frees_the_machine(
    how: str, make_job: JobMaker, tmp_path: Path, left_behind: LeftBehind
) -> None:
    knobs, failure, told = BROKEN[how]

    results = run_child(make_job(**knobs), tmp_path / "results.json", 30)

    assert outcome(results) == (RunState.FAILED, failure)
    assert told in results.reason
    assert results.samples == ()
    assert left_behind() == []


def test_the_log_of_a_dead_engine_is_kept(make_job: JobMaker, tmp_path: Path) -> None:
    results = run_child(make_job(die_after=1), tmp_path / "results.json", 30)

    assert "tiny engine: told to die" in results.log_tail


def test_an_engine_that_never_gets_ready_fails_with_what_it_answered(make_job: JobMaker, tmp_path: Path) -> None:
    job = make_job(never_ready=1)
    assert job.launch is not None
    job = replace(job, launch=replace(job.launch, ready_timeout_s=1.0))

    results = run_child(job, tmp_path / "results.json", 30)

    assert outcome(results) == (RunState.FAILED, FailureKind.NOT_READY)
    assert "/health answered 503" in results.reason


def test_a_program_that_is_not_there_is_a_failed_run(make_job: JobMaker, tmp_path: Path) -> None:
    launch = Launch(("{artifact}/no-such-server", "{port}"), "openai")

    results = run_child(make_job(launch=launch), tmp_path / "results.json", 30)

    assert outcome(results) == (RunState.FAILED, FailureKind.DIED)
    assert "no-such-server cannot be started" in results.reason


def test_requests_that_fail_among_others_are_counted_and_the_run_is_done(make_job: JobMaker, tmp_path: Path) -> None:
    results = run_child(make_job(error_after=5), tmp_path / "results.json", 30)

    assert results.state is RunState.DONE, results.reason
    assert samples(results)["failed_requests"] == (2.0,)


def test_a_hung_engine_is_killed_at_the_limit(make_job: JobMaker, tmp_path: Path, left_behind: LeftBehind) -> None:
    beats: list[int] = []
    results = run_child(
        make_job(hang_after=1, ignore_term=1), tmp_path / "results.json", 3, lambda: beats.append(1), heartbeat_s=0.2
    )

    assert outcome(results) == (RunState.FAILED, FailureKind.TIMEOUT)
    assert left_behind() == []
    assert len(beats) >= 3


def test_an_engine_that_ignores_sigterm_is_killed_and_the_run_is_done(
    make_job: JobMaker, tmp_path: Path, left_behind: LeftBehind
) -> None:
    results = run_child(make_job(ignore_term=1), tmp_path / "results.json", 30)

    assert results.state is RunState.DONE, results.reason
    assert left_behind() == []


def test_a_grandchild_in_a_session_of_its_own_does_not_outlive_the_run(make_job: JobMaker, tmp_path: Path) -> None:
    pid_file = tmp_path / "grandchild"

    run_child(make_job(forget_pid=pid_file), tmp_path / "results.json", 30)

    pid = int(pid_file.read_text())
    assert not Path(f"/proc/{pid}").exists()


def test_a_heartbeat_that_raises_stops_the_child(make_job: JobMaker, tmp_path: Path, left_behind: LeftBehind) -> None:
    class LeaseLostError(Exception):
        pass

    def lose() -> None:
        raise LeaseLostError

    with pytest.raises(LeaseLostError):
        run_child(make_job(parameters=LONG), tmp_path / "results.json", 30, lose, heartbeat_s=0.5)
    assert left_behind() == []


def test_a_job_that_cannot_be_read_is_a_child_that_died(make_job: JobMaker, tmp_path: Path) -> None:
    job = make_job(parameters={})

    results = run_child(job, tmp_path / "results.json", 30)

    assert outcome(results) == (RunState.FAILED, FailureKind.HARNESS)


def test_an_engine_without_a_launch_stanza_is_the_harness_fault(make_job: JobMaker, tmp_path: Path) -> None:
    results = run_child(replace(make_job(), launch=None), tmp_path / "results.json", 30)

    assert outcome(results) == (RunState.FAILED, FailureKind.HARNESS)
    assert "no launch stanza" in results.reason


def test_the_engine_sees_no_secret(make_job: JobMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERFD_DATABASE_URL", "postgresql://user:hush@db/perfd")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    launch = Launch(("/bin/sh", "-c", "env; exit 5"), "openai")

    results = run_child(make_job(launch=launch), tmp_path / "results.json", 30)

    assert "hush" not in results.log_tail
    assert "HOME=" in results.log_tail


RUNNER = """
import json, sys
from pathlib import Path
from perfd.bench.runner import run_child
from perfd.domain.codec import from_json
from perfd.domain.job import Job
job = from_json(Job, json.loads(Path(sys.argv[1]).read_text()))
run_child(job, Path(sys.argv[2]), 60)
"""


def test_kill_9_of_the_runner_leaves_no_engine_and_frees_its_port(
    make_job: JobMaker, tmp_path: Path, left_behind: LeftBehind
) -> None:
    pid_file = tmp_path / "grandchild"
    job = make_job(parameters=LONG, forget_pid=pid_file, ignore_term=1)
    (tmp_path / "job.json").write_text(json.dumps(to_json(job)))
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, str(tmp_path / "job.json"), str(tmp_path / "results.json")])
    log = job.work / "engine.log"
    wait_for(lambda: log.exists() and "listening on" in log.read_text() and pid_file.exists(), "the engine")
    port = int(log.read_text().split("listening on 127.0.0.1:")[1].split()[0])

    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()

    wait_for(lambda: left_behind() == [], "an empty machine")
    assert not Path(f"/proc/{pid_file.read_text()}").exists()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))


@pytest.mark.parametrize("half", ["keeper", "worker"])
def test_kill_9_of_either_half_of_the_child_is_a_child_that_died(
    half: str, make_job: JobMaker, tmp_path: Path, left_behind: LeftBehind
) -> None:
    from perfd.bench import processes

    job = make_job(parameters=LONG)

    def kill() -> None:
        child = next(pid for pid in processes.descendants(os.getpid()) if str(job.work) in command_of(pid))
        victim = child if half == "keeper" else processes.descendants(child)[0]
        os.kill(victim, signal.SIGKILL)

    results = run_child(job, tmp_path / "results.json", 30, kill, heartbeat_s=1.0)

    assert outcome(results) == (RunState.FAILED, FailureKind.DIED)
    assert "was killed by signal 9" in results.reason
    assert left_behind() == []


def test_a_child_that_was_stopped_is_killed_at_the_limit(
    make_job: JobMaker, tmp_path: Path, left_behind: LeftBehind, monkeypatch: pytest.MonkeyPatch
) -> None:
    from perfd.bench import processes, runner

    monkeypatch.setattr(runner, "END_GRACE_S", 1.0)  # a stopped child cannot use it
    job = make_job(parameters=LONG, ignore_term=1)

    def stop() -> None:
        processes.signal_all(processes.working_in(job.work), signal.SIGSTOP)

    results = run_child(job, tmp_path / "results.json", 2, stop, heartbeat_s=0.9)

    assert outcome(results) == (RunState.FAILED, FailureKind.TIMEOUT)
    assert left_behind() == []


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def test_a_stale_results_file_is_not_believed(make_job: JobMaker, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    first = run_child(make_job(), path, 30)

    second = run_child(make_job(die_at_start=1), path, 30)

    assert (first.state, second.state) == (RunState.DONE, RunState.FAILED)
