"""Which of the newest nights a wider spread may not count, as they may be the first of a step."""

import numpy as np
import pytest

from perfd.stats.spread import first_of_step


def left_out(newest: list[float], *, suspect: bool = False, unrest: float = 0.0, light: bool = True) -> int:
    white = np.concatenate([np.zeros(20), newest]).astype(np.float32)[None, :]
    return int(first_of_step(white, np.array([suspect]), np.array([unrest]), np.array([light]))[0])


@pytest.mark.parametrize(
    ("newest", "nights"),
    [
        ([6.0, 0.3], 0),  # the newest night is near the level again
        ([0.3, 6.0], 1),
        ([6.0, 6.0], 2),
        ([-6.0, 6.0], 1),  # on the other side: no step
        ([-5.0, -1.2, -4.0], 3),
        ([6.0, 6.0, 6.0, 6.0, 6.0], 3),  # four nights are a step of their own
        ([0.5, 3.1], 0),
    ],
)
def test_far_nights_on_one_side_may_be_the_first_of_a_step(newest: list[float], nights: int) -> None:
    assert left_out(newest) == nights


def test_a_suspect_may_be_the_first_of_a_step_however_far_it_is() -> None:
    assert left_out([0.4, 2.9], suspect=True) == 1


def test_nights_that_are_restless_beyond_doubt_count_in_full() -> None:
    assert left_out([2.0, 4.0], unrest=9.0) == 0
    assert left_out([2.0, 4.0], unrest=9.0, light=False) == 2
    assert left_out([2.0, 6.0], unrest=9.0) == 2
