"""A bisection of a real repository of a real (tiny) engine: killed in the middle, it goes on, and finds the planted commit.

The slowdown is 40 %: what is tested is that the pieces work together. How small a step may be is in docs/bisecting.md.
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
from perfd.store.records import BisectRow

ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
TOKEN_S = 0.004
SLOWER = 1.4
SUITE = """
question = "How long does a token take?"

[[workloads]]
name = "chat"
class = "chat"
seed = 1
time_limit_s = 30

[workloads.parameters]
requests = 3
warmup_requests = 0
concurrency = 1
prompt_tokens = 8
output_tokens = 12
"""
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
suites = ["speed"]

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
        done = subprocess.run(self.perfd(*words, "--json"), cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode < 3, done.stderr
        return done.returncode, json.loads(done.stdout)


def engine(title: str, token_s: float = TOKEN_S) -> str:
    text = ENGINE.read_text(encoding="utf-8").replace("TOKEN_S = 0.002", f"TOKEN_S = {token_s}", 1)
    return f"{text}\n# {title}\n"


@pytest.fixture
def home(tmp_path: Path, database_url: str) -> Home:
    made = Home(tmp_path, database_url)
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "speed.toml").write_text(SUITE, encoding="utf-8")
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
    home.commit("Tidy", engine("tidy"))
    home.commit("Break the start", "raise SystemExit('no such device')\n")
    home.commit("Check every token twice", engine("slow", TOKEN_S * SLOWER))
    home.commit("Write docs", engine("slow, documented", TOKEN_S * SLOWER))
    store = Store(make_engine(home.database_url))

    def row() -> BisectRow:
        return next(iter(store.bisects.unended()))

    begun = home.perfd("bisect", home.commits[0], home.commits[-1], "--metric", "tpot_s")
    with subprocess.Popen(begun, cwd=home.folder, env=home.environment, start_new_session=True) as process:
        wait_until(lambda: bool(store.bisects.unended()) and len(row().steps) >= 4, process)
        process.send_signal(signal.SIGKILL)
    before = row()

    code, answered = home.asked("bisect")

    found = answered["bisections"][0]
    print(json.dumps(found, indent=1))
    store.engine.dispose()
