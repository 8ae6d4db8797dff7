"""Looking again and again: the levels hold the total error, with noise of every kind tried."""

import numpy as np
import pytest

from perfd.stats.pairs import Floats, design, fit_windows, pair_signs
from perfd.stats.sequential import nominal_level, share
from perfd.stats.student import t_quantile

COMPARISONS = 4000


def ever_outside(windows: Floats, cap: int, alpha: float) -> float:
    """How often the interval of any look from the third pair on leaves out zero."""
    outside = np.zeros(len(windows), dtype=bool)
    for n in range(3, cap + 1):
        plan = design(pair_signs(n))
        difference, error, _ = fit_windows(windows[:, : 2 * n], plan)
        outside |= np.abs(difference) > t_quantile(nominal_level(n, cap, alpha), float(plan.df)) * error
    return float(outside.mean())


def gauss(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape)


def heavy(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.standard_t(3, size=shape)


def outliers(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape) + (rng.random(shape) < 0.05) * rng.uniform(5, 15, shape)


def two_states(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape) + 4.0 * (rng.random(shape) < 0.3)


@pytest.mark.parametrize("noise", [gauss, heavy, outliers, two_states])
def test_looking_after_every_pair_errs_no_more_than_alpha(noise: object) -> None:
    assert callable(noise)
    windows = noise(np.random.default_rng(11), (COMPARISONS, 48))

    # 0.05 and three standard errors of this simulation.
    assert ever_outside(windows, 24, 0.05) < 0.05 + 3 * (0.05 * 0.95 / COMPARISONS) ** 0.5


def test_the_levels_are_not_wasted() -> None:
    windows = np.random.default_rng(12).normal(size=(COMPARISONS, 40))

    assert ever_outside(windows, 20, 0.1) > 0.07


@pytest.mark.parametrize("alpha", [0.2, 0.1, 0.03, 0.01, 0.001, 1e-5])
def test_more_looks_make_each_stricter(alpha: float) -> None:
    shares = [share(cap, alpha) for cap in (3, 4, 7, 20, 45, 60, 100, 400)]

    assert shares == sorted(shares, reverse=True)
    assert all(nominal_level(n, cap, alpha) <= alpha for cap in (3, 10, 60) for n in range(3, cap + 1))


def test_a_stricter_error_is_stricter_at_every_look() -> None:
    assert all(nominal_level(n, 40, 0.01) < nominal_level(n, 40, 0.05) for n in range(3, 41))
