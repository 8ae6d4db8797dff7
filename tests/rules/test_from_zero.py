"""Series whose level is zero, as failed requests mostly are: differences with their unit, and no shares of nothing."""

import pytest
from test_judge import series

from perfd.domain.metric import METRICS
from perfd.domain.numbers import moved
from perfd.domain.verdict import Outcome, Verdict
from perfd.rules.judge import judge_series
from perfd.rules.night import Touched, judge_night

FAILED = METRICS["failed_requests"]


def verdict(values: list[float]) -> Verdict:
    return judge_series(series(values), FAILED).verdict


def test_requests_that_begin_to_fail_are_counted_and_no_per_cent_of_none() -> None:
    told = verdict([0.0] * 20 + [3.0] * 4)

    assert Outcome.WORSE is told.outcome
    assert "failed_requests changed by +3 requests since rev-build20" == told.reason


def test_a_suspect_from_zero_is_counted_too() -> None:
    assert verdict([0.0] * 20 + [3.0]).reason.startswith("+3 requests, seen for 1 of the 4 nights")


@pytest.mark.parametrize("nights", range(24, 31))
def test_what_rounding_leaves_of_zero_is_no_level_to_divide_by(nights: int) -> None:
    values = [*[0.0] * 20, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 3.0, 0.0, 1.0, 2.0][:nights]

    told = verdict(values)

    assert told.effect is not None
    assert abs(told.effect) <= 3.0
    assert "%" not in told.reason.replace("95 % within", "")


def test_a_night_of_many_series_says_the_same() -> None:
    values = [*[0.0] * 20, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0]

    assert verdict(values).reason == judge_night({1: Touched(series(values), FAILED)})[1].judgement.verdict.reason


def test_nights_that_fail_now_and_then_are_not_called_the_same_as_none() -> None:
    told = verdict([*[0.0] * 20, 1.0, 0.0, 2.0, 0.0, 0.0])

    assert Outcome.UNSURE is told.outcome
    assert told.interval is not None
    assert told.interval[0] < -0.1 < 0.1 < told.interval[1]


def test_one_night_a_tick_off_does_not_make_an_interval_of_nothing() -> None:
    told = judge_series(series([100.0] * 20 + [99.0, 100.0, 98.0, 100.0]), METRICS["output_tokens_per_s"]).verdict

    assert told.interval is not None
    assert told.interval[1] - told.interval[0] > 0.005


def test_what_never_moved_is_still_the_same() -> None:
    assert Outcome.SAME is verdict([0.0] * 20).outcome
    assert Outcome.SAME is verdict([7.0] * 20).outcome


def test_a_title_names_both_levels_where_the_first_is_zero() -> None:
    assert "from 0 to 3" == moved(3.0, 0.0, 3.0)
    assert "+5.0 %" == moved(0.05, 100.0, 105.0)
