"""Differences that come in clusters (tokens of a document): one document is one witness, however long it is.

Tokens of a document err together, so that a test over tokens is far too sure. Here the difference is a mean over tokens, its
uncertainty one over documents.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from perfd.errors import BadInputError
from perfd.stats.student import t_quantile, t_two_sided

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ClusterEstimate:
    """A mean over the members of clusters, with the error that clustering leaves."""

    clusters: int
    mean: float
    error: float
    """Standard error by linearisation over clusters; infinite with fewer than two."""

    @property
    def df(self) -> int:
        """Degrees of freedom of `error`."""
        return max(0, self.clusters - 1)

    @property
    def p(self) -> float:
        """Two-sided p of no difference, Student's t over clusters; 1 where it cannot be told."""
        if not self.df or not math.isfinite(self.error):
            return 1.0
        if self.error == 0.0:
            return 1.0 if self.mean == 0.0 else 0.0
        return t_two_sided(self.mean / self.error, float(self.df))

    def interval(self, confidence: float) -> tuple[float, float]:
        """The Student interval; the whole line with fewer than two clusters."""
        reach = t_quantile(1.0 - confidence, float(self.df)) * self.error if self.df else math.inf
        return (self.mean - reach, self.mean + reach)


def clustered_mean(sums: Floats, counts: Floats) -> ClusterEstimate:
    """The mean per member from each cluster's sum and count: ratio of totals, error by linearisation (Cochran 1977, 6.4)."""
    if len(sums) != len(counts) or not len(sums) or not bool((counts > 0).all()):
        raise BadInputError(
            f"{len(sums)} sums and {len(counts)} counts: expected one each, counts above zero, for one cluster or more"
        )
    k = len(sums)
    mean = float(sums.sum() / counts.sum())
    if k < 2:
        return ClusterEstimate(k, mean, math.inf)
    rest = sums - mean * counts
    error = math.sqrt(k / (k - 1) * float(rest @ rest)) / float(counts.sum())
    return ClusterEstimate(k, mean, error)


def bootstrap_interval(sums: Floats, counts: Floats, confidence: float, seed: int, resamples: int = 4000) -> tuple[float, float]:
    """The bootstrap-t interval over clusters (Efron 1981): for skewed documents, where a symmetric interval is off to one side.

    Deterministic for a seed. Needs five clusters, below which a resample often has no spread; then it is the Student interval.
    """
    found = clustered_mean(sums, counts)
    if found.clusters < 5 or found.error == 0.0:
        return found.interval(confidence)
    picks = np.random.default_rng(seed).integers(0, found.clusters, size=(resamples, found.clusters))
    totals, sizes = sums[picks].sum(axis=1), counts[picks].sum(axis=1)
    means = totals / sizes
    rest = sums[picks] - means[:, None] * counts[picks]
    errors = np.sqrt(found.clusters / (found.clusters - 1) * (rest**2).sum(axis=1)) / sizes
    usable = errors > 0.0
    ratios = (means[usable] - found.mean) / errors[usable]
    low, high = np.quantile(ratios, [0.5 - confidence / 2.0, 0.5 + confidence / 2.0])
    return (found.mean - float(high) * found.error, found.mean - float(low) * found.error)


def clusters_needed(effect: float, spread: float, alpha: float = 0.01, power: float = 0.8) -> int:
    """Clusters for a two-sided t-test to find a mean of `effect` where clusters scatter by `spread`; at least three."""
    if effect == 0.0 or spread < 0.0:
        raise BadInputError(f"effect {effect}, spread {spread}: expected an effect other than zero and a spread of at least zero")
    strong = NormalDist().inv_cdf(power)
    k = 3
    while k < 10_000_000:
        need = math.ceil(((t_quantile(alpha, float(k - 1)) + strong) * spread / effect) ** 2)
        if need <= k:
            return k
        k = max(k + 1, min(need, 2 * k))
    return k
