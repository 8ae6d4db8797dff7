import numpy as np
import pytest

from perfd.stats.levels import robust_levels
from perfd.stats.shape import robust_level


@pytest.mark.parametrize("rows", [1, 3, 5000])
def test_levels_side_by_side_are_what_each_is_alone(rows: int) -> None:
    random = np.random.default_rng(rows)
    values = [random.standard_t(2, size=length) for length in random.integers(4, 60, rows)]
    begins = np.array([random.integers(0, len(one) - 1) for one in values])
    ends = np.array([random.integers(begin + 1, len(one) + 1) for begin, one in zip(begins, values, strict=True)])
    scales = random.uniform(0.0, 2.0, rows)

    alone = [robust_level(one[a:b], scale) for one, a, b, scale in zip(values, begins, ends, scales, strict=True)]

    assert pytest.approx(alone, rel=1e-12, abs=1e-12) == robust_levels(values, begins, ends, scales)


def test_constant_values_are_their_level() -> None:
    two = np.array([0, 0]), np.array([3, 7])

    assert [0.1, 7.0] == robust_levels([np.full(9, 0.1), np.full(9, 7.0)], *two, np.zeros(2)).tolist()
