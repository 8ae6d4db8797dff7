"""What an occasion owes: every chosen subject at its newest Revision, every Workload of its suites, every Model, once."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from perfd.domain.model import Model
from perfd.domain.plan import Plan, PlannedBuild, PlannedRun
from perfd.domain.suite import Suite, Workload

BASELINE_POINTS = 3
"""One Point could be a bad moment, and every later night would be held against it."""
Lacking: TypeAlias = tuple[str, str, str]
"""A Series without Points of a Baseline: identity of its Workload, name of its Model, device class."""


@dataclass(frozen=True)
class Candidate:
    """A Build that the occasion is about, and what is to be measured on it."""

    build: PlannedBuild
    workloads: tuple[tuple[Workload, str], ...]
    """Each Workload with the device class that it is measured on."""
    models: tuple[Model, ...] = ()
    """Empty for kernels."""


def nightly_workloads(suites: Iterable[Suite]) -> tuple[Workload, ...]:
    """The Workloads of the suites that a night runs, in the order of the suites."""
    return tuple(workload for suite in suites if suite.nightly for workload in suite.workloads)


def owed(candidates: Sequence[Candidate]) -> Plan:
    """Builds first, then the Runs that need them; a candidate without Models is measured once a Workload."""
    return Plan(
        builds=tuple(candidate.build for candidate in candidates),
        runs=tuple(run for candidate in candidates for run in _runs(candidate)),
    )


def baseline(pinned: Candidate, lacking: Container[Lacking], points: int = BASELINE_POINTS) -> Plan:
    """The Build that others are judged against, and some Runs for each Series that has no Point of it."""
    runs = [
        run for run in _runs(pinned) if (run.workload.identity, run.model.name if run.model else "", run.device_class) in lacking
    ]
    return Plan((pinned.build,), tuple(replace(run, block=place) for run in runs for place in range(points)))


def _runs(candidate: Candidate) -> Iterable[PlannedRun]:
    models: tuple[Model | None, ...] = candidate.models or (None,)
    for workload, device_class in candidate.workloads:
        for model in models:
            yield PlannedRun(candidate.build.spec, workload, device_class, model)
