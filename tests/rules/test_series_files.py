"""Files as people and programs really write them: what cannot be read is one sentence, what is treated is told."""

import json
import math
import time

import numpy as np
import pytest

from perfd.errors import BadInputError
from perfd.rules.detect import answer, detect
from perfd.rules.series_file import read_series
from perfd.rules.series_in import SeriesIn

STEPPED = np.concatenate([np.random.default_rng(5).normal(100, 1, 30), np.random.default_rng(6).normal(110, 1, 20)])


def csv(times: list[str], header: str = "time") -> str:
    return f"{header},v\n" + "".join(f"{time},{value}\n" for value, time in enumerate(times))


def values_of(text: str) -> list[float]:
    (one,) = read_series(text, "f")
    return [float(value) for value in one.values]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("time,v\n\n\n1,2\n\n2,bad\n", "line 6, column 'v'"),
        ('time,"v\nms"\n1,2\n2,bad\n', "line 4, column"),
        ("time," + "x" * 200_000 + "\n1,2\n", "line 1: cannot be read as CSV"),
        ("time,v\n1,2\n2," + "9" * 200_000, "line 3: cannot be read as CSV"),
        ('time,v\n1,"2\n2,3\n', "line 2: cannot be read as CSV (unexpected end of data); close every quote"),
        ("time," + "x" * 2000 + "\n1,2\n", "a name of 2,000 characters"),
        ("time;v\n1;2,5\n", "saw '2,5'; write decimals with a point"),
        ("time,v\n1,2,5\n", "write decimals with a point"),
        (csv(["1", "nan", "3"]), "line 3: 'nan' is no time"),
        (csv(["1", "inf", "3"]), "line 3: 'inf' is no time"),
        (csv(["2026-01-01", "5", "2026-01-03"]), "line 3: '5' stands among dates"),
        (csv(["1", "2026-01-02"]), "line 3: '2026-01-02' stands among numbers"),
        ('{"series": {"a": [1, ' + "9" * 5000 + "]}}", "item 1: infinite"),
        ('{"series": {"\\ud800": [1]}}', "lone surrogate"),
        ('{"series": {"": [1]}}', "an empty name"),
        (json.dumps({"series": {"x" * 1_000_000: [1]}}), "a name of 1,000,000 characters"),
        ("\ufeff \n", "is empty"),
        ("time,v\n" + "1\n" * 2_000_001, "at most 2000000 are read"),
    ],
)
def test_what_cannot_be_read_is_one_short_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadInputError) as caught:
        read_series(text, "f")

    assert sentence in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_times_without_a_zone_are_utc_on_every_machine_and_told_beside_others(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        (one,) = read_series(csv(["2026-01-01T12:00:00Z", "2026-01-01T10:00:00", "2026-01-01T14:00:00+05:00"]), "f")
    finally:
        monkeypatch.undo()
        time.tzset()

    assert [2.0, 1.0, 0.0] == one.values.tolist()
    assert "1 of 3 times name no zone and are read as UTC" in one.notes


def test_one_moment_written_in_two_ways_is_one_night() -> None:
    assert [0.5, 2.0] == values_of(csv(["2026-01-01", "2026-01-01T00:00:00+00:00", "2026-01-02"]))
    assert [0.5, 2.0] == values_of(csv(["1", "1.0", "2"]))


def test_nanoseconds_of_an_epoch_are_told_apart() -> None:
    assert [1.0, 0.0] == values_of(csv(["1780000000000000001", "1780000000000000000"]))


def test_years_before_1970_and_leap_days_are_times() -> None:
    assert [3.0, 1.0, 0.0, 2.0] == values_of(csv(["2024-02-29", "1969-12-31", "2024-03-01", "0001-01-01"]))


@pytest.mark.parametrize("commits", [["9999999", "1234567"], ["91321ef", "12e4567", "0000001", "91321ef"]])
def test_commits_stand_in_the_order_of_the_file_also_where_they_look_like_numbers(commits: list[str]) -> None:
    (one,) = read_series(csv(commits, "commit"), "f")

    assert list(map(float, range(len(commits)))) == one.values.tolist()
    assert () == one.notes


def test_dates_that_cannot_be_read_leave_the_order_of_the_file_and_it_is_told() -> None:
    (one,) = read_series(csv(["31/01/2026", "01/01/2026"], "date"), "f")

    assert [0.0, 1.0] == one.values.tolist()
    assert any("no date is a number or an ISO date" in note for note in one.notes)


@pytest.mark.parametrize("power", [-300, -30, -12, 12, 60, 97])
def test_an_answer_does_not_depend_on_the_unit(power: int) -> None:
    scale = 10.0**power
    (plain,), (scaled,) = (detect([SeriesIn("v", values)]) for values in (STEPPED, STEPPED * scale))

    (before,), (after,) = plain.changes, scaled.changes
    assert (before.index, before.kind, before.flagged_at) == (after.index, after.kind, after.flagged_at)
    assert before.effect == pytest.approx(after.effect, rel=1e-4)
    assert before.after * scale == pytest.approx(after.after, rel=1e-4)
    assert plain.mde == pytest.approx(scaled.mde, rel=1e-3)
    assert plain.noise["absolute"] * scale == pytest.approx(scaled.noise["absolute"], rel=1e-3)


def test_from_a_level_of_zero_the_effect_has_the_unit_of_the_file() -> None:
    (found,) = detect([SeriesIn("v", np.array([0.0] * 25 + [3e9] * 25))])

    (change,) = found.changes
    assert (25, 0.0, 3e9, 3e9) == (change.index, change.before, change.after, change.effect)
    assert (3e9, 3e9) == pytest.approx(change.interval)


def test_a_value_out_of_all_proportion_is_refused_with_its_place() -> None:
    values = np.ones(30)
    values[7] = 1e40

    with pytest.raises(BadInputError, match=r"series 'v', value 7: 1e\+40 is more than 1e\+15 times the usual size"):
        detect([SeriesIn("v", values)])


def test_a_unit_that_changes_on_the_night_of_a_step_of_its_own_is_doubted_too() -> None:
    values = np.concatenate([STEPPED[:25] / 1000, STEPPED[25:]])

    (found,) = detect([SeriesIn("v", values)])

    assert any("by a factor of about 1000 at value 25" in note for note in found.notes)


def test_series_are_judged_together_as_alone() -> None:
    rng = np.random.default_rng(1)
    many = [SeriesIn(f"s{n}", rng.normal(100, 1, n) + 9.0 * (np.arange(n) > n // 2)) for n in (3, 60, 6, 41, 0, 25)]

    together = detect(many)

    assert [answer(detect([one])) for one in many] == [answer([found]) for found in together]


def test_what_is_unsure_has_every_key_of_an_answer() -> None:
    told = answer(detect([SeriesIn("v", np.array([1.0, math.nan]))]))["series"]["v"]

    assert {"4": None, "7": None, "14": None} == told["mde"]
    assert set(answer(detect([SeriesIn("v", STEPPED)]))["series"]["v"]["noise"]) == set(told["noise"])
