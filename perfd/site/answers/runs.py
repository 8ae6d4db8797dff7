"""Runs and Builds."""

from typing import Any

from perfd.domain.environment import Device
from perfd.domain.limit import Limit
from perfd.domain.submission import Submission
from perfd.site.answers.common import Answer, Page, Words, free
from perfd.store.records import RunRow


class Made(Answer):
    """Everything that a Run's numbers depend on and perfd knows."""

    run: str
    """The Run that it is about, by its key."""
    subject: str
    revision: str
    build: str
    recipe: str
    recipe_hash: str
    toolchain: Words
    dependencies: Words
    suite: str
    workload: str
    workload_identity: str
    parameters: dict[str, Any] = free("As the suite's file has them.")
    seed: int
    data_hash: str
    model: str
    quantisation: str
    parallelism: str
    device_class: str
    hardware_hash: str | None
    clock_policy: str | None
    software: Words | None
    harness_version: str
    definitions_version: str


class Reproduce(Answer):
    """How a Run is measured again."""

    command: str
    """Empty for a Run that was imported."""
    sentence: str
    made_of: Made


class WorkloadWords(Answer):
    """A reproducible load."""

    suite: str
    name: str
    workload_class: str
    parameters: dict[str, Any] = free("As the suite's file has them.")
    seed: int
    data_hash: str
    time_limit_s: float
    question: str
    limits: list[Limit]
    identity: str


class BuildWords(Answer):
    """What a Build is made of."""

    subject: str
    revision: str
    recipe: str
    recipe_hash: str
    toolchain: Words
    dependencies: Words
    digest: str


class EnvironmentWords(Answer):
    """The machine of a Run."""

    device: Device
    hardware: Words
    clock_policy: str
    software: Words


class StateWords(Answer):
    """One look at the device."""

    at: str
    facts: dict[str, Any] = free("What the machine tells: clocks, heat, load; units stand in the names.")


class RawSamples(Answer):
    """Every Sample of one Metric, in the order of measuring."""

    name: str
    unit: str
    better: str
    values: list[float]


class RunPoint(Answer):
    """The Point that the Run gave a Series."""

    series: int
    run: str
    build: str
    revision: str
    ordinal: int
    occasion: str
    measured_at: str
    value: float
    interval: tuple[float, float] | None
    n: int
    hardware_hash: str
    epoch: str


class OneRun(Answer):
    """One Run with its raw Samples."""

    run: RunRow
    workload: WorkloadWords
    build: BuildWords
    environment: EnvironmentWords | None
    device_states: list[StateWords]
    samples: list[RawSamples]
    points: dict[str, RunPoint]
    """By Metric; empty for comparisons."""
    log_tail: str
    harness_version: str
    definitions_version: str
    extra: dict[str, Any] = free("What the measuring child told beside its numbers, or an imported file knew.")
    reproduce: Reproduce
    submissions: dict[str, list[Submission]] | None = None
    """Of a long Run, by try: what it handed in."""


class RunPage(Page):
    """Runs, the one that was planned last first."""

    runs: list[RunRow]


class OneBuild(Answer):
    """One Build with its Runs."""

    build: BuildWords
    state: str
    kind: str
    title: str
    seconds: float | None
    finished_at: str | None
    log_tail: str
    runs: list[RunRow]


class Taken(Answer):
    """What became of results that were handed in."""

    run: str
    address: str
    written: str
    """stored or already."""
