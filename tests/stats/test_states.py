"""Noise of two states taken out of what is fitted: steps, slopes and places."""

import math

import numpy as np
from numpy.typing import NDArray

from perfd.stats.fits import less_step
from perfd.stats.placing import near, place_of_step
from perfd.stats.slope import step_over_drift
from perfd.stats.states import states_of, without_states

Floats = NDArray[np.float64]


def of_two_states(series: int, nights: int, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Gaussian nights, 30 % of them 4 sd up, and which."""
    rng = np.random.default_rng(seed)
    upper = rng.random((series, nights)) < 0.3
    return rng.normal(size=(series, nights)) + 4 * upper, upper


def mixed(values: Floats) -> float:
    """The robust standard deviation of all nights."""
    return float(1.4826 * np.median(np.abs(values - np.median(values))))


def test_states_are_found_where_they_are_and_nowhere_else() -> None:
    values, _ = of_two_states(1, 150, 1)
    plain = np.random.default_rng(1).normal(size=150)

    states = states_of(values[0] - values[0].mean(), mixed(values[0]))

    assert states is not None
    assert abs(states.apart - 4) < 0.5
    assert abs(states.width - 1) < 0.25
    assert states_of(plain, 1.0) is None


def test_a_step_leaves_of_nearly_every_night_what_its_state_does_not_explain() -> None:
    values, upper = of_two_states(1, 120, 2)
    stepped = values[0] + 3 * (np.arange(120) >= 80)
    places = np.array([80])
    rows = less_step(stepped[None, :], places)
    states = states_of(rows[0], mixed(rows[0]))
    assert states is not None

    left, told = without_states(stepped, rows, states, lambda moved: less_step(moved, places))

    assert np.count_nonzero(np.abs(left[0] - (values[0] - 4 * upper[0])) > 1.5) <= 6
    assert told.shape == (1,)


def test_a_step_in_noise_of_two_states_is_told_from_a_slope() -> None:
    values, _ = of_two_states(100, 100, 3)
    stepped = values + 3 * (np.arange(100) >= 85)

    margins = [step_over_drift(one, (mixed(one[:85]), 0.0), 4, math.nan, two_states=True)[0] for one in stepped]

    assert sum(margin > 0 for margin in margins) >= 80


def test_a_slope_in_noise_of_two_states_is_not_taken_for_a_step() -> None:
    values, _ = of_two_states(100, 130, 4)
    sloped = values + np.clip((np.arange(130) - 50) * 0.06, 0, None)

    margins = [step_over_drift(one, (mixed(one[:50]), 0.0), 4, math.nan, two_states=True)[0] for one in sloped]

    assert sum(margin < 0 for margin in margins) >= 85


def test_a_step_in_noise_of_two_states_has_its_place() -> None:
    values, _ = of_two_states(200, 110, 5)
    stepped = values + 3 * (np.arange(110) >= 90)

    places = [place_of_step(one, near(92, 110, 4, 15), 92, (mixed(one[:90]), 0.0)) for one in stepped]

    assert sum(abs(place - 90) <= 2 for place in places) >= 180


def test_no_place_is_invented_where_none_is_offered() -> None:
    assert place_of_step(np.zeros(6), near(3, 6, 4), 3, (1.0, 0.0)) == 3
