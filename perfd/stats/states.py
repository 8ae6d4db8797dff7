"""Noise of two states (a machine that is in one of two each night), taken out of a fit: each night is moved to the lower state.

A mean over nights of two states four of their standard deviations apart is known half as well as one over nights of one state,
so a level, a slope or a place that is fitted to them is off by what the states happen to be. Which state a night is in depends
on the fit, and the fit on the states: both are found in turn, as k-means does (Lloyd 1982), from the fit of all nights on.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfd.stats.density import histogram, to_bins
from perfd.stats.humps import humps_of

Floats = NDArray[np.float64]

_ROUNDS = 2


@dataclass(frozen=True)
class States:
    """Two states of the noise of one Series, in its unit."""

    apart: float
    """From the mean of the lower to that of the upper."""
    width: float
    """The standard deviation of the nights of one state."""
    odds: float
    """The logarithm of how much more often a night is in the upper one."""
    between: float
    """Of residuals around the mean of all nights: those above are in the upper state."""


def states_of(residual: Floats, scale: float) -> States | None:
    """The states that residuals show, oldest first; None where they have no two clear humps."""
    bins = to_bins(residual[None, :].astype(np.float32) / np.float32(scale))
    humps = humps_of(histogram(bins, np.ones_like(bins, dtype=np.bool_)))
    if not humps.clear[0]:
        return None
    upper = bins[0] >= humps.split[0]
    means = [float(residual[part].mean()) for part in (~upper, upper)]
    left = residual - np.where(upper, means[1], means[0])
    share = float(upper.mean())
    width = max(float(left.std()), 1e-12)
    return States(means[1] - means[0], width, float(np.log(share / (1 - share))), sum(means) / 2)


def without_states(values: Floats, rows: Floats, states: States, fit: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """What many models leave of `values` without their states, (models, nights), and what the states say of each, (models,).

    The latter is a log-likelihood. `rows` are what the models leave of all nights; `fit` gives what they leave of values of their
    own, (models, nights) to (models, nights).
    """
    upper = rows > states.between
    left = rows
    for _ in range(_ROUNDS):
        left = fit(values - np.where(upper, states.apart, 0.0))
        upper = left + np.where(upper, states.apart, 0.0) > states.apart / 2
    left = fit(values - np.where(upper, states.apart, 0.0))
    return left, np.count_nonzero(upper, axis=1) * states.odds
