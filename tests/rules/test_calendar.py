from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from perfd.rules.calendar import last_due, last_of_week, next_due

BERLIN = ZoneInfo("Europe/Berlin")


def test_a_night_is_due_once_a_local_day() -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=UTC)

    assert datetime(2026, 7, 1, 0, 30, tzinfo=UTC) == last_due(noon, time(2, 30), BERLIN)
    assert datetime(2026, 7, 2, 0, 30, tzinfo=UTC) == next_due(noon, time(2, 30), BERLIN)


def test_the_due_moment_itself_belongs_to_the_past() -> None:
    due = datetime(2026, 7, 1, 0, 30, tzinfo=UTC)

    assert due == last_due(due, time(2, 30), BERLIN)
    assert due + timedelta(days=1) == next_due(due, time(2, 30), BERLIN)


@pytest.mark.parametrize(("year", "month", "day"), [(2026, 3, 29), (2026, 10, 25)])
def test_a_day_on_which_the_clocks_change_has_exactly_one_night(year: int, month: int, day: int) -> None:
    moments = [datetime(year, month, day, tzinfo=UTC) + timedelta(minutes=10 * step) for step in range(-144, 3 * 144)]

    seen = {last_due(moment, time(2, 30), BERLIN) for moment in moments}

    assert [1, 1, 1] == [
        sum(due.astimezone(BERLIN).date() == date(year, month, day) + timedelta(days=offset) for due in seen)
        for offset in (-1, 0, 1)
    ]


def test_stepping_from_due_time_to_due_time_visits_every_day_of_a_year() -> None:
    due = next_due(datetime(2026, 1, 1, 12, tzinfo=UTC), time(2, 30), BERLIN)
    days = set()
    for _ in range(364):
        days.add(due.astimezone(BERLIN).date())
        due = next_due(due, time(2, 30), BERLIN)

    assert 364 == len(days)


def test_a_weekly_moment_comes_every_seven_days_of_the_calendar() -> None:
    monday = datetime(2026, 3, 23, 7, 0, tzinfo=UTC)  # 08:00 in Berlin, still in winter

    assert monday - timedelta(days=7) == last_of_week(monday - timedelta(seconds=1), 0, time(8), BERLIN)
    assert monday == last_of_week(monday, 0, time(8), BERLIN)
    assert datetime(2026, 3, 30, 6, 0, tzinfo=UTC) == last_of_week(monday + timedelta(days=9), 0, time(8), BERLIN)
