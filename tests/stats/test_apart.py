"""Steps in Series so young that their noise is hardly known."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from perfd.stats.apart import OLDER
from perfd.stats.replay import replay
from perfd.stats.track import Event

Floats = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Floats]


def events(values: Floats) -> list[Event]:
    return list(replay(values[None, :], np.array([len(values)])).tracks[0].events)


def remembering(rng: np.random.Generator, nights: int) -> Floats:
    values = rng.normal(size=nights)
    for night in range(1, nights):
        values[night] = 0.6 * values[night - 1] + 0.8 * values[night]
    return values


NOISES: dict[str, Noise] = {
    "Gaussian": lambda rng, nights: rng.normal(size=nights),
    "t3": lambda rng, nights: rng.standard_t(3, nights),
    "bimodal": lambda rng, nights: rng.normal(size=nights) + 4 * (rng.random(nights) < 0.5),
    "outliers": lambda rng, nights: np.where(rng.random(nights) < 0.05, 8, 1) * rng.normal(size=nights),
    "AR(0.6)": remembering,
}


@pytest.mark.parametrize("before", [5, 8, 12, 20])
@pytest.mark.parametrize("size", [20.0, -60.0, 1000.0])
def test_a_step_far_beyond_all_noise_is_told_on_its_fourth_night(before: int, size: float) -> None:
    for seed in range(20):
        values = 5000.0 + np.random.default_rng((seed, before)).normal(size=before + 10)
        values[before:] += size

        found = [one for one in events(values) if one.kind == "step"]

        assert [before] == [one.index for one in found]
        assert found[0].flagged_at <= before + 3
        assert sum(found[0].interval) / 2 == pytest.approx(size / 5000.0, abs=5 / 5000.0)


@pytest.mark.parametrize("name", NOISES)
def test_young_noise_is_not_taken_for_two_levels(name: str) -> None:
    rng = np.random.default_rng(405)
    values = np.array([NOISES[name](rng, OLDER) for _ in range(400)]) + 100.0

    found = replay(values, np.full(len(values), OLDER)).tracks

    assert sum(one.kind == "step" for track in found for one in track.events) <= 2


def test_a_spike_of_three_nights_is_no_level() -> None:
    values = 100.0 + np.random.default_rng(7).normal(size=14)
    values[7:10] += 500.0

    assert [] == events(values)


def test_a_constant_series_that_moves_once_is_told() -> None:
    found = events(np.array([7.0] * 6 + [9.0] * 4))

    assert [("step", 6, 9)] == [(one.kind, one.index, one.flagged_at) for one in found]


def test_a_second_step_four_nights_after_the_first_is_told() -> None:
    values = np.array([1.0] * 12 + [1.08] * 4 + [1.25] * 4) * (1 + 0.004 * np.random.default_rng(3).normal(size=20))

    assert [12, 16] == [one.index for one in events(values) if one.kind == "step"]


def test_after_a_step_the_noise_before_it_still_counts() -> None:
    rng = np.random.default_rng(4)
    values = np.concatenate([rng.normal(100, 3, 60), rng.normal(150, 0.1, 5), rng.normal(153, 0.1, 5)])

    assert [60] == [one.index for one in events(values) if one.kind == "step"]
