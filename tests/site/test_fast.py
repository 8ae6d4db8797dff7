"""What makes the site quick must never make it wrong: tags, columns, decimation, comparisons of nights, and results handed in."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import pytest
from served_site import served
from site_history import FIRST_NIGHT, History
from sqlalchemy import Engine, event

from perfd.site import create_app
from perfd.store import Store

Browse = Callable[[Store], httpx.Client]
TAGGED = [
    "/api/v1/series",
    "/api/v1/latest",
    "/api/v1/series/{id}",
    "/api/v1/points?series={id}",
    "/series/{id}",
    "/charts?series={id}",
]


def first_id(client: httpx.Client, metric: str = "itl_s") -> int:
    return int(client.get(f"/api/v1/series?metric={metric}").json()["series"][0]["id"])


def document(**changed: Any) -> dict[str, Any]:
    at = datetime(2026, 3, 20, tzinfo=UTC).isoformat()
    device = {"host": "elsewhere", "name": "gpu0", "device_class": "gpu:H200"}
    return {
        "format": "perfd.results/1",
        "state": "done",
        "samples": [{"name": "ttft_s", "unit": "s", "better": "lower", "values": [0.2, 0.3, 0.25]}],
        "started_at": at,
        "finished_at": at,
        "environment": {"device": device, "hardware": {"gpu": "H200"}, "clock_policy": "locked", "software": {"driver": "580"}},
        "run": {"subject": "vllm", "revision": "abc123", "workload": "chat", "model": "m"},
    } | changed


def send(client: httpx.Client, body: dict[str, Any], **headers: str) -> httpx.Response:
    return client.post("/api/v1/results", json=body, headers=headers)


@pytest.mark.parametrize("address", TAGGED)
def test_an_answer_that_still_stands_is_not_sent_again(filled: httpx.Client, address: str) -> None:
    asked = address.format(id=first_id(filled))
    tag = filled.get(asked).headers["etag"]
    again = filled.get(asked, headers={"If-None-Match": f'"other", {tag}'})

    assert tag.startswith('W/"')
    assert (304, b"") == (again.status_code, again.content)
    assert 200 == filled.get(asked, headers={"If-None-Match": 'W/"other"'}).status_code


def test_a_write_makes_every_tag_stale(store: Store, browse: Browse) -> None:
    history = History(store)
    history.night(0, kernels=False)
    client = browse(store)
    addresses = [address.format(id=first_id(client)) for address in TAGGED]
    tags = {address: client.get(address).headers["etag"] for address in addresses}
    history.night(1, kernels=False)

    for address, tag in tags.items():
        assert 200 == client.get(address, headers={"If-None-Match": tag}).status_code, address


def test_what_is_recent_of_series_is_no_older_than_what_is_recent_of_all(store: Store) -> None:
    site = create_app(store, recent_s=3600.0).state.site
    history = History(store)
    history.night(0, kernels=False)
    before = store.pages.snapshot()
    version = site.version()
    history.night(1, kernels=False)

    assert (before, version) == (site.snapshot(), site.version())
    site.memory.written()
    assert store.pages.version() == site.version() != version


@pytest.mark.parametrize("address", ["/", "/?class=batch", "/explore"])
def test_who_wrote_through_the_site_sees_it_at_once(store: Store, address: str) -> None:
    with served(store, recent_s=3600.0) as url, httpx.Client(base_url=url, timeout=60) as client:
        tags = [client.get(address).headers["etag"]]
        for branch in ("main", "other"):
            run = document()["run"] | {"branch": branch}
            assert 201 == send(client, document(run=run), **{"Idempotency-Key": branch}).status_code
            answer = client.get(address, headers={"If-None-Match": tags[-1]})
            assert 200 == answer.status_code
            tags.append(answer.headers["etag"])
        page = client.get("/explore?branch=other").text

    assert 3 == len(set(tags))
    assert "1 Series with these parts." in page


def test_the_last_value_of_every_series_comes_in_columns(filled: httpx.Client) -> None:
    answer = filled.get("/api/v1/latest").json()
    listed = filled.get("/api/v1/series?limit=500").json()["series"]

    assert 1 == len({len(column) for column in answer.values()})
    assert {one["id"]: one["latest"]["value"] for one in listed} == dict(zip(answer["id"], answer["value"], strict=True))


def test_charts_of_several_series_come_in_one_answer(filled: httpx.Client) -> None:
    ids = [first_id(filled, "ttft_s"), first_id(filled)]
    answer = filled.get(f"/api/v1/points?series={ids[0]},{ids[1]},999999").json()["series"]
    page = filled.get(f"/charts?series={ids[0]},{ids[1]}").text

    assert ids == [one["id"] for one in answer]
    assert {16} == {len(column) for one in answer for column in one["data"]}
    assert [str(one) for one in ids] == re.findall(r'data-series="(\d+)"', page)


def test_a_long_series_gives_its_extremes_and_says_so(filled: httpx.Client) -> None:
    address = f"/api/v1/series/{first_id(filled)}"
    whole, few = filled.get(address).json(), filled.get(f"{address}?most=4").json()
    part = filled.get(f"{address}?start=4&stop=8").json()

    assert (False, True, False) == (whole["decimated"], few["decimated"], part["decimated"])
    assert (16, 16, 4) == (whole["total"], few["total"], len(part["data"][0]))
    assert [4, 5, 6, 7] == part["data"][0]
    assert {max(whole["data"][1]), min(whole["data"][1])} <= set(few["data"][1])


def test_two_nights_are_compared_series_by_series(filled: httpx.Client) -> None:
    first, last = f"{FIRST_NIGHT:%Y-%m-%d}", "2026-03-16"
    answer = filled.get(f"/api/v1/compare?base={first}&head={last}&class=chat&sort=effect").json()
    page = filled.get(f"/compare?base={first}&head={last}").text

    assert sum(answer["counts"].values()) == len(answer["series"]) > 0
    assert any(abs(one["effect"]) > 0.05 for one in answer["series"])
    assert "The night of 2026-03-16 against the night of 2026-03-01" in page
    assert "within the bar" in page


@pytest.mark.parametrize(
    ("address", "most"),
    [
        ("/", 24),
        ("/?class=chat", 24),
        ("/explore", 4),
        ("/api/v1/latest", 3),
        ("/api/v1/series", 4),
        ("/api/v1/points?series=1", 2),
        ("/api/v1/points?series=1,2,3,4,5", 2),
        ("/charts?series=1,2,3,4,5", 4),
        ("/compare?base=2026-03-01&head=2026-03-16", 6),
    ],
)
def test_an_answer_made_anew_asks_few_questions_however_much_it_shows(filled_store: Store, address: str, most: int) -> None:
    with served(filled_store) as url, httpx.Client(base_url=url, timeout=60) as client:
        client.get("/explore").raise_for_status()  # the order of all Series and the choices are remembered
        asked: list[str] = []
        note = partial(_note, asked)
        event.listen(Engine, "before_cursor_execute", note)
        client.get(address).raise_for_status()
        event.remove(Engine, "before_cursor_execute", note)

    assert 0 < len(asked) <= most, asked


def _note(asked: list[str], *given: Any) -> None:
    asked.append(given[2])


@pytest.mark.parametrize("page", ["offset=1&limit=2", "apart=within the bar&offset=1", "offset=5000"])
def test_every_page_of_a_comparison_tells_the_same_of_all(filled: httpx.Client, page: str) -> None:
    asked = f"/api/v1/compare?base={FIRST_NIGHT:%Y-%m-%d}&head=2026-03-16"
    first, later = filled.get(asked).json(), filled.get(f"{asked}&{page}").json()

    assert (first["counts"], first["means"]) == (later["counts"], later["means"])
    assert len(later["series"]) < len(first["series"])


def test_home_says_whether_things_became_better(filled: httpx.Client) -> None:
    page = filled.get("/").text

    assert "Have we improved?" in page
    assert "30 days" in page
    assert re.search(r'href="/compare\?base=2026-02-14&amp;head=2026-03-16"', page)


def test_results_from_elsewhere_become_a_run(store: Store, browse: Browse) -> None:
    client = browse(store)
    first, again = send(client, document()), send(client, document())
    page = client.get(first.json()["address"]).text
    [listed] = client.get("/api/v1/latest?subject=vllm").json()["value"]

    assert (201, 200) == (first.status_code, again.status_code)
    assert ("stored", "already") == (first.json()["written"], again.json()["written"])
    assert 0.25 == listed
    assert "0.3000" in page or "300.0" in page


def test_other_results_under_the_same_key_are_refused(store: Store, browse: Browse) -> None:
    client = browse(store)
    other = document(samples=[{"name": "ttft_s", "unit": "s", "better": "lower", "values": [9.0]}])

    assert 201 == send(client, document(), **{"Idempotency-Key": "run 7"}).status_code
    assert 409 == send(client, other, **{"Idempotency-Key": "run 7"}).status_code
    assert 201 == send(client, other, **{"Idempotency-Key": "run 8"}).status_code


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"format": "else"}, "perfd.results/1"),
        ({"run": {}}, "run.subject"),
        ({"run": {"subject": "", "revision": "r", "workload": "w"}}, "run.subject"),
        ({"run": {"subject": "s", "revision": "r", "workload": "w", "workload_class": "poetry"}}, "run.workload_class"),
        ({"run": {"subject": "s" * 400, "revision": "r", "workload": "w"}}, "at most 300"),
        ({"environment": None}, "environment"),
        ({"samples": [{"name": "ttft_s", "unit": "parsec", "better": "lower", "values": [1]}]}, "parsec"),
        ({"samples": "many"}, "samples"),
    ],
)
def test_results_that_cannot_be_read_are_refused_with_their_place(
    empty: httpx.Client, changed: dict[str, Any], told: str
) -> None:
    answer = send(empty, document(**changed))

    assert 400 == answer.status_code
    assert told in answer.json()["error"]


def test_without_a_token_only_this_machine_may_hand_in_results(empty: httpx.Client) -> None:
    text = json.dumps(document())
    for status, headers in (
        (401, {"X-Forwarded-For": "10.0.0.1"}),
        (401, {"Forwarded": "for=10.0.0.1"}),
        (403, {"Origin": "https://elsewhere.example"}),
        (401, {"Host": "perfd.example"}),
    ):
        answer = empty.post("/api/v1/results", content=text, headers={"Content-Type": "application/json", **headers})
        assert status == answer.status_code, headers
        assert {"error", "remedy"} == set(answer.json())
    assert 400 == empty.post("/api/v1/results", content=text, headers={"Content-Type": "text/plain"}).status_code


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/charts", 200),
        ("/charts?series=999999", 200),
        ("/charts?series=1,x", 400),
        ("/charts?series=" + ",".join(["1"] * 51), 400),
        ("/api/v1/points?series=0", 400),
        ("/api/v1/points", 400),
        ("/api/v1/points?series=1&most=1", 400),
        ("/api/v1/series/1?start=-1", 400),
        ("/api/v1/series/1?start=10000000", 200),
        ("/api/v1/compare", 400),
        ("/api/v1/compare?base=2026-03-01&head=nonsense", 404),
        ("/compare?base=2026-03-01&head=2026-03-02&apart=far", 400),
        ("/compare?base=2026-03-01&head=2026-03-02&sort=colour", 400),
        ("/compare?base=2026-03-01&head=2026-03-16&offset=5000", 200),
        ("/series/1?rows=0", 400),
    ],
)
def test_bad_input_is_told(filled: httpx.Client, address: str, status: int) -> None:
    assert status == filled.get(address).status_code
