"""Logging in through GitHub and out again, and what an attacker tries on the way."""

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from oauth_server import CLIENT, SECRET, OAuthServer, oauth_server
from people_world import ELSEWHERE, People, closed, known, seal_of

from perfd.domain.account import Role
from perfd.forge import GitHubLogin
from perfd.store import Store


@pytest.fixture
def forge() -> Iterator[OAuthServer]:
    with oauth_server() as made:
        yield made


@pytest.fixture
def people(store: Store, forge: OAuthServer) -> Iterator[People]:
    access = closed(people={"github:alice": Role.ADMIN})
    with known(store, access=access, github_login=GitHubLogin(forge.url, CLIENT, SECRET)) as made:
        yield made


def begin(browser: httpx.Client, onward: str = "/audit") -> str:
    """The browser was at GitHub; the address that it comes back to."""
    out = browser.get("/login/github", params={"next": onward})
    assert 303 == out.status_code
    return httpx.get(out.headers["location"]).headers["location"]


def test_a_person_logs_in_and_out(people: People) -> None:
    browser = people.visitor(ELSEWHERE)
    assert 401 == browser.get("/audit").status_code

    back = browser.get(begin(browser))

    assert (303, "/audit") == (back.status_code, back.headers["location"])
    assert 200 == browser.get("/audit").status_code
    page = browser.get("/account")
    assert 'You are <bdi class="name">github:alice</bdi>, admin' in page.text
    cookie = back.headers.get_list("set-cookie")[-1]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=lax", "Path=/"))

    assert 403 == browser.post("/logout", data={"csrf": "0" * 64}).status_code
    assert 200 == browser.get("/audit").status_code
    before = dict(browser.cookies)
    assert 303 == browser.post("/logout", data={"csrf": seal_of(page)}).status_code
    assert 401 == browser.get("/audit").status_code
    assert 401 == people.visitor(ELSEWHERE, Cookie=f"perfd={before['perfd']}").get("/audit").status_code
    assert ("github:alice", "log in through GitHub", True) == people.deeds()[0]


def test_a_session_is_kept_as_a_hash_only_and_ends_by_itself(people: People) -> None:
    browser = people.visitor(ELSEWHERE)
    browser.get(begin(browser))
    with people.store.engine.begin() as connection:
        assert browser.cookies["perfd"] not in str(connection.exec_driver_sql("SELECT * FROM web_session").all())

    for _ in range(14):
        assert 200 == browser.get("/audit").status_code
        people.now += timedelta(hours=11, minutes=59)
    people.now += timedelta(hours=1)
    assert 401 == browser.get("/audit").status_code


def test_a_session_that_nobody_uses_ends_after_twelve_hours(people: People) -> None:
    browser = people.visitor(ELSEWHERE)
    browser.get(begin(browser))

    people.now += timedelta(hours=12)

    assert 401 == browser.get("/audit").status_code


def test_a_cookie_that_an_attacker_planted_never_becomes_a_session(people: People) -> None:
    browser = people.visitor(ELSEWHERE)
    browser.cookies.set("perfd", "planted-by-an-attacker", domain="127.0.0.1")

    back = browser.get(begin(browser))

    assert "planted" not in back.headers["set-cookie"]
    assert 401 == people.visitor(ELSEWHERE, Cookie="perfd=planted-by-an-attacker").get("/audit").status_code


def test_a_second_log_in_ends_the_first_session_of_this_browser(people: People) -> None:
    browser = people.visitor(ELSEWHERE)
    browser.get(begin(browser))
    first = browser.cookies["perfd"]

    browser.get(begin(browser))

    assert first != browser.cookies["perfd"]
    assert 401 == people.visitor(ELSEWHERE, Cookie=f"perfd={first}").get("/audit").status_code
    assert 200 == browser.get("/audit").status_code


def test_a_log_in_that_another_browser_began_is_refused(people: People) -> None:
    attacker, victim = people.visitor(ELSEWHERE), people.visitor(ELSEWHERE)
    back = begin(attacker)
    begin(victim)

    refused = victim.get(back)

    assert 401 == refused.status_code
    assert "did not begin the log-in" in refused.text
    assert 401 == people.visitor(ELSEWHERE).get(back).status_code
    assert "perfd=" not in refused.headers.get("set-cookie", "")
    assert ("", "log in through GitHub", False) in people.deeds()


