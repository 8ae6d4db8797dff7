from datetime import UTC, datetime

import pytest

from perfd.domain.budget import Budget
from perfd.domain.metric import METRICS
from perfd.domain.run import Point
from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import Outcome
from perfd.rules.budget import Budget as Spending
from perfd.rules.budget import judge_budget
from perfd.rules.pins import applies, comparable, pinned_build

AT = datetime(2026, 1, 1, tzinfo=UTC)
ITL, MEMORY = METRICS["itl_s"], METRICS["peak_memory_bytes"]


def points(values: list[float], hardware: str = "h") -> list[Point]:
    made = enumerate(values)
    return [Point(f"r{i}", f"b{i}", f"v1.{i}", i, f"night {i}", AT, value, None, 9, hardware) for i, value in made]


@pytest.mark.parametrize(
    ("budget", "fits"),
    [
        (Budget("llama", "v1", 0.05), True),
        (Budget("llama", "v1", 0.05, "itl_s", "chat"), True),
        (Budget("llama", "v1", 0.05, "ttft_s"), False),
        (Budget("llama", "v1", 0.05, "", "batch"), False),
        (Budget("vllm", "v1", 0.05), False),
    ],
)
def test_a_budget_is_for_its_engine_its_metric_and_its_class(budget: Budget, fits: bool) -> None:  # noqa: FBT001 - a table
    assert fits == applies(budget, "llama", ITL, WorkloadClass.CHAT)


def test_a_budget_without_a_metric_is_for_speed_and_quality() -> None:
    assert not applies(Budget("llama", "v1", 0.05), "llama", MEMORY, WorkloadClass.CHAT)


def test_many_small_steps_exceed_the_budget_that_each_alone_keeps() -> None:
    drifting = points([1.0 + 0.004 * night for night in range(25)])
    build = pinned_build(Budget("llama", "v1.0", 0.05), drifting[:1])
    assert build is not None

    assert Outcome.SAME == judge_budget(drifting[:8], ITL, Spending(build, 0.05)).outcome
    assert Outcome.WORSE == judge_budget(drifting, ITL, Spending(build, 0.05)).outcome


def test_points_of_other_hardware_spend_nothing() -> None:
    assert 3 == len(comparable([*points([2.0] * 9, "old"), *points([1.0] * 3)]))
    assert pinned_build(Budget("llama", "v2", 0.05), points([1.0])) is None
