import math

import numpy as np
import pytest

from perfd.rules.place import places

QUIET = [0.0, 1.0, -1.0, 0.5, -0.5, 0.0, 1.0, -1.0]


@pytest.mark.parametrize("shift", [5.0, 20.0, 1000.0])
def test_a_step_far_beyond_the_noise_has_one_place(shift: float) -> None:
    assert (8, 8) == places([*QUIET, shift, shift], 8, 0.0, shift, 1.0)


def test_a_night_in_the_middle_may_be_the_first_of_the_new_level_or_the_last_of_the_old() -> None:
    assert (8, 9) == places([*QUIET, 3.0, 6.0], 8, 0.0, 6.0, 1.0)
    assert (8, 9) == places([*QUIET, 3.0, 6.0], 9, 0.0, 6.0, 1.0)


def test_a_night_far_from_both_levels_decides_nothing() -> None:
    assert (8, 9) == places([*QUIET, 13.0, 25.0], 8, 0.0, 19.0, 1.0)


def test_the_place_that_was_given_is_always_among_them() -> None:
    assert (5, 8) == places([*QUIET, 9.0, 9.0, 9.0], 5, 0.0, 9.0, 1.0)


@pytest.mark.parametrize("scale", [0.0, math.nan, math.inf])
def test_without_a_known_noise_it_is_the_place_that_was_given(scale: float) -> None:
    assert (8, 8) == places([*QUIET, 9.0], 8, 0.0, 9.0, scale)


def test_a_value_stays_on_either_side() -> None:
    assert (1, 2) == places([5.0, 5.0, 9.0], 2, 0.0, 5.0, 1.0)


@pytest.mark.parametrize(("shift", "most"), [(2.0, 6.0), (5.0, 3.0)])
def test_the_true_place_is_among_few(shift: float, most: float) -> None:
    """Planted steps; the levels are those of the truth, the place is put at random within two nights of it."""
    rng = np.random.default_rng(20261130)
    spans = []
    held = 0
    for _ in range(500):
        values = rng.standard_normal(40)
        values[25:] += shift
        first, last = places(values.tolist(), 25 + int(rng.integers(-2, 3)), 0.0, shift, 1.0)
        held += first <= 25 <= last
        spans.append(last + 1 - first)
    assert held >= 485
    assert np.mean(spans) <= most