def test_a_code_counts_once_and_only_with_its_verifier(people: People, forge: OAuthServer) -> None:
    browser = people.visitor(ELSEWHERE)
    first, second = begin(browser), begin(browser)
    code = parse_qs(urlsplit(first).query)["code"][0]
    state = parse_qs(urlsplit(second).query)["state"][0]

    stolen = browser.get("/login/github/back", params={"code": code, "state": state})

    assert 503 == stolen.status_code
    assert "GitHub took back the log-in (bad_verification_code)" in stolen.text
    assert 303 == browser.get(second).status_code
    assert 401 == browser.get(second).status_code
    assert 1 == len(forge.tokens)


@pytest.mark.parametrize(
    "onward",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\/evil.example",
        "evil",
        "/a\r\nX: y",
        "/é",
        "javascript:1",
        "",
    ],
)
def test_after_a_log_in_one_only_ever_lands_on_this_site(people: People, onward: str) -> None:
    browser = people.visitor(ELSEWHERE)

    back = browser.get(begin(browser, onward))

    assert (303, "/account") == (back.status_code, back.headers["location"])


def test_somebody_without_a_role_is_told_so(people: People, forge: OAuthServer) -> None:
    forge.login = "Mallory"
    browser = people.visitor(ELSEWHERE)

    browser.get(begin(browser))

    assert "github:mallory</bdi>, without a role" in browser.get("/account").text
    refused = browser.get("/audit")
    assert 403 == refused.status_code
    assert "may read pages and the API; github:mallory has no role" in refused.text


def test_one_ends_sessions_of_ones_own_only(people: People, forge: OAuthServer) -> None:
    alice, phone, mallory = (people.visitor(ELSEWHERE) for _ in range(3))
    alice.get(begin(alice))
    phone.get(begin(phone))
    forge.login = "Mallory"
    mallory.get(begin(mallory))

    foreign = mallory.post("/account/sessions/2/end", data={"csrf": seal_of(mallory.get("/account"))})
    own = alice.post("/account/sessions/2/end", data={"csrf": seal_of(alice.get("/account"))})

    assert (404, 303) == (foreign.status_code, own.status_code)
    assert 401 == phone.get("/audit").status_code
    assert 200 == alice.get("/audit").status_code


def test_behind_tls_the_cookie_is_secure_and_bound_to_the_host(store: Store, forge: OAuthServer) -> None:
    login = GitHubLogin(forge.url, CLIENT, SECRET)
    with known(store, address="https://perfd.example", github_login=login) as people:
        browser = people.visitor(ELSEWHERE)
        out = browser.get("/login/github")
        back = httpx.get(out.headers["location"]).headers["location"]
        assert back.startswith("https://perfd.example/login/github/back?")
        trying = out.headers["set-cookie"].partition(";")[0]
        done = people.visitor(ELSEWHERE, Cookie=trying).get(back.removeprefix("https://perfd.example"))

    cookie = done.headers.get_list("set-cookie")[-1]
    assert cookie.startswith("__Host-perfd=")
    assert "Secure" in cookie


@pytest.mark.parametrize("status", [500, 404])
def test_a_forge_that_fails_is_told_without_its_secrets(people: People, forge: OAuthServer, status: int) -> None:
    forge.broken = status
    browser = people.visitor(ELSEWHERE)

    failed = browser.get(begin(browser))

    assert 503 == failed.status_code
    assert f"GitHub does not log anybody in (HTTP {status})" in failed.text
    assert SECRET not in failed.text


def test_log_ins_without_end_are_slowed_down(people: People) -> None:
    browser = people.visitor(ELSEWHERE)

    seen = [browser.get("/login/github").status_code for _ in range(11)]

    assert [303] * 10 + [429] == seen


def test_without_an_app_the_page_says_how_one_logs_in(store: Store) -> None:
    with known(store) as people:
        assert "PERFD_GITHUB_CLIENT_ID" in people.visitor(ELSEWHERE).get("/login").text
        assert 400 == people.visitor(ELSEWHERE).get("/login/github").status_code
