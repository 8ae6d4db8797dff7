"""Every page and route over a filled, an empty and a hostile database."""

import re
from collections.abc import Callable
from html import unescape

import httpx
import pytest
from people_world import results
from prometheus_client.parser import text_string_to_metric_families
from site_history import CHAT, HOSTILE, History

from perfd.site.app import utc_now
from perfd.site.headers import HEADERS
from perfd.site.static import web_folder
from perfd.site.templates import Pages
from perfd.store import Store

Browse = Callable[[str], str]
PAGES = ["/", "/regressions", "/compare", "/kernels", "/launches", "/status", "/api"]
JSON = ["/api/v1/series", "/api/v1/regressions", "/api/v1/status", "/healthz", "/api/openapi.json"]


def words(page: str) -> str:
    """What a reader reads: tags, scripts and folded spaces gone."""
    plain = re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(plain).split())


def links(page: str, pattern: str) -> list[str]:
    return [unescape(link) for link in re.findall(rf'href="({pattern})"', page)]


@pytest.mark.parametrize("address", [*PAGES, *JSON, "/metrics"])
def test_every_address_answers_on_a_filled_database(filled: httpx.Client, address: str) -> None:
    answer = filled.get(address)

    assert 200 == answer.status_code
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("address", [*PAGES, *JSON, "/metrics"])
def test_every_address_answers_on_an_empty_database(empty: httpx.Client, address: str) -> None:
    answer = empty.get(address)

    assert 200 == answer.status_code
    assert "Traceback" not in answer.text


def test_an_empty_home_says_what_to_do(empty: httpx.Client) -> None:
    page = words(empty.get("/").text)

    assert "No night has been run yet." in page
    assert "run perfd nightly" in page
    assert "Nothing was due yet." in page
    assert "Nothing was judged yet." in page


def test_home_before_the_first_night_says_where_its_series_come_from(
    new_store: Callable[[], Store], browse: Callable[[Store], httpx.Client]
) -> None:
    site = browse(new_store())
    given = site.post("/api/v1/results", json=results())
    page = words(site.get("/").text)

    assert 201 == given.status_code
    assert "No night has been run yet; what stands below was imported or handed in." in page
    assert "No night was judged yet; the list below has the last Verdict of each Series." in page
    assert "Nothing was judged yet." not in page


def test_a_series_without_a_unit_says_so(new_store: Callable[[], Store], browse: Callable[[Store], httpx.Client]) -> None:
    site = browse(new_store())
    sample = {"name": "score", "unit": "", "better": "higher", "values": [3.0]}
    given = site.post("/api/v1/results", json=results() | {"samples": [sample]})
    page = words(site.get("/series/1").text)

    assert 201 == given.status_code
    assert "score in no unit, higher is better" in page
    assert "Revision value 95 % interval" in page
    assert "1 raw Sample, in no unit" in words(site.get(given.json()["address"]).text)
    assert "the last Point is 3." in site.get("/charts?series=1").text
    assert "3, not judged yet" in site.get("/badges/series/1.svg").text


def test_home_says_last_night_in_one_sentence(filled: httpx.Client) -> None:
    page = words(filled.get("/").text)

    assert re.search(
        r"Last night measured everything that was due: .*1 worse|Last night measured everything that was due: .*worse", page
    )
    assert "Regressions open" in page
    assert "Next night" in page


def test_home_lists_workload_classes_apart_and_kernels_last(filled: httpx.Client) -> None:
    page = filled.get("/").text
    heads = re.findall(r'scope="colgroup">([^<]+)<', page)

    assert ["Chat", "Accuracy", "Kernels"] == heads


def test_a_filter_in_the_address_narrows_the_list(filled: httpx.Client) -> None:
    everything = filled.get("/api/v1/series").json()["total"]
    page = filled.get("/?class=chat&metric=itl_s").text
    answer = filled.get("/api/v1/series?class=chat&metric=itl_s").json()

    assert 1 == answer["total"] < everything
    assert 1 == len(links(page, r"/series/\d+"))
    assert '<option value="itl_s" selected>' in page


def test_a_filter_that_fits_nothing_says_so(filled: httpx.Client) -> None:
    assert "No Series has these parts." in words(filled.get("/?metric=no_such").text)


def test_a_long_list_is_cut_into_pages_that_keep_the_filter(filled: httpx.Client) -> None:
    page = filled.get("/?class=kernel&limit=3").text
    more = links(page, r"/\?[^\"]*offset=3[^\"]*")

    assert more
    assert "class=kernel" in more[0]
    assert links(filled.get(more[0]).text, r"/series/\d+") != links(page, r"/series/\d+")


