"""A machine with one GPU and a night that takes seconds on it: real stages, child and nvidia-ml-py; the driver is a stand-in."""

import hashlib
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from nvml_stand_in import StandIn

from perfd.cli.tell import Silent
from perfd.config import Config, DeviceConfig, Schedule
from perfd.domain.device import DeviceRow
from perfd.domain.model import Model
from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind
from perfd.domain.subject import Engine, Launch, Source, SourceKind
from perfd.stages.context import Context, utc_now, worker_name
from perfd.stages.night import STAGES, run_to_report
from perfd.store import Store
from perfd.store.records import OccasionSummary, RunRow

ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
SUITE = """
question = "How long does a token take?"

[[workloads]]
name = "chat"
class = "chat"
question = "Short answers, one at a time."
time_limit_s = 60

[workloads.parameters]
requests = 4
concurrency = 1
prompt_tokens = 16
output_tokens = 8
send_lag_p99_s = 5.0
"""


class Listening(Silent):
    """Remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def say(self, stage: str, sentence: str) -> None:
        self.said.append(f"{stage}: {sentence}")


@dataclass
class GpuWorld:
    """perfd on that machine."""

    context: Context
    gpu: StandIn
    tell: Listening
    nights: int = field(default=0)

    @property
    def store(self) -> Store:
        return self.context.store

    def open(self) -> Occasion:
        """A night is due."""
        occasion = Occasion(OccasionKind.NIGHT, utc_now().replace(microsecond=0) + timedelta(seconds=self.nights))
        self.nights += 1
        self.store.occasions.open(occasion, self.context.now())
        return occasion

    def built(self) -> Occasion:
        """A night stands there with everything built, and nothing measured yet."""
        occasion = self.open()
        for stage in ("watch", "plan", "build"):
            while STAGES[stage](self.context):
                pass
        return occasion

    def finish(self, occasion: Occasion) -> OccasionSummary:
        """The night is reported."""
        run_to_report(self.context, occasion)
        return self.store.pages.occasion(occasion)

    def run(self, occasion: Occasion) -> RunRow:
        (found,) = self.store.pages.occasion(occasion).runs
        return found

    @property
    def device(self) -> DeviceRow:
        (found,) = self.store.devices.rows()
        return found


def gpu_world(store: Store, folder: Path, gpu: StandIn, **limits: float) -> GpuWorld:
    """Nothing has happened yet; `limits` are settings of the device."""
    tell = Listening()
    config = tiny_config(folder, DeviceConfig("0", **limits))  # type: ignore[arg-type]
    return GpuWorld(Context(config, store, tell, worker_name()), gpu, tell)


def tiny_config(folder: Path, device: DeviceConfig) -> Config:
    """The tiny engine out of a folder, with one short Workload, on that device."""
    (folder / "engine").mkdir()
    (folder / "engine" / "engine.py").write_text(ENGINE.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "suites").mkdir()
    (folder / "suites" / "speed.toml").write_text(SUITE, encoding="utf-8")
    (folder / "weights").write_bytes(b"none")
    command = (sys.executable, "{artifact}/engine.py", "--host", "{host}", "--port", "{port}")
    engine = Engine(
        name="tiny",
        source=Source(SourceKind.FOLDER, str(folder / "engine")),
        recipe="script",
        launch=Launch(command, "llamacpp", ready_timeout_s=30.0),
        suites=("speed",),
        models=("none",),
    )
    model = Model("none", "", "", str(folder / "weights"), hashlib.sha256(b"none").hexdigest(), "none", "none")
    return Config(
        path=None,
        state=folder / "state",
        engines=(engine,),
        models=(model,),
        devices=(device,),
        schedule=Schedule(aa=False, confirm_minutes=0.0),
        kernels=False,
        suites_folder=folder / "suites",
    )
