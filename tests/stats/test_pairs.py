"""The block fit: what it takes out, what it keeps, and where it says that it cannot know."""

import math

import numpy as np
import pytest

from perfd.errors import BadInputError
from perfd.stats.pairs import design, detectable, estimate, fit_windows, pair_signs, relative
from perfd.stats.student import t_quantile, t_two_sided


def in_pairs(windows: list[float]) -> list[tuple[float, float]]:
    """Windows in the order of measuring to (base, head) pairs."""
    made = zip(windows[::2], windows[1::2], pair_signs(len(windows) // 2), strict=True)
    return [(a, b) if sign > 0 else (b, a) for a, b, sign in made]


def test_the_order_is_abba_and_its_mirror() -> None:
    assert pair_signs(8) == (1, -1, -1, 1, 1, -1, -1, 1)


@pytest.mark.parametrize(("n", "df"), [(1, 0), (2, 1), (3, 2), (4, 4), (5, 5), (6, 7), (10, 13), (40, 58)])
def test_noise_has_one_and_a_half_degrees_of_freedom_a_pair(n: int, df: int) -> None:
    assert df == design(pair_signs(n)).df


def test_without_outliers_it_is_least_squares() -> None:
    values = 1e-3 * np.random.default_rng(1).uniform(-1.0, 1.0, 24)
    plan = design(pair_signs(12))

    difference, error, spread = fit_windows(values, plan)

    rest = values - plan.fit @ values
    sigma = math.sqrt(float(rest @ rest) / plan.df)
    assert pytest.approx(float(plan.difference @ values), abs=0.2 * sigma) == float(difference)
    assert pytest.approx(sigma, rel=0.3) == float(spread)
    assert pytest.approx(sigma * math.sqrt(2 / 12), rel=0.35) == float(error)


@pytest.mark.parametrize("n", [3, 4, 5, 8, 13])
def test_a_straight_drift_moves_nothing_and_widens_nothing(n: int) -> None:
    noise = np.random.default_rng(n).normal(0.0, 0.01, 2 * n)

    still = estimate(in_pairs(list(noise)))
    drifting = estimate(in_pairs(list(noise + 0.05 * np.arange(2 * n))))

    assert pytest.approx(still.difference, abs=1e-9) == drifting.difference
    assert pytest.approx(still.error, rel=1e-6) == drifting.error


def test_a_bent_drift_cancels_over_a_block_and_its_mirror() -> None:
    bent = 0.001 * np.arange(8.0) ** 2

    assert pytest.approx(0.0, abs=1e-12) == float(design(pair_signs(4)).difference @ bent)


def test_levels_of_blocks_do_not_matter() -> None:
    noise = np.random.default_rng(4).normal(0.0, 0.01, 16)
    jumping = noise + np.repeat([0.0, 3.0, -2.0, 5.0], 4)

    assert pytest.approx(estimate(in_pairs(list(noise))).difference, abs=1e-9) == estimate(in_pairs(list(jumping))).difference


def test_one_disturbed_window_neither_decides_nor_hides() -> None:
    windows = np.random.default_rng(5).normal(0.0, 0.01, 32) + design(pair_signs(16)).difference * 8 * 0.03
    clean = estimate(in_pairs(list(windows)))
    windows[7] += 1.0

    struck = estimate(in_pairs(list(windows)))

    assert abs(struck.difference - clean.difference) < 0.6 * clean.error
    assert struck.error < 1.6 * clean.error


def test_the_head_above_the_base_is_positive_in_either_order() -> None:
    pairs = [(1.0, 1.5), (1.01, 1.49), (0.99, 1.5), (1.0, 1.51)]

    assert estimate(pairs).difference == pytest.approx(0.5, abs=0.02)
    assert estimate(pairs, [-1, 1, 1, -1]).difference == pytest.approx(0.5, abs=0.02)


def test_too_few_pairs_leave_the_whole_line() -> None:
    assert estimate([]).interval(0.01) == (-math.inf, math.inf)
    assert estimate([(1.0, 2.0)]).interval(0.01) == (-math.inf, math.inf)
    assert estimate([(1.0, 2.0)]).difference == 1.0
    assert math.isinf(detectable(estimate([(1.0, 2.0)]), 0.01))


def test_agreement_below_the_floor_is_not_precision() -> None:
    equal = [(1.0, 1.0)] * 4

    assert estimate(equal, floor=0.001).spread == 0.001
    assert estimate(equal, floor=0.001).error > 0.0


def test_the_interval_covers_as_often_as_it_says() -> None:
    plan = design(pair_signs(8))
    windows = np.random.default_rng(6).normal(size=(20_000, 16))

    difference, error, _ = fit_windows(windows, plan)

    outside = np.abs(difference) > t_quantile(0.05, float(plan.df)) * error
    assert 0.04 < float(outside.mean()) < 0.06


def test_autocorrelated_noise_errs_on_the_safe_side() -> None:
    rng = np.random.default_rng(7)
    windows = rng.normal(size=(10_000, 20))
    for place in range(1, 20):
        windows[:, place] = 0.6 * windows[:, place - 1] + 0.8 * windows[:, place]
    plan = design(pair_signs(10))

    difference, error, _ = fit_windows(windows, plan)

    assert float((np.abs(difference) > t_quantile(0.01, float(plan.df)) * error).mean()) < 0.01


def test_positive_values_are_compared_by_their_logarithms() -> None:
    scaled, logarithmic = relative([(2.0, 4.0)])

    assert logarithmic
    assert scaled[0][1] - scaled[0][0] == pytest.approx(math.log(2.0))


def test_zeros_are_compared_as_shares_of_the_base() -> None:
    assert relative([(0.0, 1.0), (4.0, 3.0)]) == ([(0.0, 0.5), (2.0, 1.5)], False)
    assert relative([(0.0, 3.0)]) == ([(0.0, 3.0)], False)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_value_that_is_no_number_is_named_with_its_place(bad: float) -> None:
    with pytest.raises(BadInputError, match=r"pair 1 is .*expected two finite numbers"):
        relative([(1.0, 1.0), (1.0, bad)])


@pytest.mark.parametrize(
    ("p", "df", "t"),
    [(0.05, 1.0, 12.7062), (0.05, 10.0, 2.22814), (0.01, 30.0, 2.75000), (0.001, 4.0, 8.61030), (0.05, 1e6, 1.95997)],
)
def test_student_quantiles_are_those_of_the_tables(p: float, df: float, t: float) -> None:
    assert t_quantile(p, df) == pytest.approx(t, rel=1e-5)
    assert t_two_sided(t, df) == pytest.approx(p, rel=1e-4)


def test_no_tail_is_infinite_and_the_whole_is_zero() -> None:
    assert math.isinf(t_quantile(0.0, 5.0))
    assert t_quantile(1.0, 5.0) == 0.0
