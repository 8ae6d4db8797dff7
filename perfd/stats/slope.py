"""Whether a slow drift explains nights better than a step. Cost: O(segment * beginnings)."""

import math

import numpy as np
from numpy.typing import NDArray

from perfd.stats.fits import less_slope, less_step, slope_residuals, slopes_of, step_residuals
from perfd.stats.noise import gaussian, least_off
from perfd.stats.residuals import autocorrelation_of
from perfd.stats.shape import robust_level
from perfd.stats.states import States, states_of, without_states

Floats = NDArray[np.float64]

_RAMP = 32
"""Shorter than this, a rise is a step that took its time, not a drift."""


def step_over_drift(values: Floats, scale: float, phi: float, lasting: int, *, two_states: bool = False) -> tuple[float, Floats]:
    """How much likelier a step makes `values` than a level that begins to slope, and what the best slope leaves of them.

    The first is the logarithm of a Bayes factor: negative where the slope, which must last for at least 32 values, is the better
    story. A step may be anywhere and a slope may begin anywhere: each is worth what its places are worth on average (Kass and
    Raftery 1995), not what its best one is, as a step that fits at one place only and a slope that fits from many are not alike.
    Both are held to one Gaussian that is cut at three standard deviations, around either of its states where noise is known to
    have `two_states`: what is left of a drift may look as if it had them.
    """
    n = len(values)
    if n < _RAMP + 2 * lasting:
        return math.inf, values - robust_level(values, scale)
    stepped = step_residuals(values, scale, lasting)
    sloped = slope_residuals(values, scale, _RAMP)
    best = [least_off(rows, scale) for rows in (stepped, sloped)]
    states = (states_of(best[0], scale) or states_of(best[1], scale)) if two_states else None
    if states is not None:
        return _of_states(values, (stepped, sloped), states, lasting), best[1]
    return _mean(gaussian(stepped, scale, phi)) - _mean(gaussian(sloped, scale, phi)), best[1]


def _of_states(values: Floats, rows: tuple[Floats, Floats], states: States, lasting: int) -> float:
    places = np.arange(lasting, len(values) - lasting + 1)
    slopes = slopes_of(len(values), _RAMP)
    stepped, of_step = without_states(values, rows[0], states, lambda moved: less_step(moved, places))
    sloped, of_slope = without_states(values, rows[1], states, lambda moved: less_slope(moved, slopes))
    phi = min(autocorrelation_of(least_off(left, states.width) / states.width, math.nan) for left in (stepped, sloped))
    step, slope = (gaussian(left, states.width, phi) for left in (stepped, sloped))
    return _mean(step + of_step) - _mean(slope + of_slope)


def _mean(likelihood: Floats) -> float:
    """The logarithm of the mean of what these are the logarithms of."""
    best = float(likelihood.max())
    return best + math.log(float(np.exp(likelihood - best).mean()))
