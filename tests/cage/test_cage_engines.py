"""A caged engine is measured as any other; its checkout changes neither the harness nor the suite."""

import json
import os
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from perfd.bench.cage import network
from perfd.bench.cage.plan import HOME
from perfd.bench.kernels import kernel_workloads
from perfd.bench.runner import run_child
from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.subject import Launch
from perfd.domain.suite import Workload, WorkloadClass
from perfd.errors import BadInputError

FIRST = "import argparse\n"
TINY = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
LOAD = {
    "requests": 6,
    "warmup_requests": 1,
    "concurrency": 2,
    "prompts": "chat",
    "api": "chat",
    "prompt_tokens": 32,
    "output_tokens": 8,
    "system_tokens": 0,
    "temperature": 0.0,
    "ignore_eos": True,
    # The machine that tests run on may be busy; what voids a Run is tested with the load client.
    "send_lag_p99_s": 5.0,
}


@pytest.fixture
def job(tmp_path: Path, cages_are_here: None) -> Job:
    """The tiny engine as a pull request has it: a checkout that a test may change."""
    del cages_are_here
    checkout = tmp_path / "builds" / "artifact"
    checkout.mkdir(parents=True)
    (checkout / "engine.py").write_bytes(TINY.read_bytes())
    return Job(
        subject="tiny",
        revision="1",
        build="b" * 64,
        artifact=checkout,
        workload=Workload("tests", "tiny", WorkloadClass.CHAT, LOAD, seed=1, data_hash="", time_limit_s=60.0),
        device=Device("here", "cpu", "cpu:test:t1"),
        occasion="compare:2026-01-01T02:00:00Z:pull octo/engine#1",
        run="r" * 64,
        work=tmp_path / "runs" / "one",
        threads=1,
        launch=Launch(
            ("{python}", "{artifact}/engine.py", "--host", "{host}", "--port", "{port}"), "llamacpp", ready_timeout_s=20.0
        ),
        caged=True,
    )


def measured(job: Job) -> Results:
    return run_child(job, job.work / "results.json", job.workload.time_limit_s)


def with_first_line(job: Job, line: str) -> Job:
    """The same, but the engine of the pull request begins with this."""
    text = TINY.read_text()
    assert FIRST in text
    (job.artifact / "engine.py").write_text(text.replace(FIRST, f"{line}\n{FIRST}", 1))
    return job


def told(results: Results) -> list[str]:
    """What the engine wrote as "seen: ..." into its log; it ends before it is ready."""
    assert (RunState.FAILED, FailureKind.DIED) == (results.state, results.failure), results.reason
    return [line.removeprefix("seen: ") for line in results.log_tail.splitlines() if line.startswith("seen: ")]


def test_a_caged_engine_is_measured(job: Job) -> None:
    results = measured(job)

    assert RunState.DONE is results.state, f"{results.reason}\n{results.log_tail}"
    values = {one.name: one.values for one in results.samples}
    assert 5 == len(values["ttft_s"])  # the first warms up
    # The tiny engine's first token leaves 4 ms after the request: nothing on the way adds as much again.
    assert 0.004 <= min(values["ttft_s"]) < 0.008
    assert [0.0] == list(values["failed_requests"])


def test_the_engine_shares_loopback_with_its_harness_and_nothing_else(job: Job) -> None:
    with socket.create_server(("127.0.0.1", 0)) as database:
        address = database.getsockname()
        look = (
            "import os, socket, sys\n"
            f"print('seen:', socket.socket().connect_ex({address!r}), flush=True)\n"
            "print('seen:', sorted(int(name) for name in os.listdir('/proc') if name.isdigit()), flush=True)\n"
            f"print('seen:', os.path.exists({str(job.work)!r}), os.getcwd(), os.environ['HOME'], flush=True)\n"
            f"print('seen:', os.listdir({str(job.artifact.parent)!r}), flush=True)\n"
            "print('seen:', sorted(name for name in os.environ if name.startswith(('PERFD', 'PYTHONPATH'))), flush=True)\n"
            "sys.exit(3)\n"
        )
        seen = told(measured(with_first_line(job, look)))

    assert [str(111), "[1, 2]", f"False {HOME} {HOME}", "['artifact']", "[]"] == seen


