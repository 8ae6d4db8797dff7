"""Areas of a source tree and what they can slow down; Gates, which let a Series hold a pull request up."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Area:
    """Paths of an engine's source, and the Workloads that a change there can affect."""

    paths: tuple[str, ...]
    """Patterns as in .gitignore: `src/attention/`, `*.cu`, `**/scheduler*`."""
    suites: tuple[str, ...] = ()
    """Every Workload of these."""
    workloads: tuple[str, ...] = ()
    """And these. With neither, a change there affects nothing."""


@dataclass(frozen=True)
class Gate:
    """Series whose slowdown fails the check; every part that is given must fit."""

    workload: str = ""
    metric: str = ""
    workload_class: str = ""

    def holds(self, workload: str, workload_class: str, metric: str) -> bool:
        """Whether it speaks of this Series."""
        wanted = (self.workload, workload), (self.workload_class, workload_class), (self.metric, metric)
        return all(want in {"", name} for want, name in wanted)
