"""Learning, memorising, standing still: planted courses with noise, and how often each is called what."""

import random

import pytest

from perfd.domain.metric import Better
from perfd.domain.submission import Submission, best
from perfd.rules.gaming import Course, course, gaps, sentence


def submission(
    place: int, validation: tuple[float, ...], held_out: tuple[float, ...], better: Better = Better.LOWER
) -> Submission:
    return Submission(place, f"s{place}", 10.0 * place, "a" * 64, 100, "loss", "nats", better, validation, held_out)


def planted(levels: list[tuple[float, float]], noise: float, seed: int, repeats: int = 3) -> list[Submission]:
    """(validation, held-out) losses, each scored a few times with noise."""
    drawn = random.Random(seed)
    scores = [[tuple(drawn.gauss(level, noise) for _ in range(repeats)) for level in pair] for pair in levels]
    return [submission(place, pair[0], pair[1]) for place, pair in enumerate(scores)]


LEARNING = [(1.0 - 0.08 * step, 1.02 - 0.07 * step) for step in range(10)]
MEMORISING = [(1.0 - 0.08 * step, 1.02 + 0.01 * step) for step in range(10)]
STANDING = [(1.0, 1.02)] * 10


@pytest.mark.parametrize(("levels", "wanted"), [(LEARNING, Course.PROGRESS), (MEMORISING, Course.GAMING)])
def test_a_planted_course_is_called_what_it_is_in_every_one_of_200_draws(
    levels: list[tuple[float, float]], wanted: Course
) -> None:
    assert {wanted} == {course(planted(levels, 0.02, seed)) for seed in range(200)}


def test_noise_alone_is_called_gaming_in_at_most_one_of_a_hundred_draws() -> None:
    called = [course(planted(STANDING, 0.02, seed)) for seed in range(1000)]

    assert called.count(Course.GAMING) <= 10
    assert called.count(Course.NONE) >= 980


def test_a_small_loss_by_choosing_the_best_is_no_gaming() -> None:
    held = [(1.0 - 0.08 * step, 1.02 - 0.055 * step) for step in range(10)]

    assert Course.GAMING not in {course(planted(held, 0.02, seed)) for seed in range(200)}


def test_what_noise_does_not_tell_is_unsure() -> None:
    # Gained for certain on validation; on the held-out set a little less than half, and noise of that size.
    levels = [(1.0, 1.0), (0.5, 0.77)]

    assert {Course.UNSURE} == {course(planted(levels, 0.05, seed)) for seed in range(20)}


def test_without_repeated_scoring_the_numbers_are_taken_as_they_are() -> None:
    assert Course.GAMING is course([submission(0, (1.0,), (1.0,)), submission(1, (0.1,), (0.9,))])
    assert Course.PROGRESS is course([submission(0, (1.0,), (1.0,)), submission(1, (0.1,), (0.3,))])
    assert Course.NONE is course([submission(0, (1.0,), (1.0,)), submission(1, (1.0,), (0.5,))])


def test_higher_may_be_better() -> None:
    up = [submission(0, (0.1,), (0.1,), Better.HIGHER), submission(1, (0.9,), (0.1,), Better.HIGHER)]

    assert Course.GAMING is course(up)
    assert up[1] == best(tuple(up))
    assert "less than half of the gain" in sentence(up)


def test_one_submission_gains_nothing_and_unscored_ones_are_passed_over() -> None:
    lost = Submission(1, "s1", 5.0, "b" * 64, 3, "loss", "nats", Better.LOWER, reason="the scorer ended with 1")
    one = submission(0, (1.0,), (1.0,))

    assert Course.NONE is course([one, lost])
    assert () == gaps([one, lost])
    assert one == best((lost, one))


def test_a_submission_has_scores_on_both_sets_or_a_reason() -> None:
    with pytest.raises(ValueError, match="both sets or on none"):
        submission(0, (1.0,), ())
    with pytest.raises(ValueError, match="or a reason"):
        submission(0, (), ())
