from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import timedelta

import pytest
from store_world import FIRST_NIGHT, World, commit, night, plan, spec

from perfd.domain.past import Past
from perfd.domain.run import Point
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Judgement, Outcome, RegressionState, Verdict
from perfd.errors import PerfdError
from perfd.store.records import SeriesJudgement

LEVELS = (1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0)
WORSE = Verdict(Outcome.WORSE, "twice as slow", "test/1", 8, 1.0, (0.9, 1.1), 0.05, 0.001, 0.01, {4: 0.05, 14: 0.02})


@pytest.fixture
def nights(world: World) -> World:
    for level in LEVELS:
        world.measured_night(level, level, level)
    return world


def history(world: World) -> tuple[Point, ...]:
    return world.store.judgements.history(1)


def change(index: int, status: ChangeStatus = ChangeStatus.DETECTED, effect: float = 1.0) -> Change:
    return Change(index, ChangeKind.STEP, status, 1.0, 1.0 + effect, effect, (effect - 0.1, effect + 0.1), 0.001, index + 3)


def judge(world: World, number: int, *changes: Change, verdict: Verdict = WORSE) -> None:
    world.store.judgements.write(1, night(number), history(world), Judgement(verdict, changes), world.now)


def test_a_history_is_in_order_of_commits_and_holds_the_last_points(nights: World) -> None:
    points = nights.store.judgements.history(1)

    assert list(range(8)) == [point.ordinal for point in points]
    assert list(LEVELS) == [point.value for point in points]
    assert [commit(6).name, commit(7).name] == [point.revision for point in nights.store.judgements.history(1, last=2)]
    assert (night(7).name, spec(7).digest, 3) == (points[-1].occasion, points[-1].build, points[-1].n)


def test_a_second_night_of_one_build_follows_the_first(world: World) -> None:
    world.measured_night(1.0)
    world.measured_night(3.0, number=0)
    world.measured_night(2.0, number=1)

    assert [1.0, 3.0, 2.0] == [point.value for point in history(world)]


def test_an_occasion_touches_the_series_that_it_measured(nights: World) -> None:
    nights.open(night(20), plan(20))

    assert [1] == [info.id for info in nights.store.judgements.touched(night(7))]
    assert "ttft_s" == nights.store.judgements.touched(night(7))[0].metric.name
    assert () == nights.store.judgements.touched(night(20))


def test_a_judgement_written_twice_stands_once(nights: World) -> None:
    judge(nights, 7, change(4))
    first = nights.store.judgements.changes(1)
    judge(nights, 7, change(4))

    assert first == nights.store.judgements.changes(1)
    assert [(spec(4).digest, True, commit(4).title)] == [(one.build, one.worse, one.title) for one in first]
    assert WORSE == nights.store.judgements.verdict(1, night(7))


@pytest.mark.parametrize("moved", [2, 3, 5, 7])
def test_a_change_that_moves_by_a_few_points_keeps_its_name(nights: World, moved: int) -> None:
    judge(nights, 6, change(4))
    before = nights.store.judgements.changes(1)[0]
    judge(nights, 7, change(moved))

    after = nights.store.judgements.changes(1)

    assert [(before.id, spec(moved).digest, night(6).name)] == [(one.id, one.build, one.found_in) for one in after]


def test_a_change_in_the_other_direction_or_far_away_is_another_one(nights: World) -> None:
    judge(nights, 6, change(2))
    first = nights.store.judgements.changes(1)[0]
    judge(nights, 7, change(7), change(3, effect=-0.5))

    after = nights.store.judgements.changes(1)

    assert first.id not in {one.id for one in after}
    assert [False, True] == [one.worse for one in after]


def test_two_changes_that_swap_builds_keep_their_names(nights: World) -> None:
    judge(nights, 6, change(2), change(4, effect=-0.5))
    down, up = nights.store.judgements.changes(1)[::-1]
    judge(nights, 7, change(4), change(2, effect=-0.5))

    assert {down.id: spec(2).digest, up.id: spec(4).digest} == {one.id: one.build for one in nights.store.judgements.changes(1)}


def test_a_change_that_is_no_longer_seen_is_gone_and_may_come_back_as_another(nights: World) -> None:
    judge(nights, 5, change(4, ChangeStatus.SUSPECT))
    first = nights.store.judgements.changes(1)[0]
    judge(nights, 6)
    assert () == nights.store.judgements.changes(1)
    judge(nights, 7, change(4))

    assert first.id != nights.store.judgements.changes(1)[0].id


def test_a_change_before_the_window_is_left_alone(nights: World) -> None:
    judge(nights, 6, change(2))
    window = nights.store.judgements.history(1, last=4)
    nights.store.judgements.write(1, night(7), window, Judgement(WORSE), nights.now)

    assert 1 == len(nights.store.judgements.changes(1))


def test_what_was_detected_is_not_taken_back_to_a_suspect(nights: World) -> None:
    judge(nights, 5, change(4, ChangeStatus.SUSPECT))
    assert nights.store.judgements.changes(1)[0].detected_at is None
    judge(nights, 6, change(4))
    detected = nights.store.judgements.changes(1)[0].detected_at
    judge(nights, 7, change(4, ChangeStatus.SUSPECT))

    last = nights.store.judgements.changes(1)[0]

    assert (ChangeStatus.DETECTED, detected) == (last.status, last.detected_at)
    assert detected is not None


