"""Every number leads to the one command that measures it again: a link of its own, and the same as JSON."""

import re
from html import unescape

import httpx
import pytest
from test_pages import links

DAYS = "/compare?base=2026-03-01&head=2026-03-16"


def how(page: str) -> list[str]:
    return [unescape(one) for one in re.findall(r'<a class="how" href="([^"]+)"', page)]


def revision(site: httpx.Client, address: str) -> str:
    """What the command that a number's address means is about."""
    path, _, query = address.partition("?")
    found = site.get(f"/api/v1{path.removesuffix('/how')}/reproduce?{query}").json()
    return str(found["made_of"]["revision"])[:4]


@pytest.mark.parametrize("address", ["/", "/series/1", "/explore", DAYS, "/regressions/1", "/charts?series=1"])
def test_every_number_of_a_table_leads_to_its_run(filled: httpx.Client, address: str) -> None:
    found = how(filled.get(address).text)

    assert found
    for one in {*found[:3], found[-1]}:
        there = filled.get(one.partition("#")[0], follow_redirects=True)
        assert "/runs/" in str(there.url)
        assert 'id="reproduce"' in there.text


def test_a_launch_leads_from_its_numbers_to_its_runs(launched: httpx.Client) -> None:
    for address in ("/launches/1", "/launches?with=1"):
        found = how(launched.get(address).text)
        assert found
        assert 200 == launched.get(found[0].partition("#")[0]).status_code


def test_two_nights_lead_to_the_run_of_each(filled: httpx.Client) -> None:
    base, head = how(filled.get(f"{DAYS}&metric=itl_s").text)

    assert ("0000", "000f") == (revision(filled, base), revision(filled, head))


def test_a_change_leads_to_the_run_before_it_and_to_its_own(filled: httpx.Client) -> None:
    before, after = how(filled.get("/regressions/1").text)[:2]

    assert ("000b", "000c") == (revision(filled, before), revision(filled, after))


def test_the_answer_names_the_run_that_it_is_about(filled: httpx.Client) -> None:
    told = filled.get("/api/v1/series/1/reproduce").json()
    row = filled.get("/api/v1/series", params={"limit": 500}).json()["series"]

    assert next(one["latest"]["run"] for one in row if one["id"] == 1) == told["made_of"]["run"]


def test_the_last_point_is_what_a_series_means(filled: httpx.Client) -> None:
    assert "000f" == revision(filled, "/series/1/how")


def test_a_number_of_a_comparison_leads_to_the_command_of_the_whole(filled: httpx.Client) -> None:
    page = filled.get(links(filled.get("/compare").text, r"/compare/[^\"?]+")[-1]).text

    assert {"#reproduce"} == set(how(page))
    assert re.search(r"perfd compare 0384\w{36} 0385\w{36} --engine llamacpp --workload chat-short", page)


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/series/9999/how", 404),
        ("/series/1/how?of=nothing", 404),
        ("/series/1/how?of=2026-03-01&before=" + "a" * 64, 400),
        ("/series/1/how?before=" + "a" * 64, 404),
        ("/series/1/how?before=short", 400),
        ("/series/1/how?of=%00", 400),
    ],
)
def test_what_no_point_is_gets_a_sentence(filled: httpx.Client, address: str, status: int) -> None:
    given = filled.get(address)

    assert status == given.status_code
    assert "<h1>" in given.text
    assert status == filled.get(address.replace("/series", "/api/v1/series").replace("/how", "/reproduce")).status_code


def test_the_first_and_the_last_day_of_all_mean_the_first_and_the_last_night(filled: httpx.Client) -> None:
    for day, night in (("0001-01-01", "2026-03-01"), ("9999-12-31", "2026-03-16")):
        assert revision(filled, f"/series/1/how?of={night}") == revision(filled, f"/series/1/how?of={day}")
