"""A/B judgement on planted truths, true zeros and bad input, and how Metrics become one Verdict."""

import dataclasses
import importlib
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from perfd.domain.metric import METRICS, Metric
from perfd.domain.run import Arm
from perfd.domain.verdict import Outcome, Verdict
from perfd.errors import BadInputError
from perfd.rules.compare import ComparePolicy, PairDecision, abba_order, combine, course, decide, judge_intervals, next_blocks
from perfd.rules.compare_items import decide_documents, decide_items

ITL = METRICS["itl_s"]
THROUGHPUT = METRICS["output_tokens_per_s"]
NLL = METRICS["nll_nats"]
FAILED = METRICS["failed_requests"]
AGREEMENT = METRICS["greedy_agreement"]


def planted(ratio: float, sigma: float, pairs: int, seed: int = 1) -> list[tuple[float, float]]:
    noise = np.random.default_rng(seed).normal(0.0, sigma, (pairs, 2))
    return [(0.012 * math.exp(a), 0.012 * ratio * math.exp(b)) for a, b in noise]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    return importlib.import_module("compare")


def measured(pairs: list[tuple[float, float]], metric: Metric, policy: ComparePolicy) -> tuple[PairDecision, int]:
    """What a runner does: blocks as asked for, until no more are."""
    n, decision = 0, None
    while blocks := next_blocks(n, [decision] if decision else [], policy):
        n += 2 * blocks
        decision = decide(pairs[:n], metric, policy)
    assert decision is not None
    return decision, n


def test_a_slower_head_is_worse_for_latency_and_better_for_throughput() -> None:
    pairs = planted(1.05, 0.01, 12)

    assert decide(pairs, ITL).verdict.outcome is Outcome.WORSE
    assert decide(pairs, THROUGHPUT).verdict.outcome is Outcome.BETTER
    assert decide([(head, base) for base, head in pairs], ITL).verdict.outcome is Outcome.BETTER


def test_a_runner_stops_soon_with_the_right_answer() -> None:
    ends = [measured(planted(1.02, 0.01, 40, seed), ITL, ComparePolicy()) for seed in range(30)]

    assert [Outcome.WORSE] * 30 == [decision.verdict.outcome for decision, _ in ends]
    assert float(np.median([n for _, n in ends])) <= 12


def test_a_true_zero_is_the_same() -> None:
    outcomes = [measured(planted(1.0, 0.01, 40, 100 + seed), ITL, ComparePolicy())[0].verdict.outcome for seed in range(30)]

    assert [Outcome.SAME] * 30 == outcomes


def test_the_effect_is_a_ratio_less_one_with_its_interval_bar_and_what_could_be_seen() -> None:
    verdict = decide(planted(1.10, 0.01, 20), ITL).verdict

    assert verdict.effect == pytest.approx(0.10, abs=0.01)
    assert verdict.interval is not None
    assert verdict.bar is not None
    assert verdict.interval[0] < verdict.effect < verdict.interval[1]
    assert 0.0 < verdict.bar < verdict.mde[20] < 0.05
    assert verdict.noise == pytest.approx(0.01, abs=0.004)
    assert "over 20 pairs" in verdict.reason


def test_fewer_than_three_pairs_are_unsure_and_ask_for_more() -> None:
    for n in range(3):
        decision = decide(planted(2.0, 0.001, n), ITL)

        assert (Outcome.UNSURE, True) == (decision.verdict.outcome, decision.more)
        assert "at least 3 are needed" in decision.verdict.reason


def test_a_huge_difference_takes_four_pairs() -> None:
    assert decide(planted(1.5, 0.01, 4), ITL).verdict.outcome is Outcome.WORSE


def test_a_noisy_comparison_ends_unsure_at_the_cap() -> None:
    decision, n = measured(planted(1.0, 0.2, 40), ITL, ComparePolicy())

    assert (Outcome.UNSURE, False, 40) == (decision.verdict.outcome, decision.more, n)
    assert "after the cap of 40" in decision.verdict.reason


