"""TTFT against the prompt tokens that had to be computed: a line, and how sure its slope is."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from perfd.domain.identity import Json
from perfd.stats.student import t_quantile

LEAST_REQUESTS = 8
LEAST_SPREAD = 16
"""Tokens between the least and the most that were computed; with less, a slope would be made of noise."""


@dataclass(frozen=True)
class TtftFit:
    """TTFT = intercept + slope x uncached tokens, by least squares over the requests of a Run."""

    per_1k_uncached_s: float
    """Seconds for 1,000 prompt tokens that were not cached."""
    interval: tuple[float, float]
    """95 % interval of it, by Student's t with n - 2 degrees of freedom."""
    intercept_s: float
    """What a wholly cached prompt would take: queueing, template, first decode step."""
    n: int
    residual_s: float
    """Standard deviation of what the line leaves over."""

    def as_json(self) -> Json:
        """For the results file."""
        return {**asdict(self), "interval": list(self.interval)}


def fit_ttft(uncached: Sequence[float], ttft_s: Sequence[float]) -> TtftFit | str:
    """The fitted line, or one sentence on why none is drawn. Ordinary least squares; cost: one pass."""
    n = len(uncached)
    if n < LEAST_REQUESTS:
        return f"{n} requests told their cached tokens, and {LEAST_REQUESTS} are needed for a line"
    x, y = np.asarray(uncached, dtype=float), np.asarray(ttft_s, dtype=float)
    if np.ptp(x) < LEAST_SPREAD:
        return f"all prompts had {x.min():.0f} to {x.max():.0f} uncached tokens: too little spread for a slope"
    sxx = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / sxx
    intercept = float(y.mean() - slope * x.mean())
    residual = math.sqrt(max(0.0, float(((y - intercept - slope * x) ** 2).sum()) / (n - 2)))
    half = t_quantile(0.05, n - 2) * residual / math.sqrt(sxx)
    return TtftFit(slope * 1e3, ((slope - half) * 1e3, (slope + half) * 1e3), intercept, n, residual)
