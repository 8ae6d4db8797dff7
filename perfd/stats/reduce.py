"""Samples of one Run become one value with a 95 % interval.

Median: the interval is a pair of order statistics, exact for any continuous distribution: with k = the largest count whose
binomial(n, 1/2) tail is at most 2.5 %, the interval is [x_(k+1), x_(n-k)]; below 6 samples no pair reaches 95 %.
Mean: percentile interval of a seeded bootstrap, widened by Student's sqrt(n / (n - 1)); below 5 samples there is none.
Cost: O(n log n). Sources: Conover, Practical Nonparametric Statistics, 3.2; Efron and Tibshirani, Bootstrap, chapter 13.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MEDIAN_NEEDS = 6
MEAN_NEEDS = 5
_DRAWS = 1000
_BOOTSTRAP_LIMIT = 5000
"""Above this many samples the normal interval is indistinguishable and costs nothing."""


@dataclass(frozen=True)
class Reduced:
    """A value, its 95 % interval (absent when n is too small to give one), and the samples it rests on."""

    value: float
    interval: tuple[float, float] | None
    n: int


def reduce_to_median(values: Floats) -> Reduced:
    """The median and its order-statistic interval."""
    ordered = np.sort(values)
    n = len(ordered)
    if n < MEDIAN_NEEDS:
        return Reduced(float(np.median(ordered)), None, n)
    low = _tail_count(n)
    return Reduced(float(np.median(ordered)), (float(ordered[low]), float(ordered[n - 1 - low])), n)


def reduce_to_mean(values: Floats, seed: int = 0) -> Reduced:
    """The mean and its bootstrap interval; the same values and seed always give the same interval."""
    n = len(values)
    mean = float(np.mean(values))
    if n < MEAN_NEEDS:
        return Reduced(mean, None, n)
    if n > _BOOTSTRAP_LIMIT:
        half = 1.96 * float(np.std(values, ddof=1)) / math.sqrt(n)
        return Reduced(mean, (mean - half, mean + half), n)
    draws = np.random.default_rng(seed).integers(0, n, size=(_DRAWS, n))
    means = mean + (values[draws].mean(axis=1) - mean) * math.sqrt(n / (n - 1))
    low, high = np.quantile(means, [0.025, 0.975])
    return Reduced(mean, (float(low), float(high)), n)


def _tail_count(n: int) -> int:
    """The largest k with P(Binomial(n, 1/2) <= k) <= 2.5 %; the samples left out at either end."""
    tail, k = 0.0, -1
    log_half = n * math.log(2)
    while True:
        term = math.exp(math.lgamma(n + 1) - math.lgamma(k + 2) - math.lgamma(n - k) - log_half)
        if tail + term > 0.025:
            return max(k, 0)
        tail += term
        k += 1