def test_a_regression_is_opened_once_over_its_changes(nights: World) -> None:
    judge(nights, 7, change(2), change(6))
    ids = [one.id for one in nights.store.judgements.changes(1)]
    words = {"actor": "rule", "reason": "four nights in a row", "now": nights.now}

    opened = nights.store.regressions.open(night(7), ids, "chat is slower", **words)
    assert opened is not None
    assert nights.store.regressions.open(night(7), ids, "chat is slower", **words) is None
    read = nights.store.regressions.read(opened)
    assert read is not None
    assert (RegressionState.DETECTED, spec(2).digest, ids) == (read.state, read.build, [one.id for _, one in read.members])
    assert [(None, RegressionState.DETECTED, "rule")] == [(e.from_state, e.to_state, e.actor) for e in read.events]
    assert (read,) == nights.store.regressions.unanswered() == nights.store.regressions.of_series(1)
    assert [opened, opened] == [one.regression_id for one in nights.store.judgements.changes(1)]


def test_a_regression_moves_with_an_event_or_not_at_all(nights: World) -> None:
    judge(nights, 7, change(4))
    ids = [one.id for one in nights.store.judgements.changes(1)]
    regressions, now = nights.store.regressions, nights.now
    one = regressions.open(night(7), ids, "slower", actor="rule", reason="seen", now=now)
    assert one is not None

    assert regressions.own(one, RegressionState.DETECTED, "ada", actor="ada", reason="mine", now=now)
    assert not regressions.move(one, RegressionState.DETECTED, RegressionState.NOISE, actor="bob", reason="no", now=now)
    assert regressions.move(one, RegressionState.OWNED, RegressionState.FIXED, actor="ada", reason="#12", now=now + timedelta(1))
    read = regressions.read(one)
    assert read is not None
    assert ("ada", ["detected", "owned", "fixed"]) == (read.owner, [event.to_state.value for event in read.events])
    assert () == regressions.unanswered()
    assert (read,) == regressions.every([RegressionState.FIXED])


def test_a_duplicate_says_of_what(nights: World) -> None:
    judge(nights, 7, change(1), change(6))
    first, second = (one.id for one in nights.store.judgements.changes(1))
    regressions, words = nights.store.regressions, {"actor": "ada", "reason": "same cause", "now": nights.now}
    one, two = regressions.open(night(7), [first], "a", **words), regressions.open(night(7), [second], "b", **words)
    assert one is not None
    assert two is not None

    with pytest.raises(PerfdError, match="duplicate"):
        regressions.move(two, RegressionState.DETECTED, RegressionState.DUPLICATE, **words)
    assert regressions.duplicate(two, RegressionState.DETECTED, one, **words)
    assert one == getattr(regressions.read(two), "duplicate_of", None)
    assert regressions.move(two, RegressionState.DUPLICATE, RegressionState.DETECTED, **words)
    assert getattr(regressions.read(two), "duplicate_of", 0) is None


def test_two_judges_at_once_write_one_judgement_and_open_one_regression(nights: World) -> None:
    def judge_and_open(_: int) -> int | None:
        judge(nights, 7, change(4))
        ids = [one.id for one in nights.store.judgements.changes(1)]
        return nights.store.regressions.open(night(7), ids, "slower", actor="rule", reason="seen", now=nights.now)

    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(judge_and_open, range(8)))

    assert 7 == opened.count(None)
    assert 1 == len(nights.store.judgements.changes(1))


def test_changes_join_an_open_regression_unless_they_belong_to_one(nights: World) -> None:
    judge(nights, 7, change(1), change(6))
    first, second = (one.id for one in nights.store.judgements.changes(1))
    opened = nights.store.regressions.open(night(7), [first], "a", actor="rule", reason="seen", now=FIRST_NIGHT)
    assert opened is not None

    assert 1 == nights.store.regressions.add(opened, [first, second])
    assert 0 == nights.store.regressions.add(opened, [first, second])


def test_histories_of_many_series_are_what_each_is_asked_alone(nights: World) -> None:
    found = nights.store.judgements.histories([1], last=3)

    assert {1: list(nights.store.judgements.history(1, last=3))} == {key: list(one) for key, one in found.items()}


def test_what_series_are_judged_by_is_what_each_is_asked_alone(nights: World) -> None:
    found = nights.store.judgements.pasts([1, 10_000], last=3)
    alone = Past.of(nights.store.judgements.history(1, last=3))

    assert [1, 10_000] == sorted(found)
    assert 0 == len(found[10_000])
    assert {one.name: list(getattr(alone, one.name)) for one in fields(Past)} == {
        one.name: list(getattr(found[1], one.name)) for one in fields(Past)
    }


def test_an_occasion_judged_again_goes_on_from_what_was_remembered_before_it(nights: World) -> None:
    def remember(number: int, memory: dict[str, int]) -> None:
        judged = SeriesJudgement(1, Past.of(history(nights)), Judgement(WORSE), memory)
        nights.store.judgements.write_all(night(number), [judged], nights.now)

    remember(6, {"nights": 7})
    remember(7, {"nights": 8})
    remember(7, {"nights": 8})

    assert {1: {"nights": 7}} == nights.store.judgements.tracks(night(7), [1])
    assert {1: {"nights": 8}} == nights.store.judgements.tracks(night(5), [1])


def test_all_series_of_a_night_are_written_or_none(nights: World) -> None:
    lost = SeriesJudgement(1, Past.of([replace(history(nights)[0], run="gone")]), Judgement(WORSE, (change(0),)))

    with pytest.raises(PerfdError, match="which the store does not know"):
        nights.store.judgements.write_all(night(7), [lost], nights.now)

    assert nights.store.judgements.verdict(1, night(7)) is None
