from xml.etree import ElementTree as ET

import pytest

from perfd.site.drawing import HEIGHT, sparkline, strip

HOSTILE = "</title><script>alert(1)</script>"


def heights(svg: str) -> list[float]:
    path = ET.fromstring(svg).find("path")  # noqa: S314  # our own SVG
    assert path is not None
    return [float(spot.split(" ")[1]) for spot in path.attrib["d"].removeprefix("M").split("L")]


@pytest.mark.parametrize("values", [[1.0], [1.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 5.0], [1e-9] * 60, list(range(10_000))])
def test_every_sparkline_is_well_formed_and_stays_inside(values: list[float]) -> None:
    found = heights(sparkline(values, "title"))

    assert all(0.0 <= height <= HEIGHT for height in found)


def test_noise_within_four_per_cent_is_drawn_calm() -> None:
    calm = heights(sparkline([100.0, 100.5, 99.8, 100.2], "t"))
    steep = heights(sparkline([100.0, 150.0], "t"))

    assert max(calm) - min(calm) < (max(steep) - min(steep)) / 3


def test_a_hostile_title_stays_text() -> None:
    for svg in (sparkline([1.0, 2.0], HOSTILE), strip([1.0, 2.0], HOSTILE)):
        assert "<script" not in svg
        assert HOSTILE == ET.fromstring(svg).findtext("title")  # noqa: S314  # our own SVG


def test_nothing_is_drawn_of_nothing() -> None:
    assert "" == sparkline([], "t") == strip([], "t")


@pytest.mark.parametrize("values", [[1.0], [2.0] * 5, [0.0, 1.0, 1000.0]])
def test_a_strip_has_a_bar_for_its_samples_and_a_rule_at_the_median(values: list[float]) -> None:
    drawn = ET.fromstring(strip(values, "t"))  # noqa: S314  # our own SVG

    assert drawn.findall("rect")
    assert 1 == len(drawn.findall("line"))
