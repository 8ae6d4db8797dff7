import numpy as np
import pytest

from perfd.domain.metric import METRICS
from perfd.domain.verdict import Outcome
from perfd.rules.aa import Loaded, alarm_rate, called, choose, judge_itself, runs_of

ITL, REGISTERS = METRICS["itl_s"], METRICS["registers"]
LOADS = [Loaded("llama", workload, "smol") for workload in ("agent", "batch", "chat")]


def test_every_workload_has_its_turn_before_any_has_two() -> None:
    past: list[Loaded] = []
    for _ in range(7):
        turn = choose(reversed(LOADS), past)
        assert turn is not None
        past.append(turn)

    assert [*LOADS, *LOADS, LOADS[0]] == past


def test_a_new_workload_is_next_and_nothing_has_no_turn() -> None:
    new = Loaded("llama", "zebra", "smol")

    assert new == choose([*LOADS, new], LOADS)
    assert choose([], LOADS) is None


@pytest.mark.parametrize(("run_s", "runs"), [(8.0, 4), (11.25, 4), (12.0, 2), (60.0, 2)])
def test_a_long_workload_is_compared_in_one_pair(run_s: float, runs: int) -> None:
    assert runs == runs_of(run_s)


@pytest.mark.parametrize(
    ("head", "noise", "outcome"),
    [(1.10, 0.01, Outcome.WORSE), (0.90, 0.01, Outcome.BETTER), (1.015, 0.001, Outcome.SAME), (1.10, None, Outcome.UNSURE)],
)
def test_equal_builds_are_held_to_the_noise_of_the_series_and_to_what_matters(
    head: float, noise: float | None, outcome: Outcome
) -> None:
    assert outcome == judge_itself([(1.0, head), (1.0, head)], ITL, noise, 5).outcome


def test_a_counted_metric_may_not_differ_at_all() -> None:
    assert Outcome.WORSE == judge_itself([(40.0, 41.0)], REGISTERS, None, 1).outcome
    assert Outcome.SAME == judge_itself([(40.0, 40.0)], REGISTERS, None, 1).outcome


def test_no_more_than_one_in_a_hundred_equal_pairs_is_called_different() -> None:
    noise = np.random.default_rng(7).normal(1.0, 0.02, (4000, 5, 2, 2))
    wrong = 0
    for one in noise:
        outcomes = [judge_itself([tuple(pair) for pair in metric], ITL, 0.02, 5).outcome for metric in one]
        wrong += called(outcomes) in {Outcome.WORSE, Outcome.BETTER}

    assert wrong <= 4000 * 0.015


def test_the_whole_is_different_when_one_metric_is_and_unsure_when_none_is_known() -> None:
    assert Outcome.BETTER == called([Outcome.SAME, Outcome.BETTER, Outcome.UNSURE])
    assert Outcome.SAME == called([Outcome.SAME, Outcome.UNSURE])
    assert Outcome.UNSURE == called([Outcome.UNSURE])


def test_a_rate_has_its_interval_and_nothing_counted_has_no_rate() -> None:
    assert alarm_rate(0, 0).rate is None
    assert (0.0, 1.0) == alarm_rate(0, 0).interval
    low, high = alarm_rate(1, 30).interval
    assert 0.001 < low < 1 / 30 < high < 0.2
