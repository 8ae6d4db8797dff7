"""Comparisons by items and documents: planted losses are found, chance is not, and other items are not compared."""

import dataclasses
import random

import pytest

from perfd.domain.metric import CATALOGUE, METRICS, Evidence, Metric, MetricKind
from perfd.domain.verdict import Outcome
from perfd.rules.compare_samples import Runs, by_samples, decide_samples

ITEMS, DOCUMENTS = METRICS["task_accuracy"], METRICS["nll_nats"]


def answers(seed: int, count: int, share: float) -> list[float]:
    chance = random.Random(seed)
    return [float(chance.random() < share) for _ in range(count)]


def test_only_quality_has_items_or_documents() -> None:
    chosen = {metric.name: metric.evidence for metric in CATALOGUE if by_samples(metric)}

    assert chosen == {
        "nll_nats": Evidence.DOCUMENTS,
        "greedy_agreement": Evidence.DOCUMENTS,
        "kl_nats": Evidence.DOCUMENTS,
        "task_accuracy": Evidence.ITEMS,
    }
    assert all(METRICS[name].kind is MetricKind.QUALITY for name in chosen)


def test_a_planted_loss_of_items_is_worse_and_a_gain_better() -> None:
    base = answers(1, 1000, 0.8)
    head = [0.0 if index % 12 == 0 else value for index, value in enumerate(base)]

    assert decide_samples([base, base], [head, head], ITEMS).verdict.outcome is Outcome.WORSE
    assert decide_samples([head], [base], ITEMS).verdict.outcome is Outcome.BETTER


def test_equal_runs_repeated_add_no_certainty() -> None:
    """Two greedy Runs of one Build are equal, so pairs of Runs would be sure after three; 20 items are still 20 items."""
    base = answers(2, 20, 0.5)
    head = [1.0 - base[0], 1.0 - base[1], *base[2:]]
    once, often = decide_samples([base], [head], ITEMS), decide_samples([base] * 10, [head] * 10, ITEMS)

    assert once.verdict == often.verdict
    assert (often.verdict.outcome, often.more) == (Outcome.UNSURE, False)


def test_documents_that_all_lose_a_little_are_worse_and_equal_ones_the_same() -> None:
    base = [2.9, 3.1, 3.4, 2.7, 3.3, 3.0, 2.8, 3.2]
    head = [
        value * 1.02 + wobble for value, wobble in zip(base, [0.001, -0.002, 0.0, 0.002, -0.001, 0.001, 0.0, 0.0], strict=True)
    ]

    assert decide_samples([base, base], [head, head], DOCUMENTS).verdict.outcome is Outcome.WORSE
    assert decide_samples([base, base], [base, base], DOCUMENTS).verdict.outcome is Outcome.SAME


def test_chance_in_documents_is_called_different_as_rarely_as_promised() -> None:
    chance = random.Random(3)
    alarms = 0
    for _ in range(400):
        base = [chance.gauss(3.0, 0.3) for _ in range(8)]
        head = [value + chance.gauss(0.0, 0.05) for value in base]
        alarms += decide_samples([base], [head], DOCUMENTS).verdict.outcome in {Outcome.WORSE, Outcome.BETTER}

    assert alarms <= 11  # 4 are promised; more than 11 have a chance below 1 in 1,000


@pytest.mark.parametrize("metric", [ITEMS, DOCUMENTS], ids=lambda metric: metric.name)
def test_other_items_are_not_comparable(metric: Metric) -> None:
    verdict = decide_samples([[1.0, 0.0, 1.0]], [[1.0, 0.0]], metric).verdict

    assert verdict.outcome is Outcome.NOT_COMPARABLE
    assert "2 and 3 items" in verdict.reason


@pytest.mark.parametrize(("base", "head"), [([], []), ([[1.0]], []), ([], [[1.0]])])
def test_nothing_measured_is_unsure_and_asks_for_more(base: Runs, head: Runs) -> None:
    decision = decide_samples(base, head, ITEMS)

    assert (decision.verdict.outcome, decision.more) == (Outcome.UNSURE, True)


def test_a_metric_is_compared_by_pairs_unless_it_says_otherwise() -> None:
    assert not by_samples(METRICS["ttft_s"])
    assert by_samples(dataclasses.replace(METRICS["ttft_s"], evidence=Evidence.ITEMS))
