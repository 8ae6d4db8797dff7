"""How Series are looked at: days, scales, a release to be held against, others laid over, many at once, and formulas."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from html import unescape

import httpx
import pytest
from site_history import HOSTILE, MODEL, History, spec
from test_pages import words

from perfd.store import Store

OTHER = replace(MODEL, quantisation="Q8_0")


def two_models(history: History) -> None:
    """Every night measures one Model in two quantisations."""
    for number in range(6):
        for model, hours in ((MODEL, 0), (OTHER, 3)):
            occasion = replace(history.occasion(number), nominal_at=history.occasion(number).nominal_at + timedelta(hours=hours))
            now = history.plan(occasion, number, kernels=False, model=model)
            history.build(now)
            history.measure(occasion, now, 1.0 if model is MODEL else 1.3)
            history.close(now + timedelta(minutes=20))


@pytest.fixture(scope="module")
def site(new_store: Callable[[], Store], browse: Callable[[Store], httpx.Client]) -> httpx.Client:
    store = new_store()
    two_models(History(store))
    return browse(store)


def ids(site: httpx.Client, metric: str) -> list[int]:
    return [one["id"] for one in site.get(f"/api/v1/series?metric={metric}").json()["series"]]


def attribute(page: str, name: str) -> str:
    found = re.search(rf'{name}="([^"]*)"', page)
    assert found is not None
    return unescape(found[1])


def test_a_series_offers_those_that_differ_in_one_part(site: httpx.Client) -> None:
    first, second = ids(site, "ttft_s")

    page = site.get(f"/series/{first}").text

    assert f'name="with" value="{second}"' in page
    assert "quantisation Q" in words(page)


def test_series_that_are_laid_over_share_one_chart_and_a_table(site: httpx.Client) -> None:
    first, second = ids(site, "ttft_s")

    page = site.get(f"/series/{first}?with={second}").text

    assert [first, second] == [one["id"] for one in json.loads(attribute(page, "data-lines"))]
    assert f"/api/v1/points?series={first},{second}" == attribute(page, 'class="lines".*?data-numbers')
    assert "of 2 Series by the time of measuring" in words(page)


def test_a_ratio_is_taken_to_the_named_release(site: httpx.Client) -> None:
    first = ids(site, "ttft_s")[0]
    release = spec("llamacpp", 2).revision
    told = site.get(f"/api/v1/series/{first}").json()
    value = told["data"][1][told["points"]["revision"].index(release)]

    page = site.get(f"/series/{first}?scale=ratio&against={release[:7]}").text

    assert pytest.approx(value) == float(attribute(page, "data-size"))
    assert f"as a ratio, \N{MULTIPLICATION SIGN} {release[:12]}" in words(page)


def test_a_ratio_to_what_was_not_measured_is_told(site: httpx.Client) -> None:
    first = ids(site, "ttft_s")[0]

    assert "0xfeed was not measured in this Series" in words(site.get(f"/series/{first}?scale=ratio&against=0xfeed").text)
    assert "Name the Revision" in words(site.get(f"/series/{first}?scale=ratio").text)


def test_zero_has_no_logarithm_and_the_page_says_so(site: httpx.Client) -> None:
    page = site.get(f"/series/{ids(site, 'failed_requests')[0]}?scale=log").text

    assert "A logarithm needs values above zero" in words(page)
    assert "data-log" not in page


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("scale=cubic", "scale is log or ratio"),
        ("from=yesterday", "from is a day such as"),
        ("from=2026-03-09&to=2026-03-02", "is after to"),
        ("with=x", "numbers of Series"),
        ("with=1,2,3,4,5,6,7,8,9", "at most 8 Series"),
        ("with=999999", "There is no Series 999999"),
        ("against=%00", "control character"),
    ],
)
def test_a_view_that_cannot_be_drawn_is_told_so(site: httpx.Client, query: str, sentence: str) -> None:
    answer = site.get(f"/series/{ids(site, 'ttft_s')[0]}?{query}")

    assert answer.status_code in {400, 404}
    assert sentence in words(answer.text)


def test_a_hostile_release_is_escaped(site: httpx.Client) -> None:
    page = site.get(f"/series/{ids(site, 'ttft_s')[0]}", params={"scale": "ratio", "against": HOSTILE}).text

    assert "<script>alert" not in page
