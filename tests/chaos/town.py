"""A small town where nights happen: the tiny engine with a new commit every night, its suite, and a calendar."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
LEASE_S = 3.0
WORKLOADS = ("short", "middle", "long")
REQUESTS, WARMUPS = 6, 1
FIRST_DAY = datetime(2026, 1, 1, 2, 0, tzinfo=UTC)
SUITE = """
[[workloads]]
name = "{name}"
class = "chat"
question = "How long does a token take?"
seed = 1
time_limit_s = 30

[workloads.parameters]
requests = {requests}
warmup_requests = {warmups}
concurrency = 1
prompt_tokens = 16
output_tokens = {tokens}
send_lag_p99_s = 30.0
"""
CONFIG = """
schedule = {{ nightly = "02:00", timezone = "UTC", aa = {aa}, confirm_minutes = 0.5, lease_s = {lease_s} }}
kernels = {{ enabled = false }}
suites = {{ folder = "suites" }}
devices = [{{ name = "cpu" }}]

[[models]]
name = "dust"
file = "weights"
sha256 = "{sha256}"
quantisation = "none"
licence = "none"

[[engines]]
name = "tiny"
recipe = "script"
models = ["dust"]
suites = ["speed"]
source = {{ kind = "folder", location = "engine" }}

[engines.launch]
command = ["{{python}}", "{{artifact}}/engine.py", "--host", "{{host}}", "--port", "{{port}}"]
dialect = "llamacpp"
ready_timeout_s = 30
"""


@dataclass(frozen=True)
class Town:
    """The folder in which all of it lies."""

    folder: Path

    def build(self, *, aa: bool) -> None:
        """Everything stands there but the first commit."""
        for name in ("engine", "suites", "state", "locks"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "weights").write_bytes(b"dust")
        parts = [
            SUITE.format(name=name, requests=REQUESTS, warmups=WARMUPS, tokens=40 * place)
            for place, name in enumerate(WORKLOADS, 1)
        ]
        (self.folder / "suites" / "speed.toml").write_text('question = "Is it quick?"\n' + "".join(parts), encoding="utf-8")
        text = CONFIG.format(aa=str(aa).lower(), lease_s=LEASE_S, sha256=sha256(b"dust").hexdigest())
        self.config.write_text(text, encoding="utf-8")
        self.show(FIRST_DAY - timedelta(hours=1))

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.folder / "perfd.toml"

    @property
    def calendar(self) -> Path:
        """The file that the clocks look at."""
        return self.folder / "calendar"

    @property
    def runs(self) -> Path:
        """Where Runs work, a folder each."""
        return self.folder / "state" / "runs"

    def show(self, now: datetime) -> None:
        """The calendar shows that time, whole or not at all."""
        beside = self.calendar.with_suffix(".new")
        beside.write_text(now.isoformat(), encoding="utf-8")
        beside.replace(self.calendar)

    def begin(self, night: int) -> datetime:
        """The engine has a new commit, and the night (counted from 0) is due; its due time."""
        text = ENGINE.read_text(encoding="utf-8")
        (self.folder / "engine" / "engine.py").write_text(f"{text}\n# night {night}\n", encoding="utf-8")
        due = FIRST_DAY + timedelta(days=night)
        self.show(due + timedelta(seconds=1))
        return due
