"""Budgets: how much worse a Metric may become, all steps together, than it was at a pinned release."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """What an Engine may lose against a Revision that somebody has pinned."""

    engine: str
    revision: str
    """The pinned commit or version; a unique beginning is enough."""
    share: float
    """The most that may be lost: 0.05 is 5 %, in the direction that is worse."""
    metric: str = ""
    """The Metric; empty means every one of speed and quality."""
    workload_class: str = ""
    """The class of Workloads; empty means every one."""
