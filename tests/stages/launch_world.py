"""Launches of a real repository through all stages, with a clock that is moved: only what is measured is chosen."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from store_world import LEASE, WORKER, done, reduced, samples

from perfd.config import Config, DeviceConfig, Schedule
from perfd.domain.environment import Device, Environment
from perfd.domain.launch import ModelLaunch
from perfd.domain.model import Model
from perfd.domain.occasion import Occasion
from perfd.domain.subject import Engine, Launch, Source, SourceKind
from perfd.rules.launch_report import launch_report
from perfd.stages.build import build
from perfd.stages.confirm import confirm
from perfd.stages.context import Context
from perfd.stages.device import device_class
from perfd.stages.judge import judge
from perfd.stages.launching import declare, open_due_checkpoints
from perfd.stages.plan import plan
from perfd.stages.report import report
from perfd.stages.watch import watch
from perfd.store import Store
from perfd.store.records import ClaimedRun

ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
DAY_0 = datetime(2026, 12, 1, 9, tzinfo=UTC)
SPEED = """
question = "How long does a token take?"
nightly = {nightly}

[[workloads]]
name = "{name}"
class = "{kind}"
question = "Short answers, one at a time."
seed = 1
time_limit_s = 60

[workloads.parameters]
requests = 4
send_lag_p99_s = 0.05
warmup_requests = 1
concurrency = 1
prompt_tokens = 16
output_tokens = 24
"""
TEXTS = """
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
DOCUMENTS = (3.0, 3.2, 2.8, 3.1, 2.9, 3.3, 3.05, 2.95)
SHAPES = """{"model_type": "llama", "vocab_size": 1024, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2,
"intermediate_size": 128}"""


class Heard:
    """Listens, and remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, stage: str, sentence: str) -> None:
        self.lines.append(f"{stage}: {sentence}")

    def steps(self, stage: str, done: int, total: int, sentence: str) -> None: ...


@dataclass
class Machine:
    """What a Run gives on it: seconds of a token by Revision and when, and how likely the texts are."""

    slower: float = 1.0
    """How many times as long everything takes on this machine today."""
    token_s: dict[str, float] = field(default_factory=dict)
    """By the Build's Revision."""
    nll: dict[str, float] = field(default_factory=dict)
    """How many times as unlikely the Revision finds the texts."""
    fails: set[str] = field(default_factory=set)
    """Workloads that end without numbers."""
    hardware: Mapping[str, str] = field(default_factory=lambda: {"cpu": "x", "cores": "2"})
    kernel: str = "6.1"