def test_a_series_shows_its_change_at_the_build_that_made_it(filled: httpx.Client) -> None:
    page = filled.get(series_address(filled, "itl_s")).text
    read = words(page)

    assert "+8.0 % (worse)" in read or "+7.9 % (worse)" in read or "+8.1 % (worse)" in read
    assert "(worse)" in read
    assert "First Build at the new level" in read
    assert links(page, r"/builds/[0-9a-f]{64}")
    assert links(page, r"/runs/[1-9][0-9]*")


def test_the_chart_and_the_table_hold_the_same_numbers(filled: httpx.Client) -> None:
    page = filled.get(series_address(filled, "itl_s")).text
    found = re.search(r'<figure class="chart"[^>]* data-href="([^"]+)"', page)
    assert found is not None
    document = filled.get(found.group(1)).json()
    shown = document["display"]
    cells = re.findall(r'<td class="number">(?:<a [^>]*>)?([\d.,]+)<', page)
    values = [f"{value / shown['size']:.{shown['decimals']}f}" for value in document["data"][1]]

    assert values[-1] == cells[0] or values[-1] in cells
    assert set(values) <= set(cells)


def test_a_series_of_one_point_says_that_a_trend_needs_more(one_point: httpx.Client) -> None:
    page = words(one_point.get(series_address(one_point, "itl_s")).text)

    assert "One Point so far" in page
    assert "? unsure" in page


def test_a_run_shows_environment_samples_and_a_command(filled: httpx.Client) -> None:
    page = filled.get(run_address(filled)).text
    read = words(page)

    for expected in ("EPYC 9654", "performance", "24 raw Samples", "perfd compare", CHAT.identity[:12], "mhz", "offered_rps"):
        assert expected in read
    assert '<svg class="strip"' in page


def test_a_build_shows_its_ingredients_and_its_log(filled: httpx.Client) -> None:
    build = links(filled.get(run_address(filled)).text, r"/builds/[0-9a-f]{64}")[0]
    page = words(filled.get(build).text)

    for expected in ("gcc 12.2", "numpy", "released", "Built target llama-server"):
        assert expected in page


def test_a_regression_shows_its_members_and_its_life(filled: httpx.Client) -> None:
    address = links(filled.get("/regressions").text, r"/regressions/\d+")[0]
    page = words(filled.get(address).text)

    assert re.search(r"judge opened (suspect|detected)", page)
    assert "itl_s, chat-short" in page
    assert "worse +8" in page or "worse +7.9" in page


def test_a_comparison_shows_its_verdict_and_its_blocks_in_order(filled: httpx.Client) -> None:
    page = filled.get(links(filled.get("/compare").text, r"/compare/[^\"]+")[-1]).text
    arms = re.findall(r"<td>(base|head)</td>", page)

    assert ["base", "head", "head", "base"] == arms[:4]
    assert "▲ worse" in words(page)
    assert "pairs" in words(page)


def test_kernels_says_that_nothing_was_timed_without_a_gpu(filled: httpx.Client) -> None:
    page = words(filled.get("/kernels").text)

    assert "compiled and checked, not timed" in page
    assert re.search(r"sm_80 sm_90 sm_100", page)
    assert "paged_decode" in page


def test_launches_are_not_pretended(filled: httpx.Client) -> None:
    assert "No Launch is declared" in words(filled.get("/launches").text)


def test_a_bad_night_shows_what_is_missing_and_why(hostile: httpx.Client) -> None:
    home, status = words(hostile.get("/").text), words(hostile.get("/status").text)

    assert "missing" in home
    assert "nobody measured it within twelve hours" in status
    assert "✗ failed" in status
    assert "died:" in status


def test_hostile_text_stays_text_on_every_page(hostile: httpx.Client) -> None:
    seen = walk(hostile)

    assert len(seen) > 15
    assert any(HOSTILE.split()[0] in unescape(page) for page in seen.values())
    for address, page in seen.items():
        assert "<script>alert" not in page, address
        assert "<img src=x" not in page, address
        assert "49" not in re.findall(r"`(\d+) ", unescape(page)), address


