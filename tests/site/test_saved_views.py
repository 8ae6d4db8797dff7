"""Saved views: a name for an address, which everybody sees, and which only its owner or an admin forgets."""

from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from people_world import ELSEWHERE, PROXY, People, known, seal_of
from site_history import HOSTILE
from test_pages import words

from perfd.config import SiteConfig
from perfd.domain.account import Role
from perfd.store import Store

VIEW = "/explore?class=chat&f=s5%2Fs2"
PEOPLE = {"proxy:tri": Role.TRIAGER, "proxy:other": Role.TRIAGER, "proxy:vera": Role.VIEWER, "proxy:ada": Role.ADMIN}


@pytest.fixture
def people(store: Store) -> Iterator[People]:
    access = SiteConfig(proxies=(PROXY,), proxy_header="X-Forwarded-User", people=PEOPLE)
    with known(store, access=access) as found:
        yield found


def person(people: People, name: str) -> httpx.Client:
    return people.visitor(PROXY, **{"X-Forwarded-User": name, "X-Forwarded-For": ELSEWHERE})


def save(client: httpx.Client, name: str, address: str = VIEW) -> httpx.Response:
    seal = seal_of(client.get("/views", params={"address": VIEW}))
    return client.post("/views", data={"csrf": seal, "name": name, "address": address})


def names(client: httpx.Client) -> list[tuple[str, str, str]]:
    return [(one["name"], one["address"], one["owner"]) for one in client.get("/api/v1/views").json()["views"]]


def test_what_one_saves_everybody_sees(people: People) -> None:
    given = save(person(people, "tri"), "Chat, as a ratio")

    assert 303 == given.status_code
    stranger = people.visitor(ELSEWHERE)
    assert [("Chat, as a ratio", VIEW, "proxy:tri")] == names(stranger)
    for page in ("/explore", "/charts?series=1", "/views"):
        assert "Chat, as a ratio" in words(stranger.get(page).text)
    assert ("proxy:tri", "POST /views", True) in people.deeds()


def test_a_page_that_was_kept_tells_of_a_view_that_came_since(people: People) -> None:
    before = people.visitor().get("/explore")
    save(person(people, "tri"), "New")
    after = people.visitor().get("/explore", headers={"If-None-Match": before.headers["etag"]})

    assert 200 == after.status_code
    assert "New" in words(after.text)


def test_the_same_name_again_is_the_same_view_at_its_new_address(people: People) -> None:
    for address in (VIEW, "/charts?series=1,2&offset=20"):
        save(person(people, "tri"), "Mine", address)
    save(person(people, "other"), "Mine")

    assert [("Mine", "/charts?series=1%2C2", "proxy:tri"), ("Mine", VIEW, "proxy:other")] == names(people.visitor())


def test_a_view_is_forgotten_by_its_owner_or_an_admin(people: People) -> None:
    for name in ("first", "second"):
        save(person(people, "tri"), name)
    refused = _forget(people, "other", 1)
    gone = [_forget(people, who, number).status_code for who, number in (("tri", 1), ("ada", 2))]

    assert (403, True) == (refused.status_code, "only proxy:tri or an admin" in words(refused.text))
    assert [303, 303] == gone
    assert [] == names(people.visitor())
    assert 404 == _forget(people, "ada", 2).status_code


def _forget(people: People, who: str, number: int) -> httpx.Response:
    client = person(people, who)
    return client.post(f"/views/{number}/forget", data={"csrf": seal_of(client.get("/views", params={"address": VIEW}))})


def test_who_may_not_save_is_told_so_and_sees_no_form(people: People) -> None:
    viewer, stranger = person(people, "vera"), people.visitor(ELSEWHERE)

    assert "Your role may not save views" in words(viewer.get("/views", params={"address": VIEW}).text)
    assert "Log in to save views" in words(stranger.get("/views", params={"address": VIEW}).text)
    assert 403 == viewer.post("/views", data={"name": "x", "address": VIEW}).status_code
    assert 401 == stranger.post("/views", data={"name": "x", "address": VIEW}).status_code


def test_a_form_of_another_site_saves_nothing(people: People) -> None:
    client = person(people, "tri")
    data = {"csrf": seal_of(client.get("/views", params={"address": VIEW})), "name": "x", "address": VIEW}

    assert 403 == client.post("/views", data=data | {"csrf": "0" * 64}).status_code
    assert 403 == client.post("/views", data=data, headers={"Origin": "https://elsewhere.example"}).status_code
    assert [] == names(client)


@pytest.mark.parametrize(
    "address",
    [
        "https://elsewhere.example/explore",
        "//elsewhere.example/explore",
        "//[",
        "javascript:alert(1)",
        "/account",
        "/explore/../account",
        "",
        "/explore?class=" + "x" * 2000,
    ],
)
def test_an_address_that_is_no_view_is_refused(people: People, address: str) -> None:
    assert 400 == save(person(people, "tri"), "x", address).status_code
    assert address == "" or 400 == people.visitor().get("/views", params={"address": address}).status_code


@pytest.mark.parametrize("name", ["", "   ", "\u200b\u202e", "x" * 61])
def test_a_name_that_is_none_is_refused(people: People, name: str) -> None:
    assert 400 == save(person(people, "tri"), name).status_code


def test_hostile_names_and_addresses_are_text(people: People) -> None:
    save(person(people, "tri"), HOSTILE[:50], f"/explore?model={HOSTILE}")
    page = people.visitor().get("/explore").text

    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_a_hundred_views_are_the_most_that_one_keeps(people: People) -> None:
    for number in range(100):
        people.store.saved_views.save(f"view {number}", VIEW, "proxy:tri", people.now + timedelta(minutes=number))

    refused = save(person(people, "tri"), "one more")

    assert (400, True) == (refused.status_code, "forget one first" in words(refused.text))
    assert 303 == save(person(people, "tri"), "view 7").status_code
