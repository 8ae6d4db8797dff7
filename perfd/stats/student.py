"""Student's t distribution without SciPy: tails by the incomplete beta function, quantiles by bisection."""

import math
from functools import lru_cache

_TINY = 1e-300


def _continued_fraction(a: float, b: float, x: float) -> float:
    """The fraction of the incomplete beta function, by Lentz's method (Numerical Recipes, section 6.4)."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, 300):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + term / c
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1.0) < 1e-14:
            break
    return value


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for a, b > 0 and x in [0, 1]."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _continued_fraction(a, b, x) / a
    return 1.0 - front * _continued_fraction(b, a, 1.0 - x) / b


def t_two_sided(t: float, df: float) -> float:
    """The probability that |T| exceeds |t| with `df` degrees of freedom."""
    return incomplete_beta(df / 2.0, 0.5, df / (df + t * t))


@lru_cache(maxsize=4096)
def t_quantile(p_two_sided: float, df: float) -> float:
    """The t whose two tails together hold `p_two_sided`; infinite for no tail, zero for the whole."""
    if p_two_sided <= 0.0 or p_two_sided >= 1.0:
        return math.inf if p_two_sided <= 0.0 else 0.0
    low, high = 0.0, 1.0
    while t_two_sided(high, df) > p_two_sided:
        high *= 2.0
    for _ in range(80):
        middle = (low + high) / 2.0
        low, high = (middle, high) if t_two_sided(middle, df) > p_two_sided else (low, middle)
    return (low + high) / 2.0