def test_a_real_but_irrelevant_effect_is_the_same_with_its_interval() -> None:
    verdict = decide(planted(1.004, 0.001, 30), ITL).verdict

    assert verdict.outcome is Outcome.SAME
    assert verdict.interval is not None
    assert verdict.interval[0] > 0.0


def test_a_sure_difference_that_may_be_relevant_is_not_the_same() -> None:
    assert judge_intervals((0.004, 0.022), (0.006, 0.0198), 0.02, ITL) is Outcome.WORSE
    assert judge_intervals((0.004, 0.018), (0.006, 0.016), 0.02, ITL) is Outcome.SAME
    assert judge_intervals((-0.001, 0.021), (0.001, 0.019), 0.02, ITL) is Outcome.SAME
    assert judge_intervals((-0.001, 0.023), (0.001, 0.021), 0.02, ITL) is Outcome.UNSURE


def test_a_pinned_relevant_effect_replaces_the_metrics_own() -> None:
    pairs = planted(1.004, 0.001, 30)

    assert decide(pairs, ITL, ComparePolicy(relevant=0.001)).verdict.outcome is Outcome.WORSE


def test_drift_over_the_whole_comparison_changes_no_answer() -> None:
    pairs = planted(1.05, 0.01, 14)
    slope = [math.exp(0.02 * place) for place in range(28)]
    order = abba_order(7)
    drifted = []
    for index, (base, head) in enumerate(pairs):
        first, second = slope[2 * index], slope[2 * index + 1]
        drifted.append((base * first, head * second) if order[2 * index] is Arm.BASE else (base * second, head * first))

    assert decide(drifted, ITL).verdict.effect == pytest.approx(decide(pairs, ITL).verdict.effect, abs=2e-3)


def test_equal_values_are_the_same_and_do_not_divide_by_zero() -> None:
    assert decide([(5.0, 5.0)] * 5, ITL).verdict.outcome is Outcome.SAME
    assert decide([(0.0, 0.0)] * 3, FAILED).verdict.outcome is Outcome.SAME


def test_failures_where_there_were_none_are_worse_in_their_own_unit() -> None:
    verdict = decide([(0.0, 4.0), (0.0, 5.0), (0.0, 4.0), (0.0, 5.0), (0.0, 4.0), (0.0, 5.0)], FAILED).verdict

    assert verdict.outcome is Outcome.WORSE
    assert verdict.effect == pytest.approx(4.5, abs=0.3)
    assert "requests" in verdict.reason


def test_one_failure_is_not_the_same_and_not_yet_worse() -> None:
    assert decide([(0.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.0, 0.0)], FAILED).verdict.outcome is Outcome.UNSURE


def test_counted_metrics_need_one_pair() -> None:
    worse = decide([(32.0, 40.0)], METRICS["registers"])

    assert (Outcome.WORSE, False) == (worse.verdict.outcome, worse.more)
    assert decide([(32.0, 32.0)], METRICS["registers"]).verdict.outcome is Outcome.SAME
    assert decide([(0.0, 8.0)], METRICS["spills"]).verdict.outcome is Outcome.WORSE
    assert decide([], METRICS["spills"]).verdict.outcome is Outcome.UNSURE


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(BadInputError, match="two finite numbers"):
        decide([(1.0, math.nan)] * 4, ITL)


def test_blocks_are_abba_and_mirrored_in_turn() -> None:
    a, b = Arm.BASE, Arm.HEAD

    assert (a, b, b, a, b, a, a, b) == abba_order(2)
    assert () == abba_order(0)


def test_the_first_request_reaches_the_least_pairs_and_the_cap_ends_it() -> None:
    unsure = PairDecision(Verdict(Outcome.UNSURE, "", "", 4), more=True)
    done = PairDecision(Verdict(Outcome.SAME, "", "", 4), more=False)

    assert next_blocks(0, []) == 2
    assert next_blocks(4, [unsure, done]) == 1
    assert next_blocks(4, [done]) == 0
    assert next_blocks(40, [unsure]) == 0


