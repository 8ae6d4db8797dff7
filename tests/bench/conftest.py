"""Jobs on the tiny engine, and ways to see what is left of it."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from nvml_stand_in import StandIn, one_gpu

from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.subject import Launch
from perfd.domain.suite import Workload, WorkloadClass

ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
LOAD: Mapping[str, Any] = {
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

JobMaker = Callable[..., Job]


@pytest.fixture
def make_job(tmp_path: Path) -> JobMaker:
    def make(
        kind: WorkloadClass = WorkloadClass.CHAT,
        parameters: Mapping[str, Any] = LOAD,
        launch: Launch | None = None,
        data: Path | None = None,
        **knobs: object,
    ) -> Job:
        variables = {f"TINY_{name.upper()}": str(value) for name, value in knobs.items()}
        command = (sys.executable, str(ENGINE), "--host", "{host}", "--port", "{port}")
        return Job(
            subject="tiny",
            revision="1",
            build="b" * 64,
            artifact=tmp_path,
            workload=Workload("tests", "tiny", kind, parameters, seed=1, data_hash="", time_limit_s=30.0),
            device=Device("here", "cpu", "cpu:test:t1"),
            occasion="night:2026-01-01T02:00:00Z",
            run="r" * 64,
            work=tmp_path / "work",
            threads=1,
            launch=launch or Launch(command, "llamacpp", ready_timeout_s=10.0, environment=variables),
            data=data,
        )

    return make


@pytest.fixture
def one_gpu_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A machine with one healthy GPU, as far as NVML tells."""
    with one_gpu(monkeypatch) as there:
        yield there


def commands() -> dict[int, str]:
    """The command line of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (ValueError, OSError):
            continue
    return found


@pytest.fixture
def left_behind(tmp_path: Path) -> Callable[[], list[str]]:
    """Command lines of processes that work for this test's job: the child names its job file, the engine runs in its folder."""

    def look() -> list[str]:
        found = []
        for pid, command in commands().items():
            try:
                folder = str(Path(f"/proc/{pid}/cwd").readlink())
            except OSError:
                continue
            if pid != os.getpid() and folder.startswith(str(tmp_path)):
                found.append(command)
        return found

    return look
