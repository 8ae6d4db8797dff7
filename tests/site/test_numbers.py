import pytest

from perfd.domain.numbers import signed
from perfd.site import numbers
from perfd.site.numbers import MINUS, NOTHING


@pytest.mark.parametrize(
    ("unit", "values", "shown"),
    [
        ("s", [0.0123456], ("12.35", "ms")),
        ("s", [3.2e-6], ("3.200", "µs")),
        ("s", [2.0e-9], ("2.000", "ns")),
        ("s", [75.25], ("75.25", "s")),
        ("bytes", [432013312.0], ("412.0", "MiB")),
        ("bytes", [16384.0], ("16.00", "KiB")),
        ("bytes", [0.0], ("0", "B")),
        ("tokens/s", [158.234], ("158.2", "tokens/s")),
        ("registers/thread", [48.0], ("48", "registers/thread")),
        ("share", [0.98765], ("0.9877", "share")),
        ("nats/token", [1e-7], ("0.1000", "10⁻⁶ nats/token")),
        ("tokens/s", [12345.6], ("12,346", "tokens/s")),
    ],
)
def test_a_number_is_shown_in_the_unit_that_fits_it(unit: str, values: list[float], shown: tuple[str, str]) -> None:
    scale = numbers.scale_of(unit, values)

    assert shown == (scale.text(values[0]), scale.unit)


def test_one_scale_serves_a_whole_series() -> None:
    scale = numbers.scale_of("s", [0.9, 1.2, 0.0004])

    assert ["0.900", "1.200", "0.000"] == [scale.text(value) for value in (0.9, 1.2, 0.0004)]
    assert "[0.800, 1.000]" == scale.interval((0.8, 1.0))


def test_what_is_no_number_is_a_dash() -> None:
    scale = numbers.scale_of("s", [])

    assert [NOTHING] * 3 == [scale.text(value) for value in (None, float("nan"), float("inf"))]
    assert "" == scale.interval(None)
    assert NOTHING == numbers.percent(None)


@pytest.mark.parametrize(
    ("effect", "text", "arrow"),
    [
        (0.051, "+5.1 %", "▲"),
        (-0.004, f"{MINUS}0.40 %", "▼"),
        (1.5, "+150 %", "▲"),
        (0.0, "0 %", ""),
        (1e-6, "0.00 %", ""),
    ],
)
def test_an_effect_has_its_sign_and_its_arrow(effect: float, text: str, arrow: str) -> None:
    assert (text, arrow) == (numbers.percent(effect), numbers.arrow(effect))


@pytest.mark.parametrize(
    ("number", "form", "text"),
    [(1.234, "+.2f", "+1.23"), (-1.2, "+.2f", f"{MINUS}1.20"), (-0.001, "+.2f", "0.00"), (-2e-7, "+.4g", f"{MINUS}2e{MINUS}07")],
)
def test_a_signed_number_has_a_true_minus_and_zero_has_none(number: float, form: str, text: str) -> None:
    assert text == signed(number, form)


def test_nothing_is_divided_by_zero() -> None:
    assert numbers.effect_between(0.0, 3.0) is None
    assert numbers.effect_between(None, 3.0) is None
    assert 0.0 == numbers.effect_between(0.0, 0.0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, NOTHING),
        (12.34, "12.3 s"),
        (62, "1 min 02 s"),
        (3 * 3600 + 240, "3 h 04 min"),
        (86_400, "24 h"),
        (200_000, "2 d 7 h"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float | None, text: str) -> None:
    assert text == numbers.duration(seconds)