def test_a_checkout_of_the_harness_is_not_imported(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that Python, pytest and perfd look for: in the checkout, in the current folder, in the Run's own folder and home."""
    trap = f"open({str(tmp_path / 'sprung')!r}, 'a').write(__name__)\nimport os\nos._exit(66)\n"
    job.work.mkdir(parents=True)
    for folder in (job.artifact, tmp_path, job.work, job.work / ".local/lib/python3.11/site-packages"):
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("sitecustomize", "usercustomize", "conftest", "json", "numpy", "perfd"):
            (folder / f"{name}.py").write_text(trap)
        (folder / "evil.pth").write_text(f"import os; open({str(tmp_path / 'sprung')!r}, 'a')\n")
        (folder / "perfd.toml").write_text("[[engines]]\nname = 'evil'\n")
    (job.artifact / "perfd" / "bench").mkdir(parents=True)
    (job.artifact / "perfd" / "__init__.py").write_text(trap)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(job.artifact))
    monkeypatch.setenv("PYTHONSTARTUP", str(job.artifact / "conftest.py"))
    # The engine itself may import what lies beside it: its checkout is its own. It is started as Python's option -I says.
    command = ("{python}", "-I", *job.launch.command[1:]) if job.launch else ()
    results = measured(replace(job, launch=replace(job.launch, command=command) if job.launch else None))

    assert RunState.DONE is results.state, f"{results.reason}\n{results.log_tail}"
    assert not (tmp_path / "sprung").exists()


def test_a_suite_that_the_pull_request_changed_is_not_read(job: Job) -> None:
    suites = job.artifact / "suites"
    suites.mkdir()
    (suites / "night.toml").write_text('[[workloads]]\nname = "tiny"\nrequests = 1\n')

    results = measured(job)

    assert 5 == len(next(one.values for one in results.samples if one.name == "ttft_s"))
    assert job.workload.identity == results.run["workload_identity"]


def test_what_a_caged_engine_started_ends_with_its_run(job: Job) -> None:
    mark = f"perfd-test-{os.getpid()}-{time.monotonic_ns()}"
    leave = (
        "import os, subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', {mark!r}], start_new_session=True)\n"
    )
    results = measured(with_first_line(job, leave))

    assert RunState.DONE is results.state, results.reason
    assert [] == [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark in text_of(path)]