def test_every_page_reached_by_links_answers(filled: httpx.Client) -> None:
    assert len(walk(filled)) > 25


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/series/999999", 404),
        ("/series/0", 400),
        ("/series/-1", 400),
        ("/series/99999999999999999999", 400),
        ("/series/x", 400),
        ("/series/1%00", 400),
        ("/runs/" + "0" * 64, 404),
        ("/runs/short", 400),
        ("/runs/999999999999999999", 404),
        ("/runs/9999999999999999999", 400),
        ("/runs/0", 400),
        ("/runs/%3Cscript%3E", 400),
        ("/builds/" + "0" * 64, 404),
        ("/builds/" + "z" * 64, 400),
        ("/regressions/999999", 404),
        ("/regressions/x", 400),
        ("/regressions?state=wrong", 400),
        ("/compare/no-such", 404),
        ("/compare/a%00b", 400),
        ("/compare/" + "a" * 5000, 400),
        ("/no-such-page", 404),
        ("/?limit=0", 400),
        ("/?limit=100000", 400),
        ("/?offset=-1", 400),
        ("/?offset=1e9", 400),
        ("/?metric=%00", 400),
        ("/?metric=" + "a" * 50_000, 400),
        ("/?verdict=<script>", 400),
        ("/?verdict=worse&class=nonsense&x[]=1&limit=5", 200),
        ("/?metric=%ff%fe", 200),
        ("/?metric=' OR 1=1 --", 200),
        ("/?metric=" + "%F0%9F%92%A9" * 50, 200),
        ("/static/../pyproject.toml", 404),
        ("/static/%2e%2e/%2e%2e/pyproject.toml", 404),
    ],
)
def test_bad_input_has_a_clear_page(filled: httpx.Client, address: str, status: int) -> None:
    answer = filled.get(address)

    assert status == answer.status_code
    assert "Traceback" not in answer.text
    assert "<script>" not in answer.text
    if status != 200:
        assert "home page" in words(answer.text)


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/v1/series/999999", 404),
        ("/api/v1/series/x", 400),
        ("/api/v1/series?limit=501", 400),
        ("/api/v1/series?verdict=x", 400),
        ("/api/v1/runs/zz", 400),
        ("/api/v1/runs/" + "0" * 64, 404),
        ("/api/v1/no-such", 404),
        ("/api/v1/regressions?only_open=perhaps", 400),
    ],
)
def test_bad_input_to_the_api_has_a_sentence_and_a_remedy(filled: httpx.Client, address: str, status: int) -> None:
    answer = filled.get(address)

    assert status == answer.status_code
    assert {"error", "remedy"} == set(answer.json())


def test_the_site_changes_nothing(filled: httpx.Client) -> None:
    answer = filled.post("/")

    assert 405 == answer.status_code
    assert "read with GET" in words(answer.text)


def test_head_is_answered_like_get_without_a_body(filled: httpx.Client) -> None:
    answer = filled.head("/healthz")

    assert (200, b"") == (answer.status_code, answer.content)


def test_every_answer_has_the_security_headers(filled: httpx.Client) -> None:
    for address in ("/", "/no-such", "/api/v1/status", "/static/site.css", "/series/x"):
        headers = filled.get(address).headers
        assert HEADERS == {name: headers.get(name) for name in HEADERS}, address


def test_static_files_are_kept_only_under_their_hash(filled: httpx.Client) -> None:
    address = links(filled.get("/").text, r"/static/site\.css\?v=[0-9a-f]+")[0]

    assert "immutable" in filled.get(address).headers["cache-control"]
    assert "no-cache" == filled.get("/static/site.css").headers["cache-control"]


def test_a_static_file_is_sent_packed_or_plain_and_once(filled: httpx.Client) -> None:
    packed = filled.get("/static/chart.js")
    plain = filled.get("/static/chart.js", headers={"Accept-Encoding": "identity"})
    again = filled.get("/static/chart.js", headers={"If-None-Match": packed.headers["etag"]})

    assert ("gzip", None) == (packed.headers["content-encoding"], plain.headers.get("content-encoding"))
    assert (web_folder() / "static" / "chart.js").read_bytes() == plain.content == packed.content
    assert (304, b"") == (again.status_code, again.content)
    assert 405 == filled.post("/static/chart.js").status_code


def test_small_scripts_of_every_page_come_as_one_file(filled: httpx.Client) -> None:
    address = re.findall(r'src="(/static/site\.js\?v=[0-9a-f]+)"', filled.get("/").text)[0]
    parts = [(web_folder() / "static" / name).read_bytes() for name in ("times.js", "news.js", "scroll.js", "how.js")]

    assert b"".join(parts) == filled.get(address).content


def test_a_series_comes_in_columns(filled: httpx.Client) -> None:
    answer = filled.get("/api/v1" + series_address(filled, "itl_s")).json()
    x, value, low, high = answer["data"]

    assert list(range(len(x))) == x
    assert all(lo <= v <= hi for lo, v, hi in zip(low, value, high, strict=True))
    assert {len(x)} == {len(column) for column in answer["points"].values()}
    assert "worse" == answer["changes"][-1]["word"]
    assert "s" == answer["series"]["unit"]


