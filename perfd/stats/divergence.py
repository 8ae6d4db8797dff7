"""How far one engine's probabilities are from another's, from the likeliest tokens alone, and whether that is build noise.

The full Kullback-Leibler divergence needs the whole vocabulary. Engines tell k candidates, so both distributions are put into
buckets: one for each token that both tell, one for all the rest. By the chain rule

    KL(P, Q) = KL(buckets) + rest_P * KL(P within the rest, Q within the rest),

so the bucketed value is a lower bound (nothing is guessed), and where no token of the rest moved by more than d nats the bound
is short by at most rest_P * 2 d tanh(d). With k = 32 and d = 0.1 that is below 2 % of the rest's mass.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perfd.errors import BadInputError
from perfd.stats.student import t_two_sided

Floats = npt.NDArray[np.float64]

RESOLUTION_NATS = 1e-7
"""A mean divergence below this is not told apart from zero: log-probabilities come as single precision."""
LEAST_REST = 1e-6
"""The rest's mass is a difference from one, so it is rounded by about this."""
LEAST_SPREAD = 0.05
"""Relative spread of a null below which equal runs are taken for determinism, not for precision."""
LEAST_RUNS = 3


@dataclass(frozen=True)
class Divergence:
    """One position's divergence."""

    kl_nats: float
    """A lower bound of the divergence of `other` from the reference."""
    rest: float
    """The reference's mass outside the shared tokens: what the bound does not resolve."""


def bucket_divergence(reference: Iterable[tuple[int, float]], other: Iterable[tuple[int, float]]) -> Divergence:
    """The divergence over the tokens that both tell and one bucket for the rest; candidates are (token, log p)."""
    wanted, given = dict(reference), dict(other)
    shared = wanted.keys() & given.keys()
    parts = [(math.exp(wanted[token]), math.exp(given[token]), wanted[token] - given[token]) for token in shared]
    rest = max(LEAST_REST, 1.0 - math.fsum(p for p, _, _ in parts))
    other_rest = max(LEAST_REST, 1.0 - math.fsum(q for _, q, _ in parts))
    parts.append((rest, other_rest, math.log(rest / other_rest)))
    # "- p + q" sums to nothing for whole distributions, and keeps rounding from making a divergence below zero.
    return Divergence(max(0.0, math.fsum(p * gap - p + q for p, q, gap in parts)), rest)


@dataclass(frozen=True)
class Shift:
    """A run's divergence against the null's: equal Builds measured against the same reference."""

    ratio: float
    """The run's divergence over the null's, as geometric means over documents; 1 is build noise."""
    p: float
    """One-sided: how often the null's next run would be as far away."""
    null_nats: float
    spread: float
    """Standard deviation of the null's runs, in log divergence."""

    def moved(self, alpha: float) -> bool:
        """Whether numerics moved beyond build noise."""
        return self.p <= alpha


def shift(run: Sequence[float], null: Sequence[Sequence[float]]) -> Shift:
    """Whether a run's divergences (one a document) are those of one more run of the null (runs by documents).

    The mean log divergence over documents is one number a run, so whatever the tokens of a document, or all documents of a run,
    have in common is in the spread between runs; Student's prediction interval for one more run. Raises BadInputError where
    the documents do not match, or with fewer than three runs.
    """
    if len(null) < LEAST_RUNS or any(len(one) != len(run) for one in null) or not run:
        raise BadInputError(f"a null of {len(null)} runs: expected at least {LEAST_RUNS} over the same {len(run)} documents")
    levels = np.array([mean_log(one) for one in null])
    spread = max(float(levels.std(ddof=1)), LEAST_SPREAD)
    gap = mean_log(run) - float(levels.mean())
    t = gap / (spread * math.sqrt(1.0 + 1.0 / len(null)))
    half = t_two_sided(t, float(len(null) - 1)) / 2.0
    return Shift(math.exp(gap), half if t > 0.0 else 1.0 - half, math.exp(float(levels.mean())), spread)


def mean_log(values: Sequence[float]) -> float:
    """Mean logarithm over documents; what is not told apart from zero counts as the resolution."""
    return float(np.log(np.maximum(np.asarray(values, dtype=np.float64), RESOLUTION_NATS)).mean())
