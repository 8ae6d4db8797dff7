"""A share with its interval: how often, of how many, and how sure that is. Floats in, floats out."""

import math
from statistics import NormalDist


def share_interval(count: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval (JASA 22, 1927) of a binomial share; (0, 1) where nothing was counted."""
    if of == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1.0 + level) / 2.0)
    share, weight = count / of, z * z / of
    middle = (share + weight / 2.0) / (1.0 + weight)
    half = z * math.sqrt(share * (1.0 - share) / of + weight / (4.0 * of)) / (1.0 + weight)
    return max(0.0, middle - half), min(1.0, middle + half)
