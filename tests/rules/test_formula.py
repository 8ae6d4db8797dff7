"""Formulas over Series: arithmetic and nothing else."""

import numpy as np
import pytest

from perfd.errors import BadInputError
from perfd.rules.formula import Formula, parse

A = np.array([1.0, 2.0, 4.0])
B = np.array([2.0, 0.0, np.nan])


def value(text: str) -> list[float | None]:
    found = parse(text).over({1: A, 2: B})
    return [None if np.isnan(one) else float(one) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s1", [1.0, 2.0, 4.0]),
        ("s1 / s2", [0.5, None, None]),
        ("-(s1 - 2) * 3", [3.0, 0.0, -6.0]),
        ("s1 + s2 * 2", [5.0, 2.0, None]),
        ("(s1 + s1) / s1", [2.0, 2.0, 2.0]),
        (".5 * s1", [0.5, 1.0, 2.0]),
    ],
)
def test_a_formula_is_arithmetic_with_gaps_where_a_value_is_missing(text: str, expected: list[float | None]) -> None:
    assert expected == value(text)


def test_a_value_that_no_chart_has_room_for_is_none() -> None:
    found = parse("s1 * s2").over({1: np.array([1e140, 1e155, -1e155]), 2: np.array([1e140, 1e152, 1e152])})

    assert [True, False, False] == np.isfinite(found).tolist()


def test_a_formula_names_each_series_once() -> None:
    found = parse("(s12 - s7) / s7")

    assert isinstance(found, Formula)
    assert {12, 7} == set(found.series)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "3",
        "s1 ** 9",
        "s1 // s2",
        "s1(s2)",
        "s1.s2",
        "ss1",
        "s0",
        "s01",
        "s",
        "s1 s2",
        "s1 +",
        "(" * 150,
        "(" * 90 + "s1" + ")" * 90,
        "-" * 190 + "s1",
        "9" * 199,
        "s1 + " + ".".join("1" * 9),
        "__import__('os')",
        "s1 if s2 else s1",
        "[s1]",
        "s1\n+s2",
        "s1 + 1e400",
        "+".join(f"s{number}" for number in range(1, 12)),
        "s1" + " " * 300,
        "s9999999999999999999",
        "s1, s2",
        "((s1)",
    ],
)
def test_anything_else_is_refused_or_harmless(text: str) -> None:
    try:
        found = parse(text)
    except BadInputError:
        return
    assert text in {"(" * 90 + "s1" + ")" * 90, "-" * 190 + "s1"}
    assert 3 == len(found.over({1: A}))
