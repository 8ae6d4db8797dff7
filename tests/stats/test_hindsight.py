"""The best cuts of a whole history, and what they leave of a Series that wanders."""

import numpy as np

from perfd.stats.hindsight import in_hindsight
from perfd.stats.replay import replay
from perfd.stats.segments import best_cuts


def wandering(seed: int, nights: int = 300) -> np.ndarray:
    return 100 + np.cumsum(np.random.default_rng(seed).normal(size=nights) * 0.3)


def test_the_best_cuts_are_at_the_planted_steps() -> None:
    values = 100 + np.random.default_rng(1).normal(size=200)
    values[60:] += 4
    values[140:] -= 3

    cuts = best_cuts(values, 4)

    assert 2 == len(cuts.places)
    assert np.allclose([60, 140], cuts.places, atol=2)
    assert cuts.phi < 0.3


def test_noise_and_a_constant_have_no_cuts() -> None:
    assert () == best_cuts(100 + np.random.default_rng(2).normal(size=200), 4).places
    assert () == best_cuts(np.full(50, 3.0), 4).places
    assert () == best_cuts(np.array([1.0, 2.0]), 4).places


def test_a_series_that_wanders_loses_its_chain_of_steps_and_keeps_a_jump() -> None:
    quiet, jumping = wandering(3), wandering(3)
    jumping[150:] += 12

    chains = [replay(values[None, :], np.array([300])).tracks[0].events for values in (quiet, jumping)]

    assert [] == [event for event in in_hindsight(quiet, chains[0]) if event.kind == "step"]
    (jump,) = (event for event in in_hindsight(jumping, chains[1]) if event.kind == "step")
    assert abs(jump.index - 150) <= 2


def test_what_the_nights_showed_stands_where_nothing_wanders() -> None:
    values = 100 + np.random.default_rng(4).normal(size=120)
    values[70:] += 5
    events = replay(values[None, :], np.array([120])).tracks[0].events

    assert events == in_hindsight(values, events)
