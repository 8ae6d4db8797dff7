"""What is said of a Checkpoint against the first day: planted effects are found, noise alone is not, and doubt is told."""

import math
import random
from datetime import UTC, datetime

import pytest

from perfd.domain.metric import METRICS
from perfd.domain.run import Point
from perfd.domain.verdict import Outcome, Verdict
from perfd.rules.checkpoint import Floor, by_machine, by_runs, floor_of, geometric_mean

ITL, RATE, FAILED, REGISTERS = (METRICS[name] for name in ("itl_s", "output_tokens_per_s", "failed_requests", "registers"))
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def point(value: float, half: float | None = 0.001, hardware: str = "h") -> Point:
    interval = None if half is None else (value * (1 - half), value * (1 + half))
    return Point("r", "b", "v", 0, "o", NOW, value, interval, 40, hardware)


def test_two_days_that_differ_beyond_their_intervals_are_better_or_worse_by_the_metrics_own_direction() -> None:
    assert Outcome.BETTER == by_runs(point(1.0), point(0.9), ITL, 0.003).outcome
    assert Outcome.WORSE == by_runs(point(1.0), point(0.9), RATE, 0.003).outcome
    assert Outcome.SAME == by_runs(point(1.0), point(1.002), ITL, 0.002).outcome


def test_noise_between_nights_makes_two_days_unsure() -> None:
    assert Outcome.WORSE == by_runs(point(1.0), point(1.05), ITL, 0.003).outcome
    assert Outcome.UNSURE == by_runs(point(1.0), point(1.05), ITL, 0.05).outcome


def test_the_interval_of_two_days_holds_the_truth_in_95_of_100() -> None:
    chance, held = random.Random(7), 0
    for _ in range(2000):
        first, now = chance.gauss(0.0, 0.02), math.log(1.1) + chance.gauss(0.0, 0.02)
        found = by_runs(point(math.exp(first), None), point(math.exp(now), None), ITL, 0.02).interval
        assert found is not None
        held += found[0] <= 0.1 <= found[1]

    assert 0.94 < held / 2000 < 0.96


def test_without_interval_and_noise_there_is_no_answer() -> None:
    found = by_runs(point(1.0, None), point(0.5, None), ITL, None)

    assert (Outcome.UNSURE, -0.5, None) == (found.outcome, found.effect, found.interval)


def test_other_hardware_is_not_comparable() -> None:
    assert Outcome.NOT_COMPARABLE == by_runs(point(1.0), point(0.5, hardware="other"), ITL, 0.01).outcome
    assert Outcome.NOT_COMPARABLE == by_machine(point(1.0), [1.0, 1.0], "other", ITL).outcome


def test_a_number_that_was_zero_has_no_ratio_and_still_an_answer() -> None:
    assert Outcome.SAME == by_runs(point(0.0, None), point(0.0, None), FAILED, None).outcome
    found = by_runs(point(0.0, None), point(3.0, None), FAILED, None)
    assert (Outcome.WORSE, None, "0 became 3 requests") == (found.outcome, found.effect, found.reason)
    assert Outcome.BETTER == by_runs(point(40.0), point(39.0), REGISTERS, None).outcome


def test_a_machine_that_drifted_is_found_and_one_that_did_not_is_the_same() -> None:
    again = [1.05, 1.049, 1.051, 1.0495, 1.0505, 1.05]

    found = by_machine(point(1.0), again, "h", ITL)
    assert (Outcome.WORSE, pytest.approx(0.05, abs=0.001)) == (found.outcome, found.effect)
    assert Outcome.SAME == by_machine(point(1.05), again, "h", ITL).outcome


def test_one_more_run_lies_in_the_machines_interval_in_95_of_100() -> None:
    chance, outside = random.Random(11), 0
    for _ in range(2000):
        runs = [math.exp(chance.gauss(0.0, 0.03)) for _ in range(5)]
        found = by_machine(point(runs[0]), runs[1:], "h", ITL).interval
        assert found is not None
        outside += not found[0] <= 0.0 <= found[1]

    assert 0.04 < outside / 2000 < 0.06


@pytest.mark.parametrize("again", [[], [1.0], [1.0, 0.0]])
def test_too_few_runs_say_nothing_of_the_machine(again: list[float]) -> None:
    assert Outcome.UNSURE == by_machine(point(1.0), again, "h", ITL).outcome


def verdict(outcome: Outcome, effect: float | None = None, half: float = 0.0) -> Verdict:
    interval = None if effect is None else (effect - half, effect + half)
    return Verdict(outcome, f"it is {outcome}", "told", 4, effect, interval)


def test_a_floor_is_lost_by_one_metric_and_kept_only_by_evidence() -> None:
    same, worse, unsure = (verdict(one) for one in (Outcome.SAME, Outcome.WORSE, Outcome.UNSURE))

    assert (Floor.LOST, "a: it is worse") == floor_of([("a", worse), ("b", same), ("c", unsure)])
    assert (Floor.UNSURE, "could not tell for c") == floor_of([("b", same), ("c", unsure)])
    assert Floor.UNSURE == floor_of([("b", verdict(Outcome.NOT_COMPARABLE))])[0]
    assert Floor.KEPT == floor_of([("b", same), ("d", verdict(Outcome.BETTER))])[0]
    assert Floor.NOT_MEASURED == floor_of([])[0]


def test_a_mean_of_ratios_is_geometric_and_as_sure_as_its_members() -> None:
    found = geometric_mean([verdict(Outcome.WORSE, 1.0, 0.02), verdict(Outcome.BETTER, -0.5, 0.005)])
    assert found is not None
    assert 0.0 == pytest.approx(found[0], abs=1e-9)
    assert found[0] - 0.01 < found[1][0] < found[0] < found[1][1] < found[0] + 0.01
    assert None is geometric_mean([verdict(Outcome.WORSE, 1.0), verdict(Outcome.UNSURE)])
    assert None is geometric_mean([])
