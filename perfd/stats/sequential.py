"""How often one may look: nominal levels that hold a total error over every look of a comparison that may stop early.

Looking again and again with a fixed p finds a difference in nothing. Here each look n (a number of pairs, up to a cap) has
its own nominal level, so that the chance of ever leaving the interval is at most alpha whatever the rule of stopping: a
repeated confidence interval (Jennison and Turnbull 1989), with levels found by simulation instead of by integration because
the statistic is a trimmed t.
"""

from perfd.stats.student import t_quantile

FULL_FROM = 12
"""From here on every look has the same nominal level; earlier ones get n / FULL_FROM of it, because t is wild at few pairs."""


def nominal_level(n: int, cap: int, alpha: float) -> float:
    """The two-sided level of look `n`, so that all looks up to `cap` together err with at most `alpha`."""
    looks = max(1.0, cap / 4.0)
    return alpha / looks * min(1.0, n / FULL_FROM)


def bound(n: int, cap: int, alpha: float, df: int) -> float:
    """The |t| that look `n` must pass."""
    return t_quantile(nominal_level(n, cap, alpha), float(df))
