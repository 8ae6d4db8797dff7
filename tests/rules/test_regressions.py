from dataclasses import replace

import pytest

from perfd.domain.verdict import ChangeKind, ChangeStatus, RegressionState
from perfd.rules.regressions import Join, Known, Move, Open, Standing, act, grouped

SUSPECT, DETECTED = ChangeStatus.SUSPECT, ChangeStatus.DETECTED
ITL = Standing(
    change=1,
    series=10,
    place=0,
    subject="llama",
    build="b8",
    revision="c8" * 20,
    title="Check every token twice",
    label="chat chat itl_s",
    kind=ChangeKind.STEP,
    status=SUSPECT,
    worse=True,
    effect=0.05,
    before=0.010,
    after=0.0105,
    relevant=0.02,
    rank=8,
    noise=0.01,
)
TTFT = replace(ITL, change=2, series=11, label="chat chat ttft_s", effect=0.2, noise=0.1)
OPEN = Known(7, RegressionState.CONFIRMED, "llama", "b8", (1,), 8)


def test_changes_at_one_build_are_one_regression_ranked_by_effect_over_noise() -> None:
    (opened,) = act([TTFT, ITL], [])

    assert isinstance(opened, Open)
    assert (1, 2) == opened.changes
    assert "llama: chat chat itl_s +5.0 % and 1 more Series since c8c8c8c8c8c8 Check every token twice" == opened.title
    assert RegressionState.SUSPECT == opened.state


@pytest.mark.parametrize(("apart", "regressions"), [(1, 1), (2, 1), (3, 2)])
def test_changes_at_neighbouring_builds_belong_together(apart: int, regressions: int) -> None:
    assert regressions == len(act([ITL, replace(TTFT, build="other", rank=8 + apart)], []))


def test_two_changes_of_one_series_are_two_regressions() -> None:
    second = replace(ITL, change=3, place=1, build="b9", rank=9)

    assert [(1,), (3,)] == [one.changes for one in act([ITL, second], []) if isinstance(one, Open)]


def test_changes_of_two_subjects_or_directions_are_never_one() -> None:
    better = replace(TTFT, worse=False)

    assert [1, 1] == [len(group) for group in grouped([ITL, replace(TTFT, subject="vllm")])]
    assert [1, 1] == [len(group) for group in grouped([ITL, better])]


def test_a_change_that_shows_later_joins_the_open_regression() -> None:
    later = replace(TTFT, build="b9", rank=9)

    assert (Join(7, (2,)),) == act([replace(ITL, regression=7), later], [OPEN])


def test_a_change_does_not_join_a_suspect_that_went_away() -> None:
    known = replace(OPEN, state=RegressionState.SUSPECT)
    over = replace(ITL, kind=ChangeKind.TRANSIENT, regression=7)

    opened, move = act([over, replace(TTFT, build="b9", rank=9)], [known])

    assert isinstance(opened, Open)
    assert isinstance(move, Move)
    assert ((2,), RegressionState.NOISE) == (opened.changes, move.new)


def test_what_was_detected_lives_on_in_a_change_that_joins_it() -> None:
    known = replace(OPEN, state=RegressionState.DETECTED)
    over = replace(ITL, kind=ChangeKind.TRANSIENT, regression=7)

    assert (Join(7, (2,)),) == act([over, replace(TTFT, build="b9", rank=9)], [known])


def test_a_change_that_was_lost_for_a_night_comes_back_to_its_regression() -> None:
    again = replace(ITL, change=5, status=DETECTED)

    assert (Join(7, (5,)),) == act([again], [OPEN])


def test_improvements_modes_and_spikes_open_nothing() -> None:
    kinds = (ChangeKind.MODE, ChangeKind.TRANSIENT, ChangeKind.VARIANCE)

    assert () == act([replace(ITL, worse=False), *(replace(ITL, kind=kind) for kind in kinds)], [])


def test_a_dependency_is_named_as_a_suspect_beside_the_commit() -> None:
    (opened,) = act([replace(ITL, cause="torch 2.12.0 → 2.13.0")], [])

    assert isinstance(opened, Open)
    assert "Suspects are the commit c8c8c8c8c8c8 and torch 2.12.0 → 2.13.0" in opened.reason


def test_a_suspect_becomes_detected_when_its_series_shows_it() -> None:
    known = replace(OPEN, state=RegressionState.SUSPECT)

    (move,) = act([replace(ITL, status=DETECTED, regression=7)], [known])

    assert isinstance(move, Move)
    assert RegressionState.DETECTED == move.new


@pytest.mark.parametrize("left", [(), (replace(ITL, kind=ChangeKind.TRANSIENT, regression=7),)])
def test_a_suspect_that_went_away_is_noise(left: tuple[Standing, ...]) -> None:
    (move,) = act(left, [replace(OPEN, state=RegressionState.SUSPECT)])

    assert isinstance(move, Move)
    assert RegressionState.NOISE == move.new


def test_what_was_confirmed_is_not_taken_back_by_a_quiet_night() -> None:
    assert () == act([], [OPEN])


def test_what_was_confirmed_and_lasted_only_a_few_nights_is_fixed() -> None:
    (move,) = act([replace(ITL, kind=ChangeKind.TRANSIENT, change=9)], [OPEN])

    assert isinstance(move, Move)
    assert RegressionState.FIXED == move.new


def test_a_lasting_step_back_fixes_it_and_names_the_commit() -> None:
    back = replace(ITL, change=3, place=1, worse=False, status=DETECTED, before=0.0105, after=0.01, revision="f" * 40)

    (move,) = act([replace(ITL, regression=7, status=DETECTED), back], [OPEN])

    assert isinstance(move, Move)
    assert RegressionState.FIXED == move.new
    assert "ffffffffffff" in move.reason


def test_a_counted_metric_is_confirmed_by_counting_again() -> None:
    known = replace(OPEN, state=RegressionState.SUSPECT)
    once = replace(ITL, regression=7, counted=True, nights=1)

    assert () == act([once], [known])
    (move,) = act([replace(once, nights=2)], [known])
    assert isinstance(move, Move)
    assert RegressionState.CONFIRMED == move.new


def test_doing_it_and_asking_again_gives_nothing() -> None:
    assert () == act([replace(ITL, regression=7)], [OPEN])
