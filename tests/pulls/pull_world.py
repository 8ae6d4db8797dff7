"""A real git repository of a real (tiny) engine with a pull request, and a perfd that measures it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
TOKEN_S = 0.02
"""Long beside what a scheduler takes, so that a busy machine does not hide 5 %."""
SUITES = {
    "speed": """
question = "How long does a token take?"

[[workloads]]
name = "steady"
class = "chat"
question = "Short answers, one at a time."
seed = 1
time_limit_s = 60

[workloads.parameters]
requests = 2
send_lag_p99_s = 0.2
warmup_requests = 0
concurrency = 1
prompt_tokens = 16
output_tokens = 16
""",
    "texts": """
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
""",
}
WORDS = ("steady as she goes ", "all hands on deck ", "a fair wind and a following sea ", "land in sight ")
TEXTS = {"documents": [{"name": f"{place}", "text": words * 24} for place, words in enumerate(WORDS)]}
CONFIG = """
[kernels]
enabled = false

[[devices]]
name = "cpu"

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
suites = {suites}

[engines.launch]
command = ["{{python}}", "{{artifact}}/engine.py", "--host", "{{host}}", "--port", "{{port}}"]
dialect = "llamacpp"
ready_timeout_s = 20

[github]
site = "https://perf.example.org"

[[github.repositories]]
name = "octo/engine"
engine = "tiny"
authors = ["ada"]
most_minutes = {minutes}
gates = [{{ metric = "itl_s" }}]
areas = [{{ paths = ["/tools/"] }}]
"""


def engine_text(title: str, token_s: float = TOKEN_S, blur: float = 0.0) -> str:
    text = ENGINE.read_text(encoding="utf-8").replace("TOKEN_S = 0.002", f"TOKEN_S = {token_s}", 1)
    text = text.replace("FIRST_TOKEN_S = 0.004", "FIRST_TOKEN_S = 0.05", 1)
    return text.replace("blur: float = 0.0", f"blur: float = {blur}", 1) + f"\n# {title}\n"


@dataclass
class PullWorld:
    """A folder with perfd's configuration, and the engine's repository beside it."""

    folder: Path
    database_url: str

    @property
    def checkout(self) -> Path:
        return self.folder / "engine"

    def git(self, *words: str) -> str:
        who = {f"GIT_{role}_{part}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
        command = ["git", "-C", str(self.checkout), *words]
        return subprocess.run(command, env=os.environ | who, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, title: str, files: dict[str, str] | None = None) -> str:
        for name, text in (files or {}).items():
            (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
            (self.checkout / name).write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", title)
        return self.git("rev-parse", "HEAD")

    def pull(self, title: str, files: dict[str, str] | None = None, number: int = 7) -> str:
        """The head of a pull request, as GitHub keeps it: on a ref of its own; main is checked out again."""
        self.git("checkout", "--quiet", "--detach")
        head = self.commit(title, files)
        self.git("update-ref", f"refs/pull/{number}/head", head)
        self.git("checkout", "--quiet", "main")
        return head

    def event(self, head: str, base: str, number: int = 7) -> Path:
        """What GitHub Actions writes beside a workflow of the pull request."""
        repository = {"full_name": "octo/engine"}
        pull = {
            "number": number,
            "head": {"sha": head, "repo": repository},
            "base": {"sha": base, "ref": "main", "repo": repository},
        }
        path = self.folder / "event.json"
        path.write_text(json.dumps({"action": "opened", "pull_request": pull}), encoding="utf-8")
        return path

    def environment(self, **more: str) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "PERFD_"))}
        return clean | {"PERFD_DATABASE_URL": self.database_url, "PERFD_STATE": str(self.folder / "state")} | more

    def perfd(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "perfd", "--config", str(self.folder / "perfd.toml"), *words]
        env = self.environment(**environment)
        return subprocess.run(command, cwd=self.checkout, env=env, capture_output=True, text=True, check=False)

    def answered(self, *words: str, **environment: str) -> tuple[int, dict[str, Any]]:
        done = self.perfd(*words, "--json", **environment)
        assert done.returncode < 3, done.stderr
        return done.returncode, json.loads(done.stdout)


def pull_world(folder: Path, database_url: str, *suites: str, minutes: float = 30.0) -> PullWorld:
    made = PullWorld(folder, database_url)
    (folder / "suites" / "data").mkdir(parents=True)
    for name, text in SUITES.items():
        (folder / "suites" / f"{name}.toml").write_text(text, encoding="utf-8")
    (folder / "suites" / "data" / "texts.json").write_text(json.dumps(TEXTS), encoding="utf-8")
    weights = folder / "weights"
    weights.write_bytes(b"the tiny engine needs none")
    digest = sha256(weights.read_bytes()).hexdigest()
    config = CONFIG.format(
        repository=folder / "engine",
        weights=weights,
        sha256=digest,
        suites=json.dumps(suites or ("speed", "texts")),
        minutes=minutes,
    )
    (folder / "perfd.toml").write_text(config, encoding="utf-8")
    (folder / "engine").mkdir()
    made.git("init", "--quiet", "--initial-branch", "main")
    return made
