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
    0.1: (4.72, 1.71, 0.878, 0.530, 0.405, 0.298, 0.256, 0.206, 0.182, 0.169, 0.160),
    0.05: (4.49, 1.59, 0.787, 0.460, 0.352, 0.259, 0.214, 0.171, 0.151, 0.140, 0.131),
    0.01: (4.13, 1.34, 0.628, 0.351, 0.264, 0.179, 0.143, 0.109, 0.0990, 0.0897, 0.0871),
    0.001: (3.58, 1.13, 0.399, 0.223, 0.169, 0.126, 0.0813, 0.0777, 0.0625, 0.0599, 0.0588),
}
"""Total error and cap → the level of the fullest look as a share of that error. From 50,000 Gaussian comparisons that look after
every pair from the third on (`python tests/benchmarks/compare.py --calibrate`, seed 901; another 50,000 gave 0.099 where this has
0.0871, and 0.0788 where it has 0.0588: the stricter draw is kept)."""


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
