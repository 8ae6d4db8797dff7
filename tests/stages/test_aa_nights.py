from datetime import timedelta
from pathlib import Path

from store_world import FIRST_NIGHT
from told_world import told_world

from perfd.domain.budget import Budget
from perfd.domain.run import Arm, OccasionKind
from perfd.domain.verdict import Outcome, RegressionState
from perfd.stages.aa import failing
from perfd.store import Store


def test_every_night_compares_a_build_with_itself_once_and_none_enters_a_series(store: Store, tmp_path: Path) -> None:
    told = told_world(store, tmp_path, aa=True)
    told.quiet_nights()

    rows = told.store.trust.aa(FIRST_NIGHT)
    assert 8 == len(rows)
    assert [Outcome.UNSURE, Outcome.SAME] == [rows[0].outcome, rows[-1].outcome]
    summary = told.store.pages.occasion(rows[-1].occasion)
    assert {Arm.BASE, Arm.HEAD} == {run.arm for run in summary.runs}
    assert 1 == len({run.build for run in summary.runs})
    assert all(len(told.store.judgements.history(one.info.id)) == 8 for one in told.store.pages.series_rows())


def test_it_can_be_switched_off(store: Store, tmp_path: Path) -> None:
    told = told_world(store, tmp_path, aa=False)
    told.quiet_nights()

    assert () == told.store.pages.occasions(OccasionKind.AA)


def test_a_series_that_fails_its_own_aa_is_reported_and_holds_nothing_up(store: Store, tmp_path: Path) -> None:
    told = told_world(store, tmp_path, aa=True)
    told.quiet_nights()
    told.speed = {Arm.BASE: 1.0, Arm.HEAD: 1.1}  # whatever comes second is slower: equal Builds differ
    told.night(1.0)
    told.finish()
    assert {("llama", "chat", "smol", "cpu:x:t1", "ttft_s")} == failing(told.context, timedelta(days=30))
    counted = told.store.trust.false_alarms(FIRST_NIGHT)
    assert 1 == counted.aa_different

    night = told.night(1.1)
    told.finish()
    report = told.report(night)
    assert [False] == [one["gates"] for one in report["regressions"]]
    assert "A/A" in report["regressions"][0]["note"]
    assert counted.aa < report["false_alarms"]["of"]


def test_drift_against_a_pinned_release_is_told_once_and_closed_when_it_is_gone(store: Store, tmp_path: Path) -> None:
    pinned = Budget("llama", f"{2:040x}", 0.05, "ttft_s")
    told = told_world(store, tmp_path, budgets=(pinned,))
    told.quiet_nights()
    for night in range(20):
        told.night(1.0 + 0.005 * night)
        told.finish()

    (found,) = [row for row in told.regressions() if row.cause is not None]
    assert RegressionState.DETECTED == found.state
    assert "since the pinned 000000000000, budget 5.0 %" in found.title
    assert 1 == sum("over many nights" in why for why in told.messages())

    for _ in range(9):
        told.night(1.0)
        told.finish()
    (closed,) = [row for row in told.regressions() if row.cause is not None]
    assert RegressionState.FIXED == closed.state


def test_an_improvement_is_told_in_the_report_and_speed_and_quality_together(store: Store, tmp_path: Path) -> None:
    told = told_world(store, tmp_path)
    told.quiet_nights()
    reports = []
    for _ in range(6):
        night = told.night(0.9)
        told.finish()
        reports.append(told.report(night))

    improved = [one for report in reports for one in report["improvements"]]
    assert 1 == len(improved)
    assert improved[0]["title"].startswith("llama: chat chat ttft_s \N{MINUS SIGN}10.0 % since 000000000000 Commit 8")
    outcomes = {one["outcome"] for report in reports for one in report["subjects"]}
    assert "better" in outcomes
    assert reports[0]["subjects"][0]["quality"] is None
    assert reports[0]["subjects"][0]["speed"]["metric"] == "ttft_s"
