"""A bisection of a real repository of a real (tiny) engine: killed in the middle, it goes on, and finds the planted commit.

Planted are other numerics, which a busy machine does not hide: what is tested is that the pieces work together. How small a step
may be beside the noise is in docs/bisecting.md.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from perfd.domain.bisect import StepOutcome
from perfd.store import Store, make_engine

ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
SUITE = """
question = "Are the answers as likely as before?"

[[workloads]]
name = "texts"
class = "accuracy"
question = "How likely does the engine find texts that never change?"
time_limit_s = 60

[workloads.parameters]
kind = "likelihood"
documents = "texts.json"
top_k = 256
"""
TEXTS = {"documents": [{"name": "a", "text": "steady as she goes " * 36}, {"name": "b", "text": "all hands on deck " * 36}]}
CONFIG = """
[kernels]
enabled = false

[[models]]
name = "none"
file = "{weights}"
sha256 = "{sha256}"
quantisation = "none"
licence = "none"

[[engines]]
name = "tiny"
source = {{ kind = "git", location = "{repository}" }}
recipe = "script"
models = ["none"]
suites = ["accuracy"]

[engines.launch]
command = ["{{python}}", "{{artifact}}/engine.py", "--host", "{{host}}", "--port", "{{port}}"]
dialect = "llamacpp"
ready_timeout_s = 20
"""


@dataclass
class Home:
    """A folder with perfd's configuration and an engine's repository."""

    folder: Path
    database_url: str
    commits: list[str] = field(default_factory=list)

    def git(self, *words: str) -> str:
        who = {f"GIT_{role}_{part}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
        command = ["git", "-C", str(self.folder / "engine"), *words]
        return subprocess.run(command, env=os.environ | who, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, title: str, text: str) -> None:
        (self.folder / "engine" / "engine.py").write_text(text, encoding="utf-8")
        self.git("add", "engine.py")
        self.git("commit", "--quiet", "--message", title)
        self.commits.append(self.git("rev-parse", "HEAD"))

    def perfd(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "perfd", *words]

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"PERFD_DATABASE_URL": self.database_url, "PERFD_STATE": str(self.folder / "state")}

    def asked(self, *words: str) -> tuple[int, dict[str, Any]]:
        """The exit code and the JSON answer of a command."""
        command = self.perfd(*words, "--json")
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode < 3, done.stderr
        return done.returncode, json.loads(done.stdout)


def engine(title: str, blur: float = 0.0) -> str:
    """The engine's text; with a blur its numerics are others."""
    text = ENGINE.read_text(encoding="utf-8").replace("blur: float = 0.0", f"blur: float = {blur}", 1)
    return f"{text}\n# {title}\n"


@pytest.fixture
def home(tmp_path: Path, database_url: str) -> Home:
    made = Home(tmp_path, database_url)
    (tmp_path / "suites" / "data").mkdir(parents=True)
    (tmp_path / "suites" / "accuracy.toml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "suites" / "data" / "texts.json").write_text(json.dumps(TEXTS), encoding="utf-8")
    (tmp_path / "engine").mkdir()
    made.git("init", "--quiet", "--initial-branch", "main")
    weights = tmp_path / "weights"
    weights.write_bytes(b"the tiny engine needs none")
    digest = sha256(weights.read_bytes()).hexdigest()
    config = CONFIG.format(repository=tmp_path / "engine", weights=weights, sha256=digest)
    (tmp_path / "perfd.toml").write_text(config, encoding="utf-8")
    return made


def wait_until(fact: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while not fact():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_killed_bisection_goes_on_past_a_commit_that_cannot_run_and_finds_the_planted_one(home: Home) -> None:
    home.commit("Begin", engine("begin"))
    home.commit("Break the start", "raise SystemExit('no such device')\n")
    home.commit("Mend the start", engine("mended"))
    home.commit("Sum in another order", engine("other", 3.0))
    store = Store(make_engine(home.database_url))
    begun = home.perfd("bisect", home.commits[0], home.commits[-1], "--budget-minutes", "9")
    with subprocess.Popen(begun, cwd=home.folder, env=home.environment, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: [len(row.steps) for row in store.bisects.unended()] == [5], process)
        process.send_signal(signal.SIGKILL)
    (killed,) = store.bisects.unended()

    code, answered = home.asked("bisect")

    (found,) = answered["bisections"]
    assert (1, "commit", home.commits[3]) == (code, found["outcome"], found["bad"])
    assert home.commits[2] == found["good"]
    assert "Sum in another order did it" in found["sentence"]
    assert {"workload": "texts", "model": "none", "metric": "nll_nats"}.items() <= found["target"].items()
    row = store.bisects.read(found["bisect"])
    assert row is not None
    assert killed.steps[:4] == row.steps[:4]
    assert [*range(1, len(row.steps) + 1)] == [step.number for step in row.steps]
    assert [1] == [step.broken for step in row.steps if step.outcome is StepOutcome.BROKEN]
    assert (4, 4) == (found["spent"]["builds"], len([step for step in row.steps if step.outcome is StepOutcome.BUILT]))
    home.git("apply", "--index", found["patch"])
    assert engine("mended") == (home.folder / "engine" / "engine.py").read_text(encoding="utf-8")
    assert () == store.bisects.unended()
    store.engine.dispose()
