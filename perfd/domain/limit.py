"""Limits: a level that a Metric of a Workload may not pass, whatever the nights before were; pinned Regressions have them."""

from dataclasses import dataclass

from perfd.domain.metric import Better


@dataclass(frozen=True)
class Limit:
    """The level between good and lost, where a Regression was; it needs no Baseline, so one night is enough to catch it again."""

    metric: str
    worst: float
    """In the Metric's unit; the Metric says which side of it is worse."""
    device_class: str
    """The level is one of this class alone."""
    engine: str
    model: str = ""

    def is_passed(self, better: Better, value: float, interval: tuple[float, float] | None) -> bool:
        """Whether the value lies on the worse side, all of its interval with it where there is one."""
        low, high = interval or (value, value)
        return low > self.worst if better is Better.LOWER else high < self.worst

    def is_kept(self, better: Better, value: float) -> bool:
        """Whether the value lies on the good side; what neither passes nor keeps a limit is unsure."""
        return value <= self.worst if better is Better.LOWER else value >= self.worst