def test_several_metrics_share_the_error() -> None:
    assert ComparePolicy().shared(5).alpha == pytest.approx(0.002)
    assert ComparePolicy(cap=60).shared(0) == ComparePolicy(cap=60)


def test_the_course_tells_each_step() -> None:
    pairs = planted(1.05, 0.01, 6)

    assert [decide(pairs[:n], ITL).verdict for n in range(1, 7)] == list(course(pairs, ITL))


def test_many_at_once_are_judged_as_one_by_one(bench: ModuleType) -> None:
    policy = ComparePolicy()
    world = bench.World("Gaussian", bench.gauss, 0.01, 0.015, 40)
    windows = world.windows(np.random.default_rng(9), 40)

    together = bench.perfd_outcomes(windows, 40, ITL.relevant, policy)

    names = {Outcome.UNSURE: 0, Outcome.WORSE: 1, Outcome.BETTER: 2, Outcome.SAME: 3}
    single = [measured(bench.as_pairs(row), ITL, policy) for row in windows]
    assert [names[decision.verdict.outcome] for decision, _ in single] == list(together.answers)
    assert [n for _, n in single] == list(together.pairs)


def a_verdict(outcome: Outcome, effect: float | None = None) -> Verdict:
    return Verdict(outcome, f"says {outcome}", "pairs/1", 8, effect, bar=0.01)


@pytest.mark.parametrize(
    ("speed", "quality", "whole"),
    [
        (Outcome.BETTER, Outcome.SAME, Outcome.BETTER),
        (Outcome.BETTER, Outcome.BETTER, Outcome.BETTER),
        (Outcome.BETTER, Outcome.WORSE, Outcome.WORSE),
        (Outcome.BETTER, Outcome.UNSURE, Outcome.UNSURE),
        (Outcome.SAME, Outcome.SAME, Outcome.SAME),
        (Outcome.SAME, Outcome.BETTER, Outcome.BETTER),
        (Outcome.SAME, Outcome.UNSURE, Outcome.UNSURE),
        (Outcome.WORSE, Outcome.SAME, Outcome.WORSE),
        (Outcome.WORSE, Outcome.UNSURE, Outcome.WORSE),
        (Outcome.UNSURE, Outcome.SAME, Outcome.UNSURE),
        (Outcome.UNSURE, Outcome.WORSE, Outcome.WORSE),
        (Outcome.NOT_COMPARABLE, Outcome.WORSE, Outcome.NOT_COMPARABLE),
    ],
)
def test_speed_and_quality_become_one(speed: Outcome, quality: Outcome, whole: Outcome) -> None:
    assert whole is combine({ITL: a_verdict(speed), NLL: a_verdict(quality)}).outcome


def test_faster_but_worse_tells_both_numbers_the_worse_first() -> None:
    faster = decide(planted(0.9, 0.01, 12), ITL).verdict
    poorer = decide(planted(1.05, 0.002, 12), NLL).verdict

    whole = combine({ITL: faster, NLL: poorer})

    assert whole.outcome is Outcome.WORSE
    assert whole.effect == poorer.effect
    assert whole.reason.index("nll_nats is worse (+") < whole.reason.index("itl_s is better (\N{MINUS SIGN}")


def test_one_slower_metric_among_faster_ones_is_worse() -> None:
    assert combine({ITL: a_verdict(Outcome.BETTER), METRICS["ttft_s"]: a_verdict(Outcome.WORSE)}).outcome is Outcome.WORSE


def test_the_same_metric_of_two_workloads_counts_twice() -> None:
    assert combine([(ITL, a_verdict(Outcome.WORSE)), (ITL, a_verdict(Outcome.BETTER))]).outcome is Outcome.WORSE


