from datetime import UTC, datetime, timedelta

import pytest

from perfd.domain.forge import Conclusion
from perfd.domain.verdict import Outcome
from perfd.rules.conclusion import Bad, Said, conclude, deadline, is_news

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def said(outcome: Outcome, *, gates: bool = True) -> Said:
    return Said(outcome, gates)


@pytest.mark.parametrize(
    ("whole", "lines", "unmeasured", "expected"),
    [
        (Outcome.SAME, [said(Outcome.SAME)], 0, Conclusion.SUCCESS),
        (Outcome.BETTER, [said(Outcome.BETTER), said(Outcome.SAME)], 0, Conclusion.SUCCESS),
        (Outcome.WORSE, [said(Outcome.WORSE), said(Outcome.SAME)], 0, Conclusion.FAILURE),
        (Outcome.NOT_COMPARABLE, [said(Outcome.NOT_COMPARABLE), said(Outcome.WORSE)], 0, Conclusion.FAILURE),
        (Outcome.WORSE, [said(Outcome.WORSE, gates=False), said(Outcome.SAME)], 0, Conclusion.NEUTRAL),
        (Outcome.UNSURE, [said(Outcome.UNSURE)], 0, Conclusion.NEUTRAL),
        (Outcome.NOT_COMPARABLE, [said(Outcome.NOT_COMPARABLE)], 0, Conclusion.NEUTRAL),
        (Outcome.SAME, [said(Outcome.SAME)], 1, Conclusion.NEUTRAL),
        (Outcome.BETTER, [said(Outcome.BETTER)], 3, Conclusion.NEUTRAL),
        (Outcome.UNSURE, [], 4, Conclusion.ACTION_REQUIRED),
        (Outcome.UNSURE, [], 0, Conclusion.ACTION_REQUIRED),
    ],
)
def test_a_check_ends_as_its_worst_gated_line_says(
    whole: Outcome, lines: list[Said], unmeasured: int, expected: Conclusion
) -> None:
    assert expected is conclude(whole, lines, unmeasured)


def test_what_first_becomes_worse_is_news() -> None:
    assert is_news({}, {"chat itl_s": Bad(0.05, 0.02)})


def test_the_same_loss_again_is_no_news() -> None:
    assert not is_news({"chat itl_s": 0.05}, {"chat itl_s": Bad(0.06, 0.02)})


def test_a_loss_that_grew_by_what_matters_is_news() -> None:
    assert is_news({"chat itl_s": 0.05}, {"chat itl_s": Bad(0.07, 0.02)})


def test_another_metric_that_became_worse_is_news() -> None:
    assert is_news({"chat itl_s": 0.05}, {"chat itl_s": Bad(0.05, 0.02), "tasks task_accuracy": Bad(0.01, 0.01)})


def test_what_recovered_is_no_news() -> None:
    assert not is_news({"chat itl_s": 0.05}, {})


def test_a_check_ends_at_its_deadline() -> None:
    assert NOON + timedelta(minutes=90) == deadline(NOON, 1.5)
