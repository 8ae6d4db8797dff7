"""A small world to store: an engine with commits, one Workload, one machine; every word is real, the numbers are chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from perfd.domain.build import BuildOutcome, BuildSpec
from perfd.domain.environment import Device, DeviceState, Environment
from perfd.domain.metric import METRICS, Better
from perfd.domain.model import Model
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import Plan, PlannedBuild, PlannedRun
from perfd.domain.results import MetricSamples, Results
from perfd.domain.run import Arm, OccasionKind, RunState
from perfd.domain.subject import Revision, SubjectKind
from perfd.domain.suite import Workload, WorkloadClass
from perfd.rules.judge import reduce_samples
from perfd.store import Store
from perfd.store.records import ClaimedBuild, ClaimedRun, Reduced

FIRST_NIGHT = datetime(2026, 11, 20, 2, tzinfo=UTC)
LEASE = timedelta(minutes=2)
WORKER = "bench-1:100:4711"
CPU = "cpu:x:t1"
MODEL = Model("smol", "llm-smol", "0.1.2", "smol.gguf", "ab" * 32, "Q4_1", "Apache-2.0")
CHAT = Workload("quick", "chat", WorkloadClass.CHAT, {"requests": 8, "deep": {"list": [1, 2.5]}}, 7, "", question="Is chat fast?")
ENVIRONMENT = Environment(Device("bench-1", "cpu", CPU), {"cpu": "x", "cores": "2"}, "performance", {"kernel": "6.1"})


def night(number: int = 0) -> Occasion:
    return Occasion(OccasionKind.NIGHT, FIRST_NIGHT + timedelta(days=number))


def commit(number: int) -> Revision:
    parent = f"{number - 1:040x}" if number else None
    return Revision(f"{number:040x}", number, FIRST_NIGHT - timedelta(days=30 - number), f"Commit {number}", parent)


def spec(number: int = 0, subject: str = "llama") -> BuildSpec:
    return BuildSpec(subject, commit(number).name, "released", "ef" * 32, {"cc": "12.2"}, {"numpy": "2.3"})


def planned_run(number: int = 0, workload: Workload = CHAT, device_class: str = CPU) -> PlannedRun:
    return PlannedRun(spec(number), workload, device_class, MODEL)


def plan(*numbers: int, branch: str = "main", runs: Sequence[PlannedRun] | None = None) -> Plan:
    builds = tuple(PlannedBuild(spec(number), SubjectKind.ENGINE, commit(number), branch) for number in numbers)
    return Plan(builds, tuple(runs) if runs is not None else tuple(planned_run(number) for number in numbers))


def comparison(blocks: int) -> Plan:
    """Builds 0 and 1 in ABBA blocks."""
    arms = [(Arm.BASE, 0), (Arm.HEAD, 1), (Arm.HEAD, 1), (Arm.BASE, 0)]
    runs = [replace(planned_run(arms[block % 4][1]), arm=arms[block % 4][0], block=block) for block in range(blocks)]
    return plan(0, 1, runs=runs)


def samples(*values: float, name: str = "ttft_s") -> MetricSamples:
    metric = METRICS.get(name)
    return MetricSamples(name, metric.unit if metric else "s", metric.better if metric else Better.LOWER, values)


def done(at: datetime, *measured: MetricSamples, environment: Environment = ENVIRONMENT, **rest: Any) -> Results:
    states = (DeviceState(at, {"temperature_c": 51}), DeviceState(at + timedelta(seconds=5), {"temperature_c": 53}))
    return Results(RunState.DONE, measured, at, at + timedelta(seconds=9), environment, states, **rest)


def reduced(results: Results) -> dict[str, Reduced]:
    return {one.name: reduce_samples(one.values, METRICS[one.name]) for one in results.samples if one.name in METRICS}


@dataclass
class World:
    """A store, and a time that passes when it is told to."""

    store: Store
    now: datetime = FIRST_NIGHT
    nights: int = field(default=0)

    def open(self, occasion: Occasion, work: Plan, gone: frozenset[str] = frozenset()) -> Occasion:
        """The occasion is planned."""
        self.store.occasions.open(occasion, self.now, OccasionState.WATCHED)
        assert self.store.plans.write(occasion, work, gone, self.now)
        return occasion

    def build(self) -> ClaimedBuild:
        """The next queued Build is built."""
        claimed = self.store.builds.claim(WORKER, self.now, LEASE)
        assert claimed is not None
        assert self.store.builds.finish(claimed, built(claimed.spec), self.now)
        return claimed

    def claim(self, device_class: str = CPU, worker: str = WORKER) -> ClaimedRun:
        claimed = self.store.runs.claim(device_class, worker, self.now, LEASE)
        assert claimed is not None
        return claimed

    def measured_night(self, *values: float, number: int | None = None, environment: Environment = ENVIRONMENT) -> Occasion:
        """A night of one Build (a new one each night, unless told), built, measured and left unjudged."""
        self.now = FIRST_NIGHT + timedelta(days=self.nights)
        occasion = self.open(night(self.nights), plan(self.nights if number is None else number))
        claimed_build = self.store.builds.claim(WORKER, self.now, LEASE)
        if claimed_build is not None:
            self.store.builds.finish(claimed_build, built(claimed_build.spec), self.now)
        results = done(self.now, samples(*values), environment=environment)
        self.store.runs.finish(self.claim(), results, reduced(results), self.now)
        self.nights += 1
        return occasion


def built(of: BuildSpec, seconds: float = 12.5) -> BuildOutcome:
    return BuildOutcome(of, Path(f"/state/builds/{of.digest[:8]}"), Path("/state/logs/build.log"), "all fine", seconds)


def broken(of: BuildSpec) -> BuildOutcome:
    return BuildOutcome(of, None, Path("/state/logs/build.log"), "cc: error: no such file\x00", 3.0)
