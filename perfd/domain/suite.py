"""Suites and Workloads: what is measured, and for which question."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from perfd.domain.identity import Json, digest
from perfd.domain.limit import Limit


class WorkloadClass(StrEnum):
    """The kinds of load; numbers of two classes are never averaged."""

    CHAT = "chat"
    AGENTIC = "agentic"
    LONG_CONTEXT = "long_context"
    MULTIMODAL = "multimodal"
    BATCH = "batch"
    KERNEL = "kernel"
    ACCURACY = "accuracy"
    LONG_RUN = "long_run"
    """Work of minutes or hours that hands in what it has on its way."""


@dataclass(frozen=True)
class Workload:
    """One reproducible load. Change a parameter, the seed or the data, and it is another Workload."""

    suite: str
    name: str
    workload_class: WorkloadClass
    parameters: Mapping[str, Json]
    seed: int
    data_hash: str
    """sha256 over the data files that the Workload reads; "" where it reads none."""
    time_limit_s: float = 300.0
    """A measuring child that has not ended by then is killed, and the Run failed."""
    question: str = ""
    """What it is measured for, in one sentence; no part of the identity."""
    limits: tuple[Limit, ...] = ()
    """Levels that its Metrics may not pass; no part of the identity."""

    @property
    def identity(self) -> str:
        """The natural key: 64 hexadecimal digits over name, class, parameters, seed and data."""
        return digest(
            {
                "suite": self.suite,
                "name": self.name,
                "class": self.workload_class.value,
                "parameters": dict(self.parameters),
                "seed": self.seed,
                "data": self.data_hash,
            }
        )


@dataclass(frozen=True)
class Suite:
    """Workloads chosen together for a question."""

    name: str
    question: str
    workloads: tuple[Workload, ...]
    nightly: bool = True
    """False for suites that only Checkpoints and people run."""
    engines: tuple[str, ...] = ()
    """Engines whose nights run it although the configuration does not name it among their suites."""
