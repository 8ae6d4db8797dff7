"""Whether a slow drift explains nights better than a step. Cost: O(segment * beginnings)."""

import math

import numpy as np
from numpy.typing import NDArray

from perfd.stats.fits import less_slope, less_step, slope_residuals, slopes_of, step_residuals
from perfd.stats.noise import gaussian, least_off, winsorised
from perfd.stats.residuals import autocorrelation_of
from perfd.stats.shape import robust_level
from perfd.stats.states import States, states_of, without_states

Floats = NDArray[np.float64]

_RAMP = 32
"""Shorter than this, a rise is a step that took its time, not a drift."""
_STEP, _SLOPE = 3.0, 0.1
"""What sizes are expected, in standard deviations: of a step, and of a slope a night."""
_LEAST = 0.5
"""Where most nights are alike, what the others leave must not look larger than it is."""


def step_over_drift(
    values: Floats, noise: tuple[float, float], lasting: int, memory: float, *, two_states: bool = False
) -> tuple[float, float]:
    """How much likelier a step makes `values` than a level that begins to slope, and what noise remembers at most.

    The first is the logarithm of a Bayes factor: negative where the slope, which must last for at least 32 values, is the better
    story. A step may be anywhere, a slope may begin anywhere, and either may be of any size: each is worth what its places and
    sizes are worth on average (Kass and Raftery 1995), not what its best one is, as a step that fits at one place only and a
    slope that fits from many are not alike. Both are held to one Gaussian that is cut at three standard deviations, and as wide
    as the better of both says; around either of its states where noise is known to have `two_states`: what is left of a drift
    may look as if it had them.

    `noise` is the scale and the autocorrelation that older nights show; `memory` is the autocorrelation of earlier segments, or
    NaN. A drift makes noise look as if it remembered, so that what is left when the slope is taken out counts where it is less.
    """
    (scale, phi), n = noise, len(values)
    if n < _RAMP + 2 * lasting:
        level = robust_level(values, scale)
        return math.inf, min(phi, autocorrelation_of((values - level) / scale, memory))
    stepped, sloped = step_residuals(values, scale, lasting), slope_residuals(values, scale, _RAMP)
    best = [least_off(rows, scale) for rows in (stepped, sloped)]
    phi = min(phi, autocorrelation_of(best[1] / scale, memory))
    states = (states_of(best[0], scale) or states_of(best[1], scale)) if two_states else None
    if states is not None:
        return _of_states(values, (stepped, sloped), states, lasting), phi
    width = max(min(winsorised(left, scale) for left in best), _LEAST * scale)
    step, slope = (gaussian(rows, width, phi) for rows in (stepped, sloped))
    return _worth(step, _step_energy(n, lasting), phi, _STEP) - _worth(slope, _slope_energy(n), phi, _SLOPE), phi


def _of_states(values: Floats, rows: tuple[Floats, Floats], states: States, lasting: int) -> float:
    n = len(values)
    places, slopes = _places(n, lasting), slopes_of(n, _RAMP)
    stepped, of_step = without_states(values, rows[0], states, lambda moved: less_step(moved, places))
    sloped, of_slope = without_states(values, rows[1], states, lambda moved: less_slope(moved, slopes))
    phi = min(autocorrelation_of(least_off(left, states.width) / states.width, math.nan) for left in (stepped, sloped))
    step, slope = (gaussian(left, states.width, phi) for left in (stepped, sloped))
    of_steps = _worth(step + of_step, _step_energy(n, lasting), phi, _STEP)
    return of_steps - _worth(slope + of_slope, _slope_energy(n), phi, _SLOPE)


def _places(n: int, lasting: int) -> NDArray[np.intp]:
    return np.arange(lasting, n - lasting + 1)


def _step_energy(n: int, lasting: int) -> Floats:
    """The sum of the squares of a step by 1, less its mean, for each of its places."""
    places = _places(n, lasting)
    energy: Floats = places * (n - places) / n
    return energy


def _slope_energy(n: int) -> Floats:
    """The sum of the squares of a slope by 1 a night, less its mean, for each of its beginnings."""
    slopes = slopes_of(n, _RAMP)
    energy: Floats = ((slopes - slopes.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return energy


def _worth(likelihood: Floats, energy: Floats, phi: float, size: float) -> float:
    """The logarithm of the mean likelihood over all places, and over all sizes around zero that are usually of this `size`.

    A size that `energy` tells of by likelihood exp(-energy (x - best)^2 / 2) is worth its best one less half the logarithm of
    1 + energy size^2, up to how far the best one is from zero; AR(1) noise tells of slow shapes (1 - phi) / (1 + phi) as much.
    """
    told = energy * (1 - phi) / (1 + phi)
    worth = likelihood - np.log1p(size**2 * told) / 2
    best = float(worth.max())
    return best + math.log(float(np.exp(worth - best).mean()))
