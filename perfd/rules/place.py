"""Where a step may have begun: one night near the middle between two levels can belong to either.

A re-measurement between two neighbouring Builds says that the step is there or is not; that it is nowhere, only one around all
places where it may be. Of the steps of two standard deviations that are found, three in five are put at the right night.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perfd.stats.noise import unlikely

Floats = NDArray[np.float64]

REACH = 6
"""Points by which a place may be off."""
_AS_LIKELY = 4.0
"""How much less likely a place may be, as a log-likelihood ratio; docs/confirming.md has how often the true one is within."""


def places(values: Sequence[float], place: int, before: float, after: float, scale: float) -> tuple[int, int]:
    """The first and the last place where the step from `before` to `after` may begin, `place` being where it was put.

    Noise is Gaussian with standard deviation `scale`, cut at three of them so that no single night decides. At least one value
    stays before the step, and one after it. Cost: O(REACH).
    """
    low, high = max(1, place - REACH), min(len(values) - 1, place + REACH)
    known = math.isfinite(scale) and scale > 0 and before != after
    if not known or low >= high:
        return place, place
    near = np.array(values[low : high + 1], dtype=np.float64)
    after_not_before = unlikely((near - before) / scale) - unlikely((near - after) / scale)
    likelihood = np.cumsum(after_not_before[::-1])[::-1]
    likely = low + np.flatnonzero(likelihood >= likelihood.max() - _AS_LIKELY)
    return min(int(likely[0]), place), max(int(likely[-1]), place)
