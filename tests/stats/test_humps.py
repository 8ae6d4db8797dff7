"""Noise of two states is known as such, by its humps; one hump is not taken for two."""

import numpy as np

from perfd.stats.density import histogram, log_density, to_bins
from perfd.stats.humps import humps_of

_SERIES, _NIGHTS = 400, 80


def _two_states(rng: np.random.Generator) -> np.ndarray:
    return (rng.normal(size=(_SERIES, _NIGHTS)) + 4 * (rng.random((_SERIES, _NIGHTS)) < 0.3)).astype(np.float32)


def _clear(values: np.ndarray) -> float:
    every = np.ones(values.shape, dtype=np.bool_)
    return float(humps_of(histogram(to_bins(values), every)).clear.mean())


def test_two_states_are_clear_and_one_hump_is_not() -> None:
    rng = np.random.default_rng(31)

    assert _clear(_two_states(rng)) > 0.9
    assert _clear(rng.normal(size=(_SERIES, _NIGHTS)).astype(np.float32)) < 0.04
    assert _clear((rng.standard_t(3, size=(_SERIES, _NIGHTS)) / np.sqrt(3)).astype(np.float32)) < 0.04


def test_too_few_nights_show_no_humps() -> None:
    values = _two_states(np.random.default_rng(32))

    assert _clear(values[:, :39]) == 0.0


def test_the_place_between_two_states_is_unlikely_and_both_of_them_are_not() -> None:
    values = np.tile(np.array([0.0, 0.5, -0.5, 0.0, 6.0, 6.5, 5.5, 0.0], dtype=np.float32), 10)[None, :]
    table = log_density(to_bins(values), np.ones(values.shape, dtype=np.bool_))[0]
    low, between, high = (float(table[to_bins(np.array([place], dtype=np.float32))[0]]) for place in (0.0, 3.0, 6.0))

    assert low > high > between + 2
