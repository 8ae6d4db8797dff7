from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from perfd.domain.metric import METRICS
from perfd.domain.run import Point
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Outcome, Verdict
from perfd.rules.judge import judge_series
from perfd.rules.night import Touched, judge_night
from perfd.rules.policy import Policy

REGISTERS, SPILLS = METRICS["registers"], METRICS["spills"]


def counts(values: Sequence[float]) -> list[Point]:
    first = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Point(f"run{n}", f"build{n}", f"rev{n}", n, f"night:{n}", first + timedelta(n), value, None, 1, "h")
        for n, value in enumerate(values)
    ]


def test_one_tick_is_a_change_on_its_first_night_and_says_that_it_is_exact() -> None:
    judgement = judge_series(counts([96.0, 96.0, 97.0]), REGISTERS)
    (change,) = judgement.changes

    assert Outcome.WORSE == judgement.verdict.outcome
    assert "registers changed from 96 to 97 registers/thread (+1.0 %) since rev2: counted, so this is exact" == (
        judgement.verdict.reason
    )
    assert (2, ChangeKind.STEP, ChangeStatus.DETECTED, 2) == (change.index, change.kind, change.status, change.flagged_at)


def test_fewer_of_what_should_be_few_are_better() -> None:
    assert Outcome.BETTER == judge_series(counts([97.0, 96.0]), REGISTERS).verdict.outcome


def test_from_none_the_difference_is_told_without_a_share() -> None:
    judgement = judge_series(counts([0.0, 0.0, 8.0]), SPILLS)

    assert "spills changed from 0 to 8 instructions since rev2: counted, so this is exact" == judgement.verdict.reason
    assert 8.0 == judgement.verdict.effect


def test_an_unchanged_count_is_the_same_with_everything_that_a_verdict_carries() -> None:
    verdict = judge_series(counts([94.0, 96.0, 96.0, 96.0]), REGISTERS).verdict
    reason = "96 registers/thread on each of the last 3 nights: counted, so this is exact"

    assert verdict == Verdict(
        Outcome.SAME, reason, "counted/1", 4, 0.0, (0.0, 0.0), bar=0.0, q=1.0, noise=0.0, mde={4: 0.0, 7: 0.0, 14: 0.0}
    )


def test_one_count_alone_is_unsure() -> None:
    verdict = judge_series(counts([96.0]), REGISTERS).verdict

    assert (Outcome.UNSURE, "1 Point, 2 are needed") == (verdict.outcome, verdict.reason)


def test_a_count_that_went_away_and_came_back_is_two_changes() -> None:
    changes = judge_series(counts([96.0, 96.0, 112.0, 96.0]), REGISTERS).changes

    assert [(2, 96.0, 112.0), (3, 112.0, 96.0)] == [(one.index, one.before, one.after) for one in changes]


def test_one_build_that_is_counted_twice_otherwise_is_no_commits_doing() -> None:
    points = counts([96.0, 96.0, 112.0])
    points[2] = replace(points[2], build=points[1].build)
    judgement = judge_series(points, REGISTERS)

    assert Outcome.UNSURE == judgement.verdict.outcome
    assert [ChangeKind.MODE] == [one.kind for one in judgement.changes]


def test_what_a_person_called_noise_is_not_told_again() -> None:
    judgement = judge_series(counts([96.0, 112.0]), REGISTERS, Policy(dismissed=frozenset({"build1"})))

    assert () == judgement.changes
    assert (Outcome.UNSURE, "96 to 112 registers/thread; a person has called this Build's Change noise") == (
        judgement.verdict.outcome,
        judgement.verdict.reason,
    )


def test_counts_of_other_hardware_are_no_change() -> None:
    points = [replace(point, hardware_hash="old") if n < 2 else point for n, point in enumerate(counts([90.0, 90.0, 96.0, 96.0]))]

    assert () == judge_series(points, REGISTERS).changes
    assert Outcome.NOT_COMPARABLE == judge_series(points[:3], REGISTERS).verdict.outcome


def test_a_night_of_ten_thousand_series_tells_a_count_as_one_alone_does() -> None:
    points = counts([96.0, 96.0, 97.0])
    night = judge_night({number: Touched(points, REGISTERS) for number in range(10_000)})
    told: set[tuple[Change, ...]] = {one.judgement.changes for one in night.values()}

    assert {judge_series(points, REGISTERS).changes} == told
    assert {None} == {one.track for one in night.values()}
