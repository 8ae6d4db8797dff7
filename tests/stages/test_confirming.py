from pathlib import Path

import pytest
from store_world import FIRST_NIGHT
from told_world import Told, told_world

from perfd.domain.run import Arm, OccasionKind
from perfd.domain.verdict import RegressionState, Reproduced
from perfd.stages.confirm import confirm
from perfd.stages.judge import judge
from perfd.stages.report import report
from perfd.store import Store


@pytest.fixture
def told(store: Store, tmp_path: Path) -> Told:
    made = told_world(store, tmp_path)
    made.quiet_nights()
    return made


def test_a_suspect_that_is_reproduced_is_told_once_on_its_first_night(told: Told) -> None:
    told.speed[Arm.HEAD] = 1.1
    night = told.night(1.1)
    told.finish()

    (found,) = told.regressions()
    assert RegressionState.CONFIRMED == found.state
    assert ["it was measured again, with the same result"] == told.messages()
    assert [found.id] == [one["regression"] for one in told.report(night)["regressions"]]

    second = told.night(1.1)
    told.finish()
    assert 1 == len(told.messages())
    assert [] == told.report(second)["regressions"]


def test_a_suspect_that_is_not_reproduced_is_noise_and_counted_as_a_false_alarm(told: Told) -> None:
    told.night(1.1)
    told.finish()

    (found,) = told.regressions()
    assert RegressionState.NOISE == found.state
    assert [] == told.messages()
    counted = told.store.trust.false_alarms(FIRST_NIGHT)
    assert (1, 1) == (counted.remeasured, counted.refuted)

    for _ in range(6):  # the machine stays slow: what was refuted at this Build is remembered
        told.night(1.1, number=8)
        told.finish()
    assert [] == told.messages()


def test_a_refuted_night_does_not_hide_a_real_slowdown_soon_after(told: Told) -> None:
    told.night(1.3)
    told.finish()
    told.night(1.0)
    told.finish()
    told.speed[Arm.HEAD] = 1.08
    told.night(1.08)
    told.finish()

    assert [RegressionState.NOISE, RegressionState.CONFIRMED] == [row.state for row in told.regressions()]
    assert [10] == [int(row.revision, 16) for row in told.regressions()[1:]]
    assert 1 == len(told.messages())


def test_the_comparison_is_of_the_last_good_build_against_the_first_bad_one_and_enters_no_series(told: Told) -> None:
    told.night(1.1)
    told.finish()

    (compared,) = told.store.pages.occasions(OccasionKind.COMPARE)
    summary = told.store.pages.occasion(compared.occasion)
    assert "confirm 1" == compared.occasion.label
    assert {(Arm.BASE, 7), (Arm.HEAD, 8)} == {(run.arm, int(run.revision, 16)) for run in summary.runs}
    assert all(len(told.store.judgements.history(series.info.id)) == 9 for series in told.store.pages.series_rows())


def test_a_build_that_cannot_be_measured_again_is_told_when_its_series_shows_it(told: Told) -> None:
    told.speed.clear()
    told.night(1.1)
    told.finish()

    (found,) = told.regressions()
    assert RegressionState.SUSPECT == found.state
    assert "impossible" in found.events[-1].reason
    assert [] == told.messages()

    for _ in range(4):
        told.night(1.1)
        told.finish()
    assert ["the Series shows a lasting change; it could not be measured again"] == told.messages()


def test_without_time_for_it_nothing_is_measured_again(store: Store, tmp_path: Path) -> None:
    told = told_world(store, tmp_path, minutes=0.0)
    told.quiet_nights()
    for _ in range(5):
        told.night(1.1)
        told.finish()

    assert () == told.store.pages.occasions(OccasionKind.COMPARE)
    assert ["the Series shows a lasting change; the configuration re-measures nothing"] == told.messages()


def test_a_night_without_minutes_left_stays_unsure_and_the_next_tries_again(store: Store, tmp_path: Path) -> None:
    told = told_world(store, tmp_path, minutes=0.5)  # three Runs of nine seconds, and a block has four
    told.quiet_nights()
    told.speed[Arm.HEAD] = 1.1
    told.night(1.1)
    told.finish()
    told.night(1.1)
    told.finish()

    tried = told.store.confirmations.of_regressions(1)[1]
    assert [Reproduced.UNSURE, Reproduced.UNSURE] == [one.outcome for one in tried]
    assert [] == told.messages()


def test_a_kill_between_any_two_steps_gives_no_second_comparison_and_no_second_message(told: Told) -> None:
    told.speed[Arm.HEAD] = 1.1
    told.night(1.1)
    while told.measure() or judge(told.context):
        pass
    assert confirm(told.context)
    assert not confirm(told.context)  # it is planned, and another worker finds nothing to plan
    while told.measure() or judge(told.context):
        pass

    (row,) = told.store.confirmations.unsettled()
    assert confirm(told.context)
    assert told.store.confirmations.of(row.occasion) is not None
    assert () == told.store.confirmations.unsettled()
    told.finish()
    assert not report(told.context)
    assert 1 == len(told.store.pages.occasions(OccasionKind.COMPARE))
    assert 1 == len(told.messages())
