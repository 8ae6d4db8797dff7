"""Bisection on histories whose truth is planted; tests/benchmarks/bisections.py has the rates."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfd.domain.bisect import Answer, BisectEnd, Place
from perfd.domain.verdict import Outcome
from perfd.rules.bisect import Build, Compare, Ended, Limits, State, default_builds, next_step, stopped

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from bisect_worlds import History, Replay, is_right, planted, warming

EFFECT = 0.05


def path(length: int) -> tuple[Place, ...]:
    return tuple(Place(f"c{place:03d}") for place in range(length))


def known(length: int, words: dict[int, Outcome], **rest: object) -> State:
    """A state in which every Build is there, and those places were compared with the good end; the last is worse."""
    answers = [answered(0, place, outcome) for place, outcome in {length - 1: Outcome.WORSE, **words}.items()]
    limits = Limits(99, math.inf)
    made = {"path": path(length), "limits": limits, "answers": tuple(answers), "built": frozenset(range(length)), **rest}
    return State(**made)  # type: ignore[arg-type]


def answered(base: int, head: int, outcome: Outcome, effect: float = EFFECT) -> Answer:
    return Answer(base, head, outcome, 10, f"{head} is {outcome}", effect, (effect - 0.01, effect + 0.01))


def replay(history: History, seed: int, limits: Limits | None = None) -> tuple[Ended, State]:
    return Replay(history, np.random.default_rng(seed)).run(limits)


def test_the_ends_are_built_and_compared_first() -> None:
    state = State(path(9), Limits(9, math.inf))

    first = next_step(state)
    assert isinstance(first, Build)
    assert 0 == first.place
    second = next_step(replace(state, built=frozenset({0})))
    assert isinstance(second, Build)
    assert 8 == second.place
    third = next_step(replace(state, built=frozenset({0, 8})))
    assert isinstance(third, Compare)
    assert (0, 8) == (third.base, third.head)


@pytest.mark.parametrize("outcome", [Outcome.SAME, Outcome.UNSURE, Outcome.NOT_COMPARABLE])
def test_ends_that_do_not_differ_are_not_reproduced_and_nothing_more_is_asked(outcome: Outcome) -> None:
    state = replace(known(9, {}), answers=(answered(0, 8, outcome),))

    ended = next_step(state)

    assert isinstance(ended, Ended)
    assert BisectEnd.NOT_REPRODUCED == ended.end
    assert f"the two ends are {outcome}" in ended.reason


def test_an_improvement_is_searched_for_as_a_regression_is() -> None:
    levels = tuple(0.0 if place < 5 else math.log(0.9) for place in range(12))

    ended, _ = replay(History(levels), 1)

    assert (BisectEnd.COMMIT, 5) == (ended.end, ended.bad)


@pytest.mark.parametrize("length", [2, 3, 8, 31, 100])
@pytest.mark.parametrize("where", ["first", "middle", "last"])
def test_a_planted_commit_is_found_wherever_it_stands(length: int, where: str) -> None:
    at = {"first": 1, "middle": length // 2, "last": length - 1}[where]

    ended, state = replay(planted(length, {at: 0.08}), 3)

    assert (BisectEnd.COMMIT, at, at - 1) == (ended.end, ended.bad, ended.good)
    assert state.builds_made <= default_builds(length)


def test_two_ends_that_are_neighbours_need_one_comparison() -> None:
    ended = next_step(known(2, {}))

    assert isinstance(ended, Ended)
    assert (BisectEnd.COMMIT, 1) == (ended.end, ended.bad)


def test_one_commit_with_other_dependencies_ends_in_the_dependencies() -> None:
    state = replace(known(2, {}), path=(Place("abc", build="1" * 64), Place("abc", build="2" * 64)))

    ended = next_step(state)

    assert isinstance(ended, Ended)
    assert BisectEnd.DEPENDENCIES == ended.end


def test_dependencies_that_changed_at_an_end_are_told_from_the_commits_between() -> None:
    places = (Place("a", build="1" * 64), Place("a"), Place("b"), Place("c"))
    old, new = (replace(known(4, {}), path=places) for _ in range(2))

    dependency = replace(old, answers=(*old.answers, answered(0, 1, Outcome.WORSE)))
    ended = next_step(dependency)
    assert isinstance(ended, Ended)
    assert (BisectEnd.DEPENDENCIES, 1) == (ended.end, ended.bad)

    words = [answered(0, 1, Outcome.SAME), answered(0, 2, Outcome.WORSE), answered(1, 2, Outcome.WORSE)]
    ended = next_step(replace(new, answers=(*new.answers, *words)))
    assert isinstance(ended, Ended)
    assert (BisectEnd.COMMIT, 2) == (ended.end, ended.bad)


def test_a_commit_is_compared_with_the_one_before_it_before_it_is_blamed() -> None:
    asked = next_step(known(8, {3: Outcome.SAME, 4: Outcome.WORSE}))

    assert isinstance(asked, Compare)
    assert (3, 4) == (asked.base, asked.head)


def test_a_contradiction_is_asked_again_and_a_wrong_answer_is_mended() -> None:
    state = known(8, {3: Outcome.WORSE, 2: Outcome.SAME})
    state = replace(state, answers=(*state.answers, answered(2, 3, Outcome.SAME)))

    again = next_step(state)
    assert isinstance(again, Compare)
    assert (0, 3) == (again.base, again.head)

    mended = replace(state, answers=(*state.answers, answered(0, 3, Outcome.SAME)))
    further = next_step(mended)
    assert isinstance(further, Compare)
    assert (0, 5) == (further.base, further.head)


def test_a_difference_that_crept_in_is_no_single_commits() -> None:
    levels = tuple(place * 0.004 for place in range(16))

    ended, _ = replay(History(levels, sigma=0.001), 5)

    assert (BisectEnd.RANGE, 0, 15) == (ended.end, ended.good, ended.bad)
    assert "spread over several" in ended.reason


def test_an_unsure_place_has_its_neighbours_asked_and_is_asked_again_last() -> None:
    state = known(5, {2: Outcome.UNSURE})

    neighbour = next_step(state)
    assert isinstance(neighbour, Compare)
    assert 1 == neighbour.head

    rest = replace(state, answers=(*state.answers, answered(0, 1, Outcome.SAME), answered(0, 3, Outcome.WORSE)))
    again = next_step(rest)
    assert isinstance(again, Compare)
    assert (0, 2) == (again.base, again.head)

    ended = next_step(replace(rest, answers=(*rest.answers, answered(0, 2, Outcome.UNSURE))))
    assert isinstance(ended, Ended)
    assert (BisectEnd.RANGE, 1, 3) == (ended.end, ended.good, ended.bad)
    assert "1 stayed unsure" in ended.reason


def test_broken_commits_are_left_by_growing_strides() -> None:
    state = known(64, {}, broken={31: "no", 32: "no", 30: "no"})

    asked = next_step(state)

    assert isinstance(asked, Compare)
    assert asked.head == 36


@pytest.mark.parametrize(("at", "inside"), [(20, True), (40, False)])
def test_a_range_that_cannot_be_built_is_told_as_a_range_and_no_more_than_it(at: int, *, inside: bool) -> None:
    broken = frozenset(range(12, 25))

    ended, _ = replay(planted(64, {at: 0.08}, broken), 7, Limits(99, math.inf))

    if inside:
        assert (BisectEnd.RANGE, 11, 25) == (ended.end, ended.good, ended.bad)
        assert "of the 13 places in between, 13 could not be built or measured" in ended.reason
    else:
        assert (BisectEnd.COMMIT, 40) == (ended.end, ended.bad)


@pytest.mark.parametrize("end", [0, 8])
def test_an_end_that_cannot_be_built_ends_it(end: int) -> None:
    ended = next_step(State(path(9), Limits(9, 60.0), broken={end: "cc: error"}))

    assert isinstance(ended, Ended)
    assert BisectEnd.NOT_REPRODUCED == ended.end
    assert "cc: error" in ended.reason


def test_a_build_that_is_there_is_preferred_near_the_middle_and_not_far_from_it() -> None:
    state = known(33, {}, built=frozenset({0, 32, 12}))
    near = next_step(state)
    assert isinstance(near, Compare)
    assert 12 == near.head

    far = next_step(replace(state, built=frozenset({0, 32, 4})))
    assert isinstance(far, Build)
    assert 16 == far.place


def test_without_builds_left_those_that_are_there_still_narrow_the_range() -> None:
    state = known(33, {}, built=frozenset({0, 4, 32}), builds_made=3)
    state = replace(state, limits=Limits(3, math.inf))

    asked = next_step(state)
    assert isinstance(asked, Compare)
    assert 4 == asked.head

    ended = next_step(replace(state, answers=(*state.answers, answered(0, 4, Outcome.SAME))))
    assert isinstance(ended, Ended)
    assert (BisectEnd.RANGE, 4, 32) == (ended.end, ended.good, ended.bad)
    assert "the budget of 3 is spent" in ended.reason


def test_spent_minutes_end_it_with_what_is_known() -> None:
    state = known(33, {16: Outcome.WORSE}, device_s=600.0)

    ended = next_step(replace(state, limits=Limits(99, 600.0)))

    assert isinstance(ended, Ended)
    assert (BisectEnd.RANGE, 0, 16) == (ended.end, ended.good, ended.bad)
    assert "the budget of 10 device minutes is spent" in ended.reason


def test_two_comparisons_without_any_pair_end_it() -> None:
    dead = [Answer(0, place, Outcome.UNSURE, 0, "nobody measured it", final=False) for place in (16, 15)]
    state = known(33, {})

    ended = next_step(replace(state, answers=(*state.answers, *dead)))

    assert isinstance(ended, Ended)
    assert BisectEnd.RANGE == ended.end
    assert "nobody measured it" in ended.reason


def test_stopping_before_the_ends_were_compared_is_not_reproduced() -> None:
    assert BisectEnd.NOT_REPRODUCED == stopped(State(path(4), Limits(1, 1.0)), "the suite is gone").end


def test_a_commit_that_brings_only_a_part_says_where_the_rest_is() -> None:
    ended, _ = replay(replace(planted(16, {4: 0.10, 12: 0.10}), sigma=0.003), 11)

    assert BisectEnd.COMMIT == ended.end
    assert ended.bad in {4, 12}
    assert "for the rest" in ended.reason or ended.bad == 12


def test_a_decided_answer_has_a_size() -> None:
    with pytest.raises(ValueError, match="has an effect"):
        Answer(0, 1, Outcome.WORSE, 4)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(0, 2**32), st.floats(0.0, 0.6))
def test_it_always_ends_with_a_reason_and_within_its_budget(length: int, seed: int, breakage: float) -> None:
    rng = np.random.default_rng(seed)
    at = int(rng.integers(1, length))
    broken = frozenset(place for place in range(length) if rng.random() < breakage)
    limits = Limits(int(rng.integers(0, 20)), float(rng.uniform(0.0, 2e4)))

    ended, state = replay(planted(length, {at: 0.05}, broken, warming), seed, limits)

    assert ended.reason
    assert 0 <= ended.good < ended.bad < length
    assert state.builds_made <= limits.builds
    assert ended.end is not BisectEnd.COMMIT or ended.bad - ended.good == 1


def test_the_planted_commit_is_found_through_noise_drift_and_breakage() -> None:
    right = 0
    for seed in range(30):
        rng = np.random.default_rng([17, seed])
        broken = frozenset(place for place in range(1, 63) if rng.random() < 0.1)
        history = planted(64, {int(rng.integers(1, 64)): 0.05}, broken, warming)
        right += is_right(history, Replay(history, rng).run()[0])

    assert right >= 28
