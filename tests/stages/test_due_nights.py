"""Nights are opened once each, whatever clocks do: missed, fired twice, set forward and back, two at once, summer time."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from perfd.config import Schedule
from perfd.domain.run import OccasionKind
from perfd.stages.context import is_dead, worker_name
from perfd.stages.night import open_due_night
from perfd.stages.timekeeper import Timekeeper
from perfd.store import Store, make_engine

DAY = timedelta(days=1)
BEGAN = datetime(2026, 3, 20, 12, tzinfo=UTC)
BERLIN = Schedule(nightly="02:30", timezone="Europe/Berlin")


def opened(store: Store, moments: Iterable[datetime], schedule: Schedule = BERLIN) -> list[datetime]:
    """Due times of the nights that a clock opened which fired at those moments."""
    nights = [open_due_night(store, schedule, moment) for moment in moments]
    return [night.nominal_at for night in nights if night is not None]


@pytest.fixture
def begun(store: Store) -> Store:
    store.began_at(BEGAN)
    return store


def test_no_night_is_opened_that_was_due_before_perfd_began(begun: Store) -> None:
    assert [] == opened(begun, [BEGAN, BEGAN + timedelta(hours=1)])


def test_nights_that_were_missed_are_caught_up_by_one(begun: Store) -> None:
    assert [datetime(2026, 3, 24, 1, 30, tzinfo=UTC)] == opened(begun, [BEGAN + 4 * DAY, BEGAN + 4 * DAY])


def test_a_clock_that_fires_again_and_again_opens_one_night_a_day(begun: Store) -> None:
    every_minute = [BEGAN + timedelta(minutes=minute) for minute in range(2 * 24 * 60)]

    assert 2 == len(opened(begun, every_minute))


def test_many_clocks_that_fire_at_once_open_one_night(begun: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: open_due_night(begun, BERLIN, BEGAN + DAY), range(24)))

    assert 1 == sum(night is not None for night in found)
    assert 1 == len(begun.pages.occasions(OccasionKind.NIGHT, 10))


def test_two_clocks_that_differ_by_minutes_open_each_night_once(begun: Store) -> None:
    moments = [BEGAN + timedelta(minutes=minute) for minute in range(0, 3 * 24 * 60, 5)]
    both = [moment + late for moment in moments for late in (timedelta(0), timedelta(minutes=-7))]

    assert 3 == len(opened(begun, both))


def test_a_clock_that_jumps_ahead_and_back_opens_every_real_night_once(begun: Store) -> None:
    ahead = BEGAN + 100 * DAY
    days = [BEGAN + number * DAY for number in range(1, 5)]

    found = opened(begun, [days[0], ahead, ahead, days[1], days[1], days[2], days[0], days[3]])

    assert 5 == len(found)
    assert {(day - timedelta(hours=12)).date() for day in [*days, ahead]} == {due.date() for due in found}


def test_a_clock_that_is_set_back_opens_no_night_again(begun: Store) -> None:
    late = BEGAN + 3 * DAY

    assert 3 == len(opened(begun, [BEGAN + DAY, BEGAN + 2 * DAY, late, late - timedelta(hours=3), late - DAY, late]))


@pytest.mark.parametrize("day", [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)], ids=["spring", "autumn"])
@pytest.mark.parametrize("nightly", ["01:59", "02:00", "02:30", "03:00"])
def test_summer_time_neither_skips_nor_doubles_a_night(begun: Store, day: datetime, nightly: str) -> None:
    schedule = Schedule(nightly=nightly, timezone="Europe/Berlin")
    moments = [day - DAY + timedelta(minutes=10 * step) for step in range(3 * 24 * 6)]

    found = opened(begun, moments, schedule)

    dates = [due.astimezone(ZoneInfo("Europe/Berlin")).date() for due in found]
    assert [day.date() + number * DAY for number in (-1, 0, 1)] == [one for one in dates if one >= (day - DAY).date()]


def test_the_time_is_the_database_s(store: Store) -> None:
    keeper = Timekeeper(store, every_s=0.0)

    assert abs(keeper() - store.time()) < timedelta(seconds=5)


def test_time_goes_on_while_the_database_is_away(new_database: Callable[[], str]) -> None:
    url = make_url(new_database())
    engine = make_engine(url.render_as_string(hide_password=False))
    keeper = Timekeeper(Store(engine), every_s=0.0)
    before = keeper()
    admin = create_engine(url.set(database="postgres"), isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with admin.connect() as connection:
        connection.execute(text(f"ALTER DATABASE {url.database} ALLOW_CONNECTIONS false"))
        connection.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{url.database}'"))  # noqa: S608  # ours

    assert timedelta(0) < keeper() - before < timedelta(seconds=20)
    engine.dispose()
    admin.dispose()


def test_a_worker_of_another_boot_or_container_is_left_to_its_lease() -> None:
    host, pid, birth = worker_name().split(":")
    started, home = birth.split("-")

    assert not is_dead(worker_name())
    assert is_dead(f"{host}:{pid}:1{started}-{home}")  # the number was given to another process
    assert is_dead(f"{host}:{pid}:1{started}")  # as older workers name themselves
    assert not is_dead(f"{host}:{pid}:1{started}-00000000")
    assert not is_dead(f"elsewhere:{pid}:1{started}-{home}")
