"""The level of nights, and what the difference of two levels is: its effect and its interval. Source: Huber 1964."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def robust_level(values: Floats, scale: float) -> float:
    """The median, and one Huber step from it: nearly as efficient as the mean on Gaussian noise, and deaf to outliers."""
    middle = float(np.median(values))
    return middle + float(np.mean(np.clip(values - middle, -1.5 * scale, 1.5 * scale)))


def relative_interval(before: float, after: float, spread: float) -> tuple[float, float]:
    """The 95 % interval of the effect, whose difference has standard deviation `spread`; a ratio where `before` is not zero."""
    effect, half = effect_of(before, after), 1.96 * spread
    if before:
        half /= abs(before)
    return effect - half, effect + half


def effect_of(before: float, after: float) -> float:
    """The ratio after / before less 1, or the difference where `before` is zero; the sign says whether the value rose."""
    return (after - before) / abs(before) if before else after - before


def spread_of_difference(scale: float, phi: float, n_before: int, n_after: int) -> float:
    """The standard deviation of the difference of two levels under AR(1) noise; t-like for few values."""
    inflation = (1 + phi) / (1 - phi)
    few = math.sqrt(1 + 2 / max(n_before + n_after - 2, 1))
    return scale * few * math.sqrt(inflation * (1 / max(n_before, 1) + 1 / max(n_after, 1)))
