"""A night that takes seconds: the tiny engine out of a folder, two short Workloads, no kernels."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
SUITE = """
question = "How long does a token take?"

[[workloads]]
name = "chat"
class = "chat"
question = "Short answers, one at a time."
seed = 1
time_limit_s = 60

[workloads.parameters]
requests = 4
concurrency = 1
prompt_tokens = 16
output_tokens = 8
send_lag_p99_s = 5.0
"""
CONFIG = """
schedule = {{ aa = false, confirm_minutes = 0 }}
kernels = {{ enabled = false }}
suites = {{ folder = "suites" }}
devices = [{{ name = "cpu" }}]

[[models]]
name = "none"
file = "weights"
sha256 = "{sha256}"
quantisation = "none"
licence = "none"

[[engines]]
name = "tiny"
recipe = "script"
models = ["none"]
suites = ["speed"]
source = {{ kind = "folder", location = "engine" }}

[engines.launch]
command = {command}
dialect = "llamacpp"
ready_timeout_s = 30
"""
LISTENS_TO_CTRL_C = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("perfd", run_name="__main__")
"""
SERVES = ["{python}", "{artifact}/engine.py", "--host", "{host}", "--port", "{port}"]
NEVER_READY = ["{python}", "-c", "import time; time.sleep(60)", "{port}"]


@dataclass
class SmallNight:
    """A checkout of somebody's engine with its perfd.toml, and perfd as a command in it."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def write(self, command: list[str] = SERVES) -> None:
        for name in ("engine", "suites"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "engine" / "engine.py").write_text(ENGINE.read_text(encoding="utf-8"), encoding="utf-8")
        (self.folder / "suites" / "speed.toml").write_text(SUITE, encoding="utf-8")
        (self.folder / "weights").write_bytes(b"none")
        quoted = str(command).replace("'", '"')
        text = CONFIG.format(sha256=sha256(b"none").hexdigest(), command=quoted)
        (self.folder / "perfd.toml").write_text(text, encoding="utf-8")

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def whole_environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(CHECKOUT), "PERFD_STATE": str(self.state), **self.environment}

    def start(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            # A shell's background job ignores SIGINT, and so would what it starts; a person's terminal does not.
            [sys.executable, "-c", LISTENS_TO_CTRL_C, *words],
            cwd=self.folder,
            env=self.whole_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        started = self.start(*words)
        out, err = started.communicate(timeout=120)
        return subprocess.CompletedProcess(words, started.returncode, out, err)