@dataclass
class Released:
    """A Model that is launched on an Engine."""

    context: Context
    repository: Path
    clock: list[datetime]
    machine: Machine = field(default_factory=Machine)
    heard: Heard = field(default_factory=Heard)
    day_0: datetime = DAY_0

    @property
    def store(self) -> Store:
        return self.context.store

    def commit(self, title: str, token_s: float = 0.01, nll: float = 1.0) -> str:
        """A commit of the engine whose tokens take so long."""
        text = ENGINE.read_text(encoding="utf-8")
        (self.repository / "engine.py").write_text(f"{text}\n# {title}\n", encoding="utf-8")
        git(self.repository, "add", "engine.py")
        git(self.repository, "commit", "--quiet", "--message", title)
        revision = git(self.repository, "rev-parse", "HEAD")
        self.machine.token_s[revision], self.machine.nll[revision] = token_s, nll
        return revision

    def launch(self, *days: int, suites: tuple[str, ...] = (), minutes: float = 120.0) -> ModelLaunch:
        """The Launch is declared, one day before its first day."""
        made = ModelLaunch("m3", "tiny", self.day_0, days or (0, 7, 14), suites, minutes)
        self.clock[0] = made.due_at(min(made.days)) - timedelta(days=1)
        declare(self.context, made)
        return made

    def at(self, day: float) -> None:
        """The clock stands so many days after day 0."""
        self.clock[0] = self.day_0 + timedelta(days=day)

    def fire(self) -> tuple[Occasion, ...]:
        """The clock looks what is due."""
        return open_due_checkpoints(self.context)

    def day(self, day: float) -> tuple[Occasion, ...]:
        """The clock fires, and all that is due is worked off."""
        self.at(day)
        opened = self.fire()
        self.work_off()
        return opened

    def work_off(self, most: int = 2000) -> None:
        stages: tuple[Callable[[Context], bool], ...] = (watch, plan, build, self.measure, judge, confirm, report)
        for _ in range(most):
            if not any(stage(self.context) for stage in stages):
                return
        raise AssertionError("the stages never come to an end")

    def measure(self, context: Context) -> bool:
        """One queued Run is measured."""
        claimed = self.store.runs.claim(device_class(context.config), WORKER, self.clock[0], LEASE)
        if claimed is not None:
            self._end(claimed)
        return claimed is not None

    def _end(self, claimed: ClaimedRun) -> None:
        machine, now = self.machine, self.clock[0]
        if claimed.workload.name in machine.fails:
            self.store.runs.put_back(claimed, "told to fail", now, now)
            return
        environment = Environment(
            Device("bench-1", "cpu", claimed.device_class), machine.hardware, "performance", {"kernel": machine.kernel}
        )
        results = done(now, *self._samples(claimed), environment=environment)
        self.store.runs.finish(claimed, results, reduced(results), now + timedelta(seconds=9))

    def _samples(self, claimed: ClaimedRun) -> list[object]:
        revision = claimed.spec.revision
        if claimed.workload.name == "texts":
            worse = self.machine.nll[revision]
            return [samples(*(value * worse for value in DOCUMENTS), name="nll_nats")]
        jitter = 1.0 + 0.0005 * (int(claimed.key[:8], 16) % 5 - 2)
        token_s = self.machine.token_s[revision] * self.machine.slower * jitter
        gaps = [token_s * (1.0 + 0.001 * (place % 5 - 2)) for place in range(40)]
        speed = [samples(*gaps, name="itl_s"), samples(1.0 / token_s, name="output_tokens_per_s")]
        return [*speed, samples(0.003 / token_s, name="mbu")] if claimed.workload.name == "chat" else speed

    def report(self) -> dict[str, object]:
        row = self.store.launches.find("m3", "tiny")[0]
        return launch_report(self.store.launches.facts(row), self.clock[0])


def git(folder: Path, *words: str) -> str:
    who = {f"GIT_{role}_{part}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    done = subprocess.run(["git", "-C", str(folder), *words], env=os.environ | who, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def released(store: Store, folder: Path, launches: Sequence[ModelLaunch] = (), *, dialect: str = "llamacpp") -> Released:
    """A repository, suites of which one is nightly, a Model with weights and announced shapes, and a clock that stands."""
    repository, suites = folder / "engine", folder / "suites"
    repository.mkdir()
    git(repository, "init", "--quiet", "--initial-branch", "main")
    (suites / "data").mkdir(parents=True)
    words = (
        "steady as she goes",
        "all hands on deck",
        "wind from the west",
        "land in sight now",
        "the tide is high",
        "drop the anchor here",
    )
    documents = [{"name": one, "text": f"{one} " * 20} for one in words]
    (suites / "data" / "texts.json").write_text(json.dumps({"documents": documents}), encoding="utf-8")
    (suites / "speed.toml").write_text(SPEED.format(nightly="true", name="chat", kind="chat"), encoding="utf-8")
    (suites / "long.toml").write_text(SPEED.format(nightly="false", name="agent", kind="agentic"), encoding="utf-8")
    (suites / "accuracy.toml").write_text(TEXTS, encoding="utf-8")
    (folder / "shapes.json").write_text(SHAPES, encoding="utf-8")
    (folder / "weights").write_bytes(b"weights")
    model = Model(
        "m3", "", "", str(folder / "weights"), sha256(b"weights").hexdigest(), "Q8_0", "ours", shape=str(folder / "shapes.json")
    )
    command = ("{python}", "{artifact}/engine.py", "--host", "{host}", "--port", "{port}")
    engine = Engine("tiny", Source(SourceKind.GIT, str(repository)), "script", Launch(command, dialect), ("speed",), ("m3",))
    config = Config(
        path=None,
        state=folder / "state",
        engines=(engine,),
        models=(model,),
        devices=(DeviceConfig("cpu"),),
        schedule=Schedule(aa=False),
        kernels=False,
        suites_folder=suites,
        launches=tuple(launches),
    )
    clock, heard = [DAY_0 - timedelta(days=30)], Heard()
    return Released(Context(config, store, heard, WORKER, now=lambda: clock[0]), repository, clock, heard=heard)
