"""A step is blamed on the Build at which measuring again finds it, wherever the nights have put it."""

from pathlib import Path

import pytest
from placed_world import Placed, placed_world
from store_world import FIRST_NIGHT

from perfd.domain.verdict import RegressionState
from perfd.stages.confirm_arms import confirmed_pair
from perfd.store import Store


@pytest.fixture
def placed(store: Store, tmp_path: Path) -> Placed:
    return placed_world(store, tmp_path)


def test_a_slowdown_on_the_night_after_a_suspect_is_told_at_its_own_build(placed: Placed) -> None:
    placed.slower_from, placed.shaky = {"itl_s": (9, 1.25)}, {"ttft_s": 0.06}
    placed.two(1.3, 1.0)  # a busy machine: commit 8 is not slower, and a re-measurement on it stays unsure
    assert [RegressionState.SUSPECT] == [row.state for row in placed.regressions()]

    placed.two(1.0, 1.25)  # … and it is over

    (found,) = placed.confirmed()
    assert (9, "llama: chat chat itl_s +25.0 % since 000000000000 Commit 9") == found
    assert 1 == len(placed.messages())


@pytest.mark.parametrize("ttft", [1.1, 1.3])  # the weaker and the stronger of the two
def test_where_the_suspect_of_the_build_before_still_stands_the_new_build_is_compared_next(placed: Placed, ttft: float) -> None:
    placed.slower_from, placed.shaky = {"itl_s": (9, 1.25)}, {"ttft_s": 0.06}
    placed.two(ttft, 1.0)
    placed.two(ttft, 1.25)  # the machine stays busy

    assert [(7, 8), (8, 9)] == placed.compared()
    assert [9] == [commit for commit, _ in placed.confirmed()]


def test_a_good_build_measured_between_the_levels_is_not_blamed_for_the_next_one(placed: Placed) -> None:
    placed.slower_from = {"itl_s": (9, 1.05)}
    placed.two(1.0, 1.03)
    placed.two(1.0, 1.06)

    assert [(7, 8), (7, 9)] == placed.compared()
    assert [9] == [commit for commit, _ in placed.confirmed()]
    assert 1 == len(placed.messages())


def test_a_slow_build_that_was_lucky_on_its_first_night_is_found_behind_its_successor(placed: Placed) -> None:
    placed.slower_from = {"itl_s": (8, 1.045)}
    placed.two(1.0, 1.02)
    placed.two(1.0, 1.06)

    assert [(8, 9), (7, 9)] == placed.compared()
    assert [8] == [commit for commit, _ in placed.confirmed()]
    counted = placed.store.trust.false_alarms(FIRST_NIGHT)
    assert (1, 0) == (counted.remeasured, counted.refuted)


def test_a_slow_build_that_looked_good_on_its_first_night_does_not_hide_behind_refuted_ones(placed: Placed) -> None:
    placed.slower_from = {"itl_s": (8, 1.045)}
    placed.two(1.0, 1.005)
    placed.two(1.0, 1.06)
    assert [RegressionState.NOISE] == [row.state for row in placed.regressions()]

    placed.two(1.0, 1.055)

    assert [(8, 9), (9, 10), (2, 10)] == placed.compared()
    ((commit, title),) = placed.confirmed()
    assert 9 == commit
    assert "or a Build before it" in title


def test_builds_that_nothing_tells_apart_are_blamed_together_and_searched_by_a_bisection(placed: Placed) -> None:
    placed.slower_from = {"itl_s": (8, 1.045)}
    for value in (1.025, 1.024, 1.06):
        placed.two(1.0, value)

    assert [(9, 10), (7, 10)] == placed.compared()
    ((commit, title),) = placed.confirmed()
    assert 9 == commit
    assert title.endswith("since 000000000000 Commit 9, or a Build before it and after 000000000000")
    pair = confirmed_pair(placed.context, 1)
    assert pair is not None
    assert [7, 9] == [placed.number(build) for build in pair]


def test_what_is_the_same_at_its_place_and_around_it_is_noise(placed: Placed) -> None:
    placed.two(1.0, 1.03)
    placed.two(1.0, 1.06)

    assert [(7, 8), (7, 9)] == placed.compared()
    assert [RegressionState.NOISE] == [row.state for row in placed.regressions()]
    assert [] == placed.messages()
    counted = placed.store.trust.false_alarms(FIRST_NIGHT)
    assert (1, 1) == (counted.remeasured, counted.refuted)


def test_a_slowdown_on_the_night_after_a_refuted_one_of_its_own_series_is_told(placed: Placed) -> None:
    placed.slower_from = {"itl_s": (9, 1.25)}
    placed.two(1.0, 1.13)  # a busy machine
    placed.two(1.0, 1.25)

    assert [RegressionState.NOISE, RegressionState.CONFIRMED] == [row.state for row in placed.regressions()]
    assert [9] == [commit for commit, _ in placed.confirmed()]


def test_a_spike_that_no_noise_explains_is_compared_once(placed: Placed) -> None:
    placed.two(1.0, 1.3)

    assert [(7, 8)] == placed.compared()
    assert [RegressionState.NOISE] == [row.state for row in placed.regressions()]


def test_a_place_that_is_off_waits_for_the_next_night_when_the_minutes_are_spent(store: Store, tmp_path: Path) -> None:
    placed = placed_world(store, tmp_path, minutes=1.5)
    placed.slower_from = {"itl_s": (9, 1.05)}
    placed.two(1.0, 1.03)
    placed.two(1.0, 1.06)
    assert [] == placed.messages()

    placed.two(1.0, 1.06)

    assert [9] == [commit for commit, _ in placed.confirmed()]
    assert 1 == len(placed.messages())
