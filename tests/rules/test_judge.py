"""Verdicts: too few, not comparable, same, worse, better, a machine's fault, a suspect."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from perfd.domain.metric import METRICS
from perfd.domain.run import Point
from perfd.domain.verdict import ChangeKind, ChangeStatus, Outcome
from perfd.rules.judge import judge_series, reduce_samples
from perfd.rules.policy import Policy

TPOT, RATE, REGISTERS = METRICS["tpot_s"], METRICS["output_tokens_per_s"], METRICS["registers"]


def point(night: int, value: float, *, build: str | None = None, hardware: str = "h", epoch: str = "") -> Point:
    name = build or f"build{night}"
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=night)
    return Point(f"run{night}", name, f"rev-{name}", night, f"night:{night}", at, value, None, 1, hardware, epoch)


def series(values: Sequence[float]) -> list[Point]:
    return [point(night, float(value)) for night, value in enumerate(values)]


def calm(nights: int, seed: int = 3) -> list[float]:
    return list(0.02 * (1 + 0.003 * np.random.default_rng(seed).normal(size=nights)))


def test_too_few_points_are_unsure_and_say_how_many_are_needed() -> None:
    verdict = judge_series(series(calm(3)), TPOT).verdict

    assert Outcome.UNSURE == verdict.outcome
    assert "3 Points, 6 are needed" == verdict.reason


def test_one_new_point_lies_and_several_lie() -> None:
    one, four = (judge_series(series(calm(nights)), TPOT).verdict.reason for nights in (6, 60))

    assert one.startswith("the last Point lies ")
    assert four.startswith("the last 4 Points lie ")


def test_a_sentence_has_true_minus_signs_and_none_before_zero() -> None:
    falling = judge_series(series([*[1.0, 1.001] * 10, *[0.998, 0.999] * 2]), TPOT).verdict.reason
    level = judge_series(series([1000.0, 1001.0] * 10), TPOT).verdict.reason

    assert "\N{MINUS SIGN}" in falling
    assert "-" not in falling
    assert "lie 0 % from" in level or "lie 0.00 % from" in level
    assert "\N{MINUS SIGN}0.00 %" not in level


def test_points_that_lie_apart_and_are_no_step_yet_are_not_called_possible() -> None:
    verdict = judge_series(series([*calm(12, seed=0), *(value * 1.025 for value in calm(4, seed=100))]), TPOT).verdict

    assert Outcome.UNSURE == verdict.outcome
    assert verdict.reason.endswith(": beyond what matters, but no lasting step yet")


def test_counts_that_never_moved_are_called_equal() -> None:
    exact = "48 registers/thread on each of the last 20 nights: counted, so this is exact"

    assert exact == judge_series(series([48.0] * 20), REGISTERS).verdict.reason


def test_other_hardware_is_not_comparable_and_says_why() -> None:
    points = [point(night, 1.0, hardware="old") for night in range(8)] + [point(8, 2.0, hardware="new")]

    verdict = judge_series(points, TPOT).verdict

    assert Outcome.NOT_COMPARABLE == verdict.outcome
    assert "8 earlier Points were measured on other hardware" in verdict.reason


def test_a_calm_series_is_the_same_with_interval_noise_and_mde() -> None:
    verdict = judge_series(series(calm(60)), TPOT).verdict

    assert Outcome.SAME == verdict.outcome
    assert verdict.interval is not None
    assert -0.02 <= verdict.interval[0] <= verdict.interval[1] <= 0.02
    assert {4, 7, 14} == set(verdict.mde)
    assert verdict.noise == pytest.approx(0.003, rel=0.5)


def test_a_noisy_series_is_unsure_rather_than_the_same() -> None:
    values = 0.02 * (1 + 0.05 * np.random.default_rng(1).normal(size=60))

    assert Outcome.UNSURE == judge_series(series(values), TPOT).verdict.outcome


@pytest.mark.parametrize(("metric", "outcome"), [(TPOT, Outcome.WORSE), (RATE, Outcome.BETTER)])
def test_which_way_is_better_decides_the_outcome(metric: object, outcome: Outcome) -> None:
    values = calm(30)
    slow = values[:26] + [value * 1.05 for value in values[26:]]

    judged = judge_series(series(slow), metric)  # type: ignore[arg-type]

    assert outcome == judged.verdict.outcome
    assert "rev-build26" in judged.verdict.reason
    assert [(26, ChangeStatus.DETECTED, 29)] == [(c.index, c.status, c.flagged_at) for c in judged.changes]


def test_the_first_night_of_a_step_is_a_suspect() -> None:
    values = calm(30)
    values[-1] *= 1.05

    judged = judge_series(series(values), TPOT)

    assert Outcome.UNSURE == judged.verdict.outcome
    assert [(29, ChangeStatus.SUSPECT)] == [(change.index, change.status) for change in judged.changes]


def test_a_spike_is_a_transient_and_never_detected() -> None:
    values = calm(40)
    values[30] *= 1.05

    judged = judge_series(series(values), TPOT)

    assert [(30, ChangeKind.TRANSIENT, ChangeStatus.SUSPECT)] == [(c.index, c.kind, c.status) for c in judged.changes]


def test_a_permanent_tick_of_what_is_measured_and_constant_is_found_and_a_blip_never() -> None:
    tick = judge_series(series([32] * 6 + [33] * 4), TPOT)
    blip = judge_series(series([32] * 6 + [33] + [32] * 4), TPOT)

    assert Outcome.WORSE == tick.verdict.outcome
    assert Outcome.SAME == blip.verdict.outcome


def test_a_step_between_two_nights_of_one_build_is_the_machines() -> None:
    values = calm(30)
    points = [
        point(night, value * (1.05 if night >= 20 else 1), build="same" if night >= 15 else None)
        for night, value in enumerate(values)
    ]

    (change,) = judge_series(points, TPOT).changes

    assert ChangeKind.MODE == change.kind


def test_a_new_epoch_is_named_as_a_suspect() -> None:
    values = calm(24)
    points = [
        point(night, value * (1.05 if night >= 20 else 1), epoch="new" if night >= 20 else "old")
        for night, value in enumerate(values)
    ]

    assert "dependencies changed on the same night" in judge_series(points, TPOT).verdict.reason


def test_a_dismissed_change_is_remembered() -> None:
    values = calm(30)
    slow = values[:20] + [value * 1.05 for value in values[20:]]

    assert () == judge_series(series(slow), TPOT, Policy(dismissed=frozenset({"build20"}))).changes


def test_a_mean_has_a_bootstrap_interval_and_one_sample_has_none() -> None:
    many = reduce_samples(list(range(30)), METRICS["nll_nats"])
    one = reduce_samples([3.0], TPOT)

    assert 14.5 == many.value
    assert many.interval is not None
    assert many.interval[0] < 14.5 < many.interval[1]
    assert (3.0, None, 1) == (one.value, one.interval, one.n)


def test_a_median_has_the_order_statistics_interval() -> None:
    assert (1.0, 7.0) == reduce_samples([float(value) for value in range(9)], TPOT).interval


def test_every_verdict_on_enough_points_carries_effect_interval_bar_q_noise_and_the_smallest_effects() -> None:
    values = calm(40)
    histories = {
        "same": values,
        "suspect": [*values[:-1], values[-1] * 1.2],
        "worse": [*values[:-4], *(v * 1.2 for v in values[-4:])],
    }

    verdicts = {name: judge_series(series(history), TPOT).verdict for name, history in histories.items()}

    assert {"same": Outcome.SAME, "suspect": Outcome.UNSURE, "worse": Outcome.WORSE} == {
        name: verdict.outcome for name, verdict in verdicts.items()
    }
    for verdict in verdicts.values():
        assert verdict.interval is not None
        assert verdict.effect is not None
        assert verdict.interval[0] < verdict.effect < verdict.interval[1]
        assert verdict.bar is not None
        assert verdict.noise is not None
        assert 0 < verdict.noise < verdict.bar
        assert verdict.q is not None
        assert 0 < verdict.q <= 1
        assert [4, 7, 14] == list(verdict.mde)
