"""How Series are looked at: days, scales, a release to be held against, others laid over, many at once, and formulas."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape

import httpx
import pytest
from site_history import HOSTILE, History, spec, two_models
from test_pages import words

from perfd.domain.metric import METRICS
from perfd.domain.subject import SubjectKind
from perfd.site.kernels import kernel_tables
from perfd.store import Store


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
        ("with=6", "one chart has one unit"),
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


def test_explore_draws_a_subset_from_one_request(site: httpx.Client) -> None:
    found = ids(site, "ttft_s")

    page = site.get("/explore?metric=ttft_s&class=chat").text

    assert f"/api/v1/points?series={','.join(map(str, found))}" == attribute(page, "data-charts")
    assert 2 == page.count('class="chart small"')
    assert "2 Series with these parts." in words(page)


def test_a_ratio_of_two_series_is_taken_day_by_day(site: httpx.Client) -> None:
    first, second = ids(site, "ttft_s")
    values = [site.get(f"/api/v1/series/{one}").json()["data"][1] for one in (first, second)]

    page = site.get("/explore", params={"metric": "ttft_s", "f": f"s{second} / s{first}"}).text

    days, ratios = json.loads(attribute(page, "data-columns"))
    assert 6 == len(days)
    assert pytest.approx([head / base for base, head in zip(*values, strict=True)]) == ratios
    assert f"s{second} / s{first} is" in words(page)


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("f=s1 ** 9", 400, "is no formula"),
        ("f=<script>alert(1)</script>", 400, "is no formula"),
        ("f=s999999 / s1", 404, "names s999999"),
        ("f=s1&f=s2&f=s3&f=s4&f=s5", 400, "at most 4 formulas"),
        ("metric=nothing", 200, "No Series has these parts."),
        ("offset=10000000", 200, "Series"),
        ("verdict=perhaps", 400, "verdict is one of"),
    ],
)
def test_what_explore_cannot_show_is_told(site: httpx.Client, query: str, status: int, sentence: str) -> None:
    answer = site.get(f"/explore?{query}")

    assert status == answer.status_code
    assert sentence in words(answer.text)
    assert "<script>alert" not in answer.text


def test_a_formula_that_has_no_day_says_so(site: httpx.Client) -> None:
    never = ids(site, "failed_requests")[0]

    assert "no day on which all of its Series were measured" in words(site.get(f"/explore?f=s1 / s{never}").text)


def test_an_empty_explore_says_what_to_do(empty: httpx.Client) -> None:
    page = words(empty.get("/explore").text)

    assert "Nothing has been measured yet." in page
    assert "perfd nightly" in page


def test_two_quantisations_are_compared_at_their_last_points(site: httpx.Client) -> None:
    first, second = ids(site, "ttft_s")
    values = [site.get(f"/api/v1/series/{one}").json()["data"][1][-1] for one in (first, second)]

    found = site.get("/api/v1/compare?by=quantisation&base=Q4_1&head=Q8_0&metric=ttft_s").json()
    page = site.get("/compare?by=quantisation&base=Q4_1&head=Q8_0").text

    assert [pytest.approx(values[1] / values[0] - 1)] == [one["effect"] for one in found["series"]]
    assert f'href="/series/{second}?with={first}"' in page
    assert "Series that are equal in all but their quantisation" in words(page)


def test_a_geometric_mean_names_its_set_and_keeps_classes_apart(site: httpx.Client) -> None:
    page = site.get("/compare?by=quantisation&base=Q4_1&head=Q8_0").text

    assert "1 Series of chat, ttft_s" in words(page)
    assert "1 Series of accuracy, nll_nats" in words(page)
    assert "1 Series of chat, failed_requests" not in words(page)  # zero has no logarithm


def test_raw_samples_of_both_sides_are_shown_on_demand(site: httpx.Client) -> None:
    second = ids(site, "ttft_s")[1]

    page = site.get(f"/compare?by=quantisation&base=Q4_1&head=Q8_0&samples={second}").text

    assert "Raw Samples of ttft_s" in words(page)
    assert 2 == page.count('<svg class="strip"')
    assert 24 == int(re.findall(r'<td class="number wide">(\d+)</td>', page)[0])


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("by=colour&base=a&head=b", 400, "by is one of"),
        ("by=device&base=a&head=b", 404, "No Series has the device a."),
        ("by=quantisation&base=Q4_1&head=Q8_0&samples=x", 400, "samples is the number"),
        ("by=quantisation&base=Q4_1&head=Q8_0&samples=999999", 404, "has no raw Samples on both sides"),
    ],
)
def test_a_comparison_that_cannot_be_made_is_told(site: httpx.Client, query: str, status: int, sentence: str) -> None:
    answer = site.get(f"/compare?{query}")

    assert status == answer.status_code
    assert sentence in words(answer.text)


def test_the_queue_says_what_each_run_is_for(new_store: Callable[[], Store], browse: Callable[[Store], httpx.Client]) -> None:
    store = new_store()
    history = History(store)
    history.plan(history.occasion(0), 0, kernels=False)
    store.outbox.put("regression:1:told", "regression", {"title": HOSTILE}, history.occasion(0).nominal_at)

    page = words(browse(store).get("/status").text)

    assert "llamacpp on chat-short night 12 h" in page
    assert "regression regression:1:told 0" in page


def test_a_timed_kernel_has_its_share_of_the_roofline_and_its_noise_floor(filled_store: Store) -> None:
    row = next(one for one in filled_store.pages.series_rows() if one.info.subject_kind is SubjectKind.KERNEL)
    timed = replace(row, info=replace(row.info, metric=METRICS["kernel_s"], workload_name="add_rms_norm/timing/1823x781"))

    [table] = kernel_tables([timed], {row.latest.run_id: 0.625})

    rows = {one.metric: one.cells[0] for one in table.sections[0].rows}
    shares = rows["of the roofline"]
    assert shares is not None
    assert "62.5" == shares.value
    assert "noise floor" in rows
