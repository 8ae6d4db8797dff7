"""What is said below a night's table."""

from typing import Any

from perfd.cli.tables import told

QUIET: dict[str, Any] = {"regressions": []}


def test_a_quiet_first_night_says_nothing_more() -> None:
    nothing = {"wrong": 0, "of": 0, "aa": 0, "remeasured": 0, "days": 30, "interval": [0.0, 1.0]}

    assert [] == told(QUIET | {"false_alarms": nothing, "spending": {"devices": []}})


def test_the_worst_stands_first_and_a_raised_regression_is_told_once() -> None:
    report = {
        "improvements": [{"title": "tiny: chat ttft_s -8.0% since 3f2a Keep the cache"}],
        "suspects": [
            {"regression": 3, "state": "confirmed", "title": "tiny: chat tpot_s +5.0%"},
            {"regression": 4, "state": "suspect", "title": "tiny: batch e2e_s +9.0%"},
        ],
        "regressions": [{"regression": 3, "title": "tiny: chat tpot_s +5.0%"}],
        "bisections": [],
    }

    assert [
        "▼ regression 3: tiny: chat tpot_s +5.0%",
        "? regression 4 (suspect): tiny: batch e2e_s +9.0%",
        "▲ tiny: chat ttft_s -8.0% since 3f2a Keep the cache",
    ] == told(report)


def test_how_often_perfd_was_wrong_and_what_was_spent_stand_last() -> None:
    alarms = {"wrong": 1, "of": 40, "aa": 30, "remeasured": 10, "days": 30, "interval": [0.0006, 0.132]}
    device = {"host": "h", "device": "cpu", "device_class": "cpu:x", "runs": 9, "busy": 0.8}
    spending = {"minutes_a_device_class": 60, "spent_minutes": {"cpu:x": 1.5}, "not_begun": 2, "devices": [device]}

    assert [
        "wrong in 1 of 30 A/A comparisons and 10 re-measurements of 30 days: 0.1% to 13.2% are false alarms",
        "spent 1.5 min on cpu:x; h cpu 80% busy; 2 runs not begun, the night's minutes were spent",
    ] == told(QUIET | {"false_alarms": alarms, "spending": spending})
