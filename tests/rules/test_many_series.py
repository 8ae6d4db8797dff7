"""Many Series in one night, groups by Build, and budgets against a pinned release."""

from datetime import UTC, datetime, timedelta

import numpy as np

from perfd.domain.metric import METRICS
from perfd.domain.run import Point
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Outcome
from perfd.rules.budget import Budget, judge_budget
from perfd.rules.night import Member, control, group_changes


def change(p: float, effect: float = 0.05, kind: ChangeKind = ChangeKind.STEP) -> Change:
    return Change(10, kind, ChangeStatus.DETECTED, 1.0, 1.0 + effect, effect, None, p, 13)


def test_one_weak_change_among_many_series_waits_and_a_strong_one_is_told() -> None:
    told = control({"weak": change(1e-4), "strong": change(1e-9)}, series=10_000)

    assert ChangeStatus.SUSPECT == told["weak"].status
    assert ChangeStatus.DETECTED == told["strong"].status
    assert told["strong"].q is not None
    assert told["strong"].q <= 0.1


def test_one_series_alone_pays_nothing_for_others() -> None:
    assert ChangeStatus.DETECTED == control({"only": change(1e-3)}, series=1)["only"].status


def test_changes_at_one_build_are_one_group_strongest_first_with_improvements_and_bumps() -> None:
    slow, fast = METRICS["tpot_s"], METRICS["output_tokens_per_s"]
    members = [
        Member("a", slow, "b1", change(1e-5, 0.05), noise=0.02),
        Member("b", slow, "b1", change(1e-5, 0.03), noise=0.001),
        Member("c", fast, "b1", change(1e-5, 0.04), noise=0.01),
        Member("d", slow, "b1", change(1e-5, 0.09, ChangeKind.MODE), noise=0.01),
    ]

    (group,) = group_changes(members, {"b1": ({"torch": "2.12.0"}, {"torch": "2.13.0"})})

    assert ["b", "a"] == [one.series for one in group.worse]
    assert ["c"] == [one.series for one in group.better]
    assert ("torch 2.12.0 to 2.13.0",) == group.suspects


def creep(each: float) -> list[Point]:
    noise = np.random.default_rng(0).normal(size=40) * 0.002
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Point(
            f"r{i}",
            f"b{max(i - 5, 0)}",
            f"c{i}",
            i,
            f"n{i}",
            at + timedelta(days=i),
            float(1 + each * i + noise[i]),
            None,
            1,
            "h",
        )
        for i in range(40)
    ]


def test_a_budget_alarms_on_what_added_up_and_is_kept_by_what_did_not() -> None:
    budget = Budget("b0", 0.03)

    assert Outcome.WORSE == judge_budget(creep(0.002), METRICS["tpot_s"], budget).outcome
    assert Outcome.SAME == judge_budget(creep(0.0), METRICS["tpot_s"], budget).outcome


def test_a_budget_without_its_release_is_unsure() -> None:
    assert Outcome.UNSURE == judge_budget(creep(0.0), METRICS["tpot_s"], Budget("gone", 0.03)).outcome