def test_an_unsure_resource_is_told_and_decides_nothing() -> None:
    memory = METRICS["peak_memory_bytes"]

    whole = combine({ITL: a_verdict(Outcome.BETTER), NLL: a_verdict(Outcome.SAME), memory: a_verdict(Outcome.UNSURE)})

    assert whole.outcome is Outcome.BETTER
    assert "peak_memory_bytes is unsure" in whole.reason
    assert combine({ITL: a_verdict(Outcome.BETTER), memory: a_verdict(Outcome.WORSE)}).outcome is Outcome.WORSE
    assert combine({memory: a_verdict(Outcome.UNSURE)}).outcome is Outcome.UNSURE


def test_a_verdict_without_quality_says_so() -> None:
    assert "quality was not measured" in combine({ITL: a_verdict(Outcome.BETTER, 0.1)}).reason
    assert combine({}).outcome is Outcome.UNSURE


def answers(lost: int, won: int, right: int, wrong: int) -> tuple[list[bool], list[bool]]:
    """Base and head, the items in an order drawn once."""
    items = [(True, False)] * lost + [(False, True)] * won + [(True, True)] * right + [(False, False)] * wrong
    order = np.random.default_rng(1).permutation(len(items))
    return [items[i][0] for i in order], [items[i][1] for i in order]


def test_a_lost_point_is_found_where_arms_answer_the_same_items() -> None:
    decision = decide_items(*answers(45, 15, 1100, 159), AGREEMENT)

    assert (Outcome.WORSE, False) == (decision.verdict.outcome, decision.more)
    assert "15 items won and 45 lost of 1319: \N{MINUS SIGN}2.27 points" in decision.verdict.reason


def test_too_few_items_say_how_many_are_needed() -> None:
    decision = decide_items(*answers(6, 4, 180, 10), AGREEMENT)

    assert decision.verdict.outcome is Outcome.UNSURE
    assert "need about" in decision.verdict.reason


def test_many_equal_items_are_the_same() -> None:
    assert decide_items(*answers(2, 2, 1900, 96), AGREEMENT).verdict.outcome is Outcome.SAME


def test_before_the_last_item_a_clear_loss_stops_and_a_faint_one_goes_on() -> None:
    clear = decide_items(*answers(30, 2, 300, 20), AGREEMENT, final=False)
    faint = decide_items(*answers(5, 2, 300, 20), AGREEMENT, final=False)

    assert (Outcome.WORSE, False) == (clear.verdict.outcome, clear.more)
    assert (Outcome.UNSURE, True) == (faint.verdict.outcome, faint.more)


def test_no_items_are_unsure() -> None:
    assert decide_items([], [], AGREEMENT).verdict.outcome is Outcome.UNSURE


def documents(shift: float, count: int, seed: int = 1) -> tuple[list[float], list[float], list[int]]:
    rng = np.random.default_rng(seed)
    base = rng.normal(3.0, 0.5, count)
    head = base + shift + rng.normal(0.0, 0.01, count)
    return list(base), list(head), [int(n) for n in rng.integers(100, 400, count)]


def test_log_likelihood_is_judged_document_by_document() -> None:
    assert decide_documents(*documents(0.06, 30), NLL).verdict.outcome is Outcome.WORSE
    assert decide_documents(*documents(-0.06, 30), NLL).verdict.outcome is Outcome.BETTER
    assert decide_documents(*documents(0.0, 30), NLL).verdict.outcome is Outcome.SAME


def test_few_documents_are_unsure_and_say_how_many_are_needed() -> None:
    verdict = decide_documents(*documents(0.008, 4), NLL).verdict

    assert verdict.outcome is Outcome.UNSURE
    assert "needs about" in verdict.reason
    assert decide_documents(*documents(0.0, 2), NLL).verdict.outcome is Outcome.UNSURE


def test_documents_that_do_not_match_are_refused() -> None:
    base, head, tokens = documents(0.0, 5)

    with pytest.raises(BadInputError, match="5, 4 and 5 documents"):
        decide_documents(base, head[:4], tokens, NLL)


def test_policies_are_values() -> None:
    assert dataclasses.replace(ComparePolicy(), cap=60) == ComparePolicy(cap=60)