def test_the_number_of_a_run_leads_to_its_one_address(filled: httpx.Client) -> None:
    number = filled.get("/api/v1/series/1").json()["points"]["run"][0]
    key = filled.get(f"/api/v1/runs/{number}").json()["run"]["key"]
    sent = filled.get(f"/runs/{number}", follow_redirects=False)

    assert (307, f"/runs/{key}") == (sent.status_code, sent.headers["location"])
    assert 200 == filled.get(f"/runs/{key}", follow_redirects=False).status_code
    assert f'href="/runs/{number}"' in filled.get("/series/1").text


def test_a_run_comes_with_every_raw_sample(filled: httpx.Client) -> None:
    answer = filled.get("/api/v1" + run_address(filled)).json()

    assert 24 == len(next(one["values"] for one in answer["samples"] if one["name"] == "ttft_s"))
    assert CHAT.identity == answer["workload"]["identity"]
    assert "done" == answer["run"]["state"]


def test_status_says_what_is_missing(hostile: httpx.Client) -> None:
    night = hostile.get("/api/v1/status").json()["last_night"]

    assert night["unmeasured"] == len(night["missing"]) > 0
    assert "failed" in {one["state"] for one in night["missing"]}


def test_prometheus_counts_what_should_alarm(hostile: httpx.Client) -> None:
    text = hostile.get("/metrics").text

    assert re.search(r'^perfd_last_night_runs\{state="failed"\} [1-9]', text, re.MULTILINE)
    assert re.search(r"^perfd_last_night_missing_runs [1-9]", text, re.MULTILINE)
    assert {"gauge"} == {family.type for family in text_string_to_metric_families(text)}


def test_openapi_documents_every_api_route(filled: httpx.Client) -> None:
    paths = filled.get("/api/openapi.json").json()["paths"]
    page = words(filled.get("/api").text)

    assert {
        "/api/v1/series",
        "/api/v1/series/{series_id}",
        "/api/v1/points",
        "/api/v1/latest",
        "/api/v1/compare",
        "/api/v1/results",
        "/api/v1/runs/{key}",
        "/api/v1/regressions",
        "/api/v1/false-alarms",
        "/api/v1/status",
    } <= set(paths)
    assert all(path in page for path in paths)


def test_a_stopped_database_has_a_clear_page(stopped: httpx.Client) -> None:
    for address in ("/", "/status", "/series/1", "/kernels"):
        answer = stopped.get(address)
        assert 503 == answer.status_code
        assert "The database does not answer" in words(answer.text)
        assert "perfd doctor" in words(answer.text)
    assert 503 == stopped.get("/healthz").status_code
    assert "remedy" in stopped.get("/api/v1/status").json()
    assert 503 == stopped.get("/launches").status_code


def test_a_very_long_name_is_cut_on_the_page_and_whole_in_json(store: Store, browse: Callable[[Store], httpx.Client]) -> None:
    History(store).night(0, title="long " + "é" * 100_000, kernels=False)
    client = browse(store)
    address = series_address(client, "itl_s")

    assert len(client.get("/").text) < 100_000
    assert "é…" in words(client.get(address).text)
    assert 100_005 == len(client.get("/api/v1" + address).json()["points"]["title"][0])


def series_address(client: httpx.Client, metric: str) -> str:
    return f"/series/{client.get(f'/api/v1/series?metric={metric}').json()['series'][0]['id']}"


def run_address(client: httpx.Client) -> str:
    return f"/runs/{client.get('/api/v1/series?metric=ttft_s').json()['series'][0]['latest']['run']}"


def walk(client: httpx.Client) -> dict[str, str]:
    """Every page that links lead to, three deep."""
    seen: dict[str, str] = {}
    new = ["/"]
    for _ in range(3):
        found: list[str] = []
        for address in new:
            answer = client.get(address, follow_redirects=True)
            assert 200 == answer.status_code, address
            if "text/html" in answer.headers["content-type"]:  # in JSON, markup is harmless text
                seen[address] = answer.text
                found += links(answer.text, r"/(?!static)[^\"]*")
        new = [address for address in dict.fromkeys(found) if address.split("#")[0] not in seen][:60]
    return seen


def test_every_template_is_compiled_before_anybody_asks() -> None:
    folder = web_folder() / "templates"

    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == set(Pages(utc_now).prepare())
