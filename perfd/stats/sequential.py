"""How often one may look: nominal levels that hold a total error over every look of a comparison that may stop early.

Looking again and again with a fixed p finds a difference in nothing. Here each look n (a number of pairs, up to a cap) has a
nominal level of its own, so that the chance of ever leaving the interval is at most alpha whatever the rule of stopping: repeated
confidence intervals (Jennison and Turnbull, JRSS B 51, 1989), spent as t allows (Wang and Tsiatis 1987 in spirit). The levels are
found by simulation and not by integration, because the statistic is a robust t whose own level is off by a few per cent.

An always-valid mixture t (Lai 1976; Wang and Ramdas 2024) would need |t| of 4.2 at 20 pairs where these levels need 3.8, that is
a quarter more pairs, and would buy looks beyond a cap that nobody measures to.
"""

import math
from bisect import bisect_left

FULL_FROM, FADE_FROM = 10, 16
"""Looks before ten pairs get the square of their share, because t is wild there; those after 16 less and less."""

_MARGIN = 0.9
"""Held back for noise that is worse than Gaussian: of the kinds tried, two-state noise needed the most, a tenth."""

_CAPS = (4, 6, 8, 10, 12, 16, 20, 30, 40, 50, 60)
_SHARES = {
    0.1: (4.61, 1.73, 0.871, 0.529, 0.413, 0.297, 0.252, 0.207, 0.183, 0.168, 0.157),
    0.05: (4.47, 1.58, 0.783, 0.457, 0.354, 0.259, 0.214, 0.169, 0.149, 0.136, 0.129),
    0.01: (4.13, 1.37, 0.659, 0.370, 0.270, 0.196, 0.169, 0.137, 0.115, 0.105, 0.0990),
    0.001: (3.88, 1.38, 0.666, 0.310, 0.242, 0.164, 0.161, 0.105, 0.0969, 0.0879, 0.0788),
}
"""Total error and cap → the level of the fullest look as a share of that error. From 50,000 Gaussian comparisons that look after
every pair from the third on (`python tests/benchmarks/compare.py --calibrate`, seed 901)."""


def weight(n: int) -> float:
    """How much of the fullest look's level look `n` has."""
    return min(1.0, n / FULL_FROM) ** 2 * min(1.0, math.sqrt(FADE_FROM / n))


def nominal_level(n: int, cap: int, alpha: float) -> float:
    """The two-sided level of look `n`, so that all looks from the third pair up to `cap` together err with at most `alpha`."""
    return alpha * _MARGIN * share(cap, alpha) * weight(n)


def share(cap: int, alpha: float) -> float:
    """Between the errors and caps of the table on logarithmic scales; beyond its last cap as it fell to it."""
    errors = sorted(_SHARES)
    error = min(max(alpha, errors[0]), errors[-1])
    above = max(1, bisect_left(errors, error))
    low, high = errors[above - 1], errors[above]
    part = math.log(error / low) / math.log(high / low)
    return math.exp((1.0 - part) * _log_share(cap, low) + part * _log_share(cap, high))


def _log_share(cap: int, error: float) -> float:
    shares = _SHARES[error]
    above = min(max(1, bisect_left(_CAPS, cap)), len(_CAPS) - 1)
    low, high = _CAPS[above - 1], _CAPS[above]
    part = math.log(max(cap, _CAPS[0]) / low) / math.log(high / low)
    return (1.0 - part) * math.log(shares[above - 1]) + part * math.log(shares[above])
