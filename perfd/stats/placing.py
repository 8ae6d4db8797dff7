"""Where a step begins: the likeliest of the nights around a guess.

Residuals are cut at three standard deviations, so that single nights decide nothing; where noise has two states, these are taken
out first. Cost: O(segment) a place. Source: Bai 1997.
"""

import math

import numpy as np
from numpy.typing import NDArray

from perfd.stats.fits import less_step
from perfd.stats.noise import gaussian, least_off
from perfd.stats.residuals import autocorrelation_of
from perfd.stats.shape import robust_level
from perfd.stats.states import states_of, without_states

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

NEAR = 6
"""How far a place may move from where the evidence of few nights put it."""
_ROUNDS = 3


def place_of_step(values: Floats, places: Ints, guess: int, noise: tuple[float, float]) -> int:
    """The likeliest of `places` for the first value at the new level, or `guess` where there are none.

    `noise` is its scale and autocorrelation.
    """
    if not len(places):
        return guess
    scale, phi = noise
    states = states_of(_less_levels(values, np.array([guess]), scale)[0], scale)
    if states is not None:
        left, told = without_states(values, _less_levels(values, places, scale), states, lambda moved: less_step(moved, places))
        within = min(phi, autocorrelation_of(least_off(left, states.width) / states.width, math.nan))
        return int(places[np.argmax(gaussian(left, states.width, within) + told)])
    place = guess
    for _ in range(_ROUNDS):  # a new place gives new levels, and they may give another place
        before, after = (robust_level(values[:place], scale), robust_level(values[place:], scale))
        levels = np.where(np.arange(len(values)) >= places[:, None], after, before)
        place = int(places[np.argmax(gaussian(values - levels, scale, phi))])
    return place


def near(guess: int, nights: int, lasting: int, reach: int = NEAR) -> Ints:
    """The places within `reach` of `guess` that leave at least `lasting` of so many nights on either side."""
    return np.arange(max(guess - reach, lasting), min(guess + reach, nights - lasting) + 1)


def _less_levels(values: Floats, places: Ints, scale: float) -> Floats:
    """`values` less the robust levels before and after a place, one row each."""
    levels = np.array([(robust_level(values[:place], scale), robust_level(values[place:], scale)) for place in places])
    after = np.arange(len(values))[None, :] >= places[:, None]
    left: Floats = values - np.where(after, levels[:, 1:], levels[:, :1])
    return left
