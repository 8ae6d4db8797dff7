"""Arrivals of what a format tells: where it was measured, of which commit, and what came out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from perfd.domain.arrival import Arrival, Identity, Told
from perfd.domain.codec import to_json
from perfd.domain.environment import Device, Environment
from perfd.domain.identity import Json, digest
from perfd.domain.results import LOG_TAIL_CHARACTERS, MOST_METRICS, MOST_NAME_CHARACTERS, MetricSamples, Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.subject import brief
from perfd.domain.suite import WorkloadClass
from perfd.errors import BadInputError
from perfd.importers.given import Given
from perfd.importers.units import Quantity

ELSEWHERE = "elsewhere"
MOST_RUNS = 200_000


@dataclass(frozen=True)
class Machine:
    """Where it was measured, as far as the format knows."""

    host: str = ""
    device: str = ""
    device_class: str = ""
    hardware: Mapping[str, str] = field(default_factory=dict)
    software: Mapping[str, str] = field(default_factory=dict)

    def environment(self, given: Given) -> Environment:
        """The Environment; what is not known is called elsewhere."""
        name = self.device or "cpu"
        device = Device(self.host or ELSEWHERE, name, given.device_class or self.device_class or ELSEWHERE)
        known = {key: value for key, value in self.hardware.items() if value}
        return Environment(device, known, "unknown", {key: value for key, value in self.software.items() if value})


@dataclass(frozen=True)
class Measured:
    """One Metric of one benchmark: raw values where the format kept them, or a value with what it says of it."""

    quantity: Quantity
    values: tuple[float, ...]
    """In the tool's own unit."""
    interval: tuple[float, float] | None = None
    n: int = 0
    """Of how many measurements a single value was made; 0: the values are raw."""

    def samples(self) -> MetricSamples:
        """The values in base units."""
        one = self.quantity
        return MetricSamples(one.metric, one.unit, one.better, tuple(value * one.factor for value in self.values))

    def told(self) -> Told | None:
        """The Point as the tool gave it; absent where the values are raw."""
        if self.interval is None and not self.n:
            return None
        factor = self.quantity.factor
        low, high = self.interval or (0.0, 0.0)
        ends = None if self.interval is None else (min(low, high) * factor, max(low, high) * factor)
        return Told(self.values[0] * factor, ends, max(1, self.n))


@dataclass(frozen=True)
class Commit:
    """What was measured, and when."""

    revision: str
    started_at: datetime | None
    """Absent where the format does not say."""
    committed_at: datetime | None = None
    title: str = ""
    branch: str = ""


@dataclass(frozen=True)
class Maker:
    """Makes the Arrivals of one file."""

    tool: str
    given: Given
    subject: str
    machine: Machine
    source_key: str

    def arrival(  # each word stands in a results file, and none has a default that would be true everywhere
        self,
        commit: Commit,
        name: str,
        measured: Iterable[Measured],
        *,
        suite: str = "",
        parameters: Mapping[str, Json] | None = None,
        workload_class: WorkloadClass = WorkloadClass.BATCH,
        model: str = "",
        failure: str = "",
        seconds: float = 0.0,
        extra: Mapping[str, Any] | None = None,
    ) -> Arrival:
        """One benchmark at one commit; raises BadInputError for a name that is too long."""
        given, started = self.given, commit.started_at or self.given.at
        for text in (name, suite, self.subject, model):
            if len(text) > MOST_NAME_CHARACTERS + 100:
                raise BadInputError(f"{text[:40]!r}…: a name of {len(text):,} characters, and at most 300 are stored")
        identity = Identity(
            subject=self.subject,
            revision=given.revised(commit.revision),
            workload=given.workload or name,
            suite=suite or self.tool,
            workload_class=workload_class,
            parameters=dict(parameters or {}),
            subject_kind=given.kind,
            branch=given.branch or commit.branch or "main",
            committed_at=commit.committed_at,
            title=commit.title.strip().split("\n", 1)[0][:300],
            model=given.model or model,
            quantisation=given.quantisation,
            parallelism=given.parallelism,
        )
        came = merged(measured)
        environment = self.machine.environment(given)
        results = Results(
            state=RunState.FAILED if failure else RunState.DONE,
            samples=() if failure else tuple(one.samples() for one in came),
            started_at=started,
            finished_at=started,
            environment=environment,
            failure=FailureKind.NONSENSE if failure else None,
            reason=failure[:LOG_TAIL_CHARACTERS],
            harness_version=self.tool,
            run={"format": self.tool, "seconds": seconds} if seconds else {"format": self.tool},
            extra=dict(extra or {}),
        )
        told = {} if failure else {one.quantity.metric: point for one in came if (point := one.told()) is not None}
        return Arrival(identity, results, self._key(identity, commit, environment), told, commit.started_at is not None)

    def _key(self, identity: Identity, commit: Commit, environment: Environment) -> str:
        """Equal for one commit's Runs in one sitting: what is dated is known by its date, the rest by its file's content."""
        which = commit.started_at or self.source_key
        return digest([self.tool, identity.subject, identity.branch, identity.revision, to_json(which), environment.hash])[:32]


def merged(measured: Iterable[Measured]) -> tuple[Measured, ...]:
    """Each Metric once: what stands there again are more raw values of it."""
    found: dict[str, Measured] = {}
    for one in measured:
        name = one.quantity.metric
        before = found.get(name)
        found[name] = one if before is None else replace(before, values=before.values + one.values, interval=None, n=0)
    if len(found) > MOST_METRICS:
        raise BadInputError(f"a benchmark with {len(found):,} Metrics, and at most {MOST_METRICS} are read")
    return tuple(found.values())


def once(arrivals: Iterable[Arrival]) -> tuple[Arrival, ...]:
    """The Arrivals, or BadInputError where one benchmark of one commit stands there twice, or there are too many or none."""
    found = tuple(arrivals)
    if not found:
        raise BadInputError("there is no benchmark in it")
    if len(found) > MOST_RUNS:
        raise BadInputError(f"{len(found):,} Runs, and at most {MOST_RUNS:,} of one file are read; split it")
    seen: set[tuple[Any, ...]] = set()
    for one in found:
        key = (one.key, one.workload.identity, one.identity.model)
        if key in seen:
            raise BadInputError(f"the benchmark {one.identity.workload!r} of {brief(one.identity.revision)} stands there twice")
        seen.add(key)
    return found
