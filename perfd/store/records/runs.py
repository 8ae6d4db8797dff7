"""Runs and Builds as pages show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from perfd.domain.build import BuildSpec, BuildState
from perfd.domain.environment import DeviceState, Environment
from perfd.domain.results import MetricSamples
from perfd.domain.run import Arm, FailureKind, Point, RunState
from perfd.domain.subject import SubjectKind
from perfd.domain.suite import Workload, WorkloadClass


@dataclass(frozen=True)
class RunRow:
    """One line of a list of Runs."""

    id: int
    key: str
    occasion: str
    subject: str
    subject_kind: SubjectKind
    revision: str
    title: str
    build: str
    suite: str
    workload: str
    workload_class: WorkloadClass
    model: str
    quantisation: str
    parallelism: str
    device_class: str
    arm: Arm
    block: int
    state: RunState
    failure: FailureKind | None
    reason: str
    attempts: int
    claimed_by: str | None
    queued_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True)
class RunPage:
    """All that the page of one Run shows."""

    run: RunRow
    workload: Workload
    spec: BuildSpec
    environment: Environment | None
    device_states: tuple[DeviceState, ...]
    samples: tuple[MetricSamples, ...]
    """Raw, in the order measured."""
    points: Mapping[str, tuple[int, Point]]
    """By Metric: the Series' id and the Point that this Run gave it; empty for comparisons."""
    log_tail: str
    harness_version: str
    definitions_version: str
    extra: Mapping[str, Any]
    tries: tuple[Mapping[str, str], ...] = ()
    """What earlier tries came to, oldest first: `at`, `by`, `failure`, `reason`."""


@dataclass(frozen=True)
class BuildPage:
    """All that the page of one Build shows."""

    spec: BuildSpec
    kind: SubjectKind
    title: str
    state: BuildState
    seconds: float | None
    artifact: str | None
    log: str | None
    log_tail: str
    finished_at: datetime | None
    runs: tuple[RunRow, ...]


@dataclass(frozen=True)
class BuildRow:
    """What one occasion built, or found cached."""

    id: int
    digest: str
    subject: str
    subject_kind: SubjectKind
    revision: str
    title: str
    ordinal: int
    recipe: str
    state: BuildState
    cached: bool
    seconds: float | None
    log_path: str | None
    log_tail: str
    artifact: str | None


@dataclass(frozen=True)
class ArmSamples:
    """One block of a comparison: what it measured."""

    run: RunRow
    samples: tuple[MetricSamples, ...]
    hardware_hash: str | None