def text_of(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def test_a_caged_engine_that_dies_or_floods_is_a_finding_with_its_log(job: Job) -> None:
    flood = with_first_line(job, "import os\nwhile True:\n    os.write(1, b'x' * 65535 + b'\\n')\n")
    results = measured(flood)

    assert (RunState.FAILED, FailureKind.DIED) == (results.state, results.failure)
    assert "it took more than 67,108,864 bytes of output" in results.log_tail
    assert "exited with code 98" in results.reason
    assert (job.work / "engine.log").stat().st_size < 68 << 20


def test_the_harness_outlives_an_engine_that_attacks_it(job: Job) -> None:
    """By signals to whatever number, by the end of every process it sees, and by nonsense to the harness's own ports."""
    attack = (
        "import os, signal, threading\n"
        "for pid in [-1, 1, *range(3, 4000), os.getppid()]:\n"
        "    try:\n        os.kill(pid, signal.SIGKILL)\n    except OSError:\n        pass\n"
    )
    results = measured(with_first_line(job, attack))

    assert RunState.DONE is results.state, f"{results.reason}\n{results.log_tail}"


def test_weights_are_shown_read_only_and_nothing_beside_them(job: Job, tmp_path: Path) -> None:
    folder = tmp_path / "state" / "weights"
    folder.mkdir(parents=True)
    for name in ("mine.gguf", "others.gguf"):
        (folder / name).write_text(name)
    look = (
        "import os, sys\n"
        f"print('seen:', open({str(folder / 'mine.gguf')!r}).read(), os.listdir({str(folder)!r}), flush=True)\n"
        f"print('seen:', os.access({str(folder / 'mine.gguf')!r}, os.W_OK), flush=True)\nsys.exit(3)\n"
    )
    seen = told(measured(replace(with_first_line(job, look), weights=folder / "mine.gguf")))

    assert ["mine.gguf ['mine.gguf']", "False"] == seen


def test_an_engine_that_is_a_link_to_a_secret_does_not_show_it(job: Job, tmp_path: Path) -> None:
    """Python tells the line that it cannot parse, and the log's end is told on the pull request."""
    (tmp_path / "secret").write_text("hush hush\n")
    (job.artifact / "engine.py").unlink()
    (job.artifact / "engine.py").symlink_to(tmp_path / "secret")
    results = measured(job)

    assert FailureKind.DIED is results.failure
    assert "No such file or directory" in results.log_tail
    assert "hush" not in results.log_tail


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's cage reads what the user may read")
def test_a_build_that_is_closed_to_others_is_no_finding_about_it(job: Job) -> None:
    job.artifact.chmod(0o700)
    results = measured(job)

    assert FailureKind.HARNESS is results.failure
    assert "start perfd with a umask of 022" in results.reason


def test_no_engine_is_caged_where_the_harness_has_entered_no_network() -> None:
    with pytest.raises(BadInputError, match="before its harness entered a network"):
        network.entered()


ROOT = Path(__file__).parents[2]


def kernel_job(job: Job, kind: str, op: str) -> Job:
    """A kernel's Run is the whole measuring child, since the kernel runs in it; the op's files are the pull request's."""
    names = kernel_workloads(op, ROOT / "suites" / "kernels" / "shapes.py", gpu="gpu:none")
    workload = next(one for one in names if one.parameters["kind"] == kind)
    for file in (ROOT / "kernels").glob("*.py"):
        (job.artifact / file.name).write_bytes(file.read_bytes())
    return replace(job, workload=workload, launch=None)


def test_a_kernel_is_checked_in_a_cage(job: Job) -> None:
    results = measured(kernel_job(job, "values", "add_rms_norm"))

    assert RunState.DONE is results.state, f"{results.reason}\n{results.log_tail}"
    assert results.samples


def test_a_kernel_that_plants_links_shows_nothing_of_this_host(job: Job, tmp_path: Path) -> None:
    """Where its log and its results are looked for."""
    secret = tmp_path / "secret"
    secret.write_text("hush")
    hostile = kernel_job(job, "values", "add_rms_norm")
    (hostile.artifact / "add_rms_norm.py").write_text(
        f"import os\nos.chdir({str(hostile.work)!r})\n"
        "for name in ('child.log', 'engine.log', 'results.json'):\n"
        f"    if os.path.lexists(name):\n        os.remove(name)\n    os.symlink({str(secret)!r}, name)\n"
        "os._exit(0)\n"
    )
    results = measured(hostile)

    assert (RunState.FAILED, FailureKind.NONSENSE) == (results.state, results.failure), results.reason + results.log_tail
    assert "the results file is no ordinary file" == results.reason
    assert "hush" not in json.dumps([results.reason, results.log_tail])


def test_a_run_that_hangs_in_its_cage_is_ended_with_it(job: Job) -> None:
    line = (
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if os.fork() == 0:\n    os.setsid()\ntime.sleep(600)\n"
    )
    slow = with_first_line(job, line)
    start_s = time.monotonic()
    results = run_child(slow, slow.work / "results.json", 1.5)

    assert FailureKind.TIMEOUT is results.failure
    assert time.monotonic() - start_s < 20
    assert [] == [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(slow.artifact / "engine.py") in text_of(path)]
