"""`perfd detect`: files in, answers out; every bad input is one sentence, every treatment is told."""

import json

import numpy as np
import pytest

from perfd.errors import BadInputError
from perfd.rules.detect import answer, detect
from perfd.rules.series_file import read_series


def as_json(values: list[float | None], name: str = "s") -> str:
    return json.dumps({"series": {name: values}})


def stepped() -> list[float]:
    values = 100 + np.random.default_rng(0).normal(size=120)
    values[80:] += 6
    return [float(value) for value in values]


def test_the_answer_has_the_form_of_the_design() -> None:
    told = answer(detect(read_series(as_json(stepped()), "f.json")))

    series = told["series"]["s"]
    (change,) = (one for one in series["changes"] if one["status"] == "detected")
    assert {"index", "kind", "status", "flagged_at", "before", "after", "effect", "interval", "q"} == set(change)
    assert (80, "step", "detected") == (change["index"], change["kind"], change["status"])
    assert 83 <= change["flagged_at"] <= 84
    assert {"4", "7", "14"} == set(series["mde"])
    assert series["noise"]["relative"] > 0
    json.dumps(told, allow_nan=False)


def test_csv_and_json_give_the_same() -> None:
    values = stepped()
    text = "time,speed\n" + "".join(f"{night},{value!r}\n" for night, value in enumerate(values))

    from_csv = answer(detect(read_series(text, "f.csv")))["series"]["speed"]

    assert answer(detect(read_series(as_json(values), "f")))["series"]["s"] == from_csv


def test_missing_nights_are_left_out_and_counted_and_places_count_them() -> None:
    values: list[float | None] = list(stepped())
    values[10:14] = [None] * 4
    values.insert(0, None)

    told = answer(detect(read_series(as_json(values), "f")))["series"]["s"]

    assert 81 in [change["index"] for change in told["changes"]]
    assert any("5 of 121 nights are missing" in note for note in told["notes"])


@pytest.mark.parametrize("values", [[1.0], [None, None], [1, 2, 3]])
def test_too_little_is_unsure_and_no_error(values: list[float | None]) -> None:
    told = answer(detect(read_series(as_json(values), "f")))["series"]["s"]

    assert [] == told["changes"]
    assert any("6 are needed" in note for note in told["notes"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("time,value\n", "a header and no rows"),
        ("when,ever\n1,2", "expected a header such as time,value"),
        ("time,v\n1,fast", "line 2, column 'v': expected a number, saw 'fast'"),
        ("time,v\n1,3 ms", "a unit belongs in the column's name"),
        ("time,v\n1,inf", "infinite"),
        ("time,v,v\n1,2,3", "'v' is not"),
        ("time,v\n2026-01-01,1\nsoon,2", "'soon' is no time"),
        ("[1, 2", "not JSON"),
        ('{"series": {}}', "at least one series"),
        ('{"series": {"a": []}}', "is empty"),
        ('{"series": {"a": "no"}}', "no list of numbers"),
        ('{"series": {"a": [1, "x"]}}', "item 1: expected a number or null, saw 'x'"),
        ('{"series": {"a": [1e999]}}', "infinite"),
        ('{"series": {"a": [1], "a": [2]}}', "the name 'a' stands there twice"),
        ("[" * 100_000, "lists in lists without end"),
        ("time,value\n1,2\n2,3,4\n", "line 3: 3 cells under a header of 2 columns"),
    ],
)
def test_bad_input_is_one_clear_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadInputError) as caught:
        read_series(text, "f")

    assert sentence in caught.value.message


def test_ten_million_values_are_refused_before_they_are_read() -> None:
    with pytest.raises(BadInputError, match="at most 2000000 are read"):
        read_series("time,v\n" + "1,1\n" * 2_000_001, "f")


def test_unsorted_and_double_times_are_sorted_reduced_and_told() -> None:
    (one,) = read_series("time,v\n2026-01-03,3\n2026-01-01,1\n2026-01-02,\n2026-01-03,5", "f")

    assert [1.0, 4.0] == list(one.values[~np.isnan(one.values)])
    assert any("sorted" in note for note in one.notes)
    assert any("median" in note for note in one.notes)


def test_a_unit_that_changed_is_doubted_aloud() -> None:
    values = [0.02 + night * 1e-6 for night in range(30)] + [20 + night * 1e-3 for night in range(30)]

    (found,) = detect(read_series(as_json(values), "f"))

    assert any("did the unit change" in note for note in found.notes)


def test_negative_and_zero_values_are_judged_and_told() -> None:
    signs = np.random.default_rng(3).normal(size=50)
    zeros = [0.0] * 30 + [1.0] * 10

    (crossing,) = detect(read_series(as_json([float(v) for v in signs]), "f"))
    (rising,) = detect(read_series(as_json(zeros), "f"))

    assert any("change sign" in note for note in crossing.notes)
    assert [30] == [change.index for change in rising.changes]


def test_online_keeps_the_place_that_the_flag_had() -> None:
    series = read_series(as_json(stepped()), "f")

    (online,), (later,) = detect(series, online=True), detect(series)

    assert online.changes[0].flagged_at == later.changes[0].flagged_at


def test_a_number_whose_square_overflows_is_refused_with_its_place() -> None:
    with pytest.raises(BadInputError, match=r"line 3, column 'value': -1e\+308 is beyond 1e\+100"):
        read_series("time,value\n1,2\n2,-1e308\n", "f.csv")


def test_a_spike_is_logged_where_it_is_though_the_night_before_was_odd_too() -> None:
    values = 100 + np.random.default_rng(3).normal(size=100) * 0.5
    values[80:84] = [
        101.45,
        104.2,
        103.9,
        104.0,
    ]  # the first is a suspect too, and the three after it are nearer to it than to 100

    told = answer(detect(read_series(as_json([float(value) for value in values]), "f.json"), online=True))

    spikes = [one for one in told["series"]["s"]["changes"] if one["kind"] == "transient"]
    assert 81 in {one["index"] for one in spikes}
