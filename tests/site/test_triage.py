"""Regressions are answered on their pages: plain forms, with actor and reason, and nobody's answer is lost."""

import re
from collections.abc import Callable
from html import unescape

import httpx
import pytest
from site_history import HOSTILE, History
from test_pages import links, words

from perfd.store import Store

Browse = Callable[[Store], httpx.Client]
LEVELS = [1.0] * 12 + [1.08] * 4


@pytest.fixture(scope="module")
def history(new_store: Callable[[], Store]) -> History:
    made = History(new_store())
    made.nights(LEVELS)
    return made


@pytest.fixture(scope="module")
def site(history: History, browse: Browse) -> httpx.Client:
    return browse(history.store)


def one(site: httpx.Client, place: int = 0) -> str:
    return links(site.get("/regressions").text, r"/regressions/\d+")[place]


def answer(site: httpx.Client, address: str, deed: str, reason: str, **more: str) -> httpx.Response:
    """Send the form as a browser would: with the hidden fields of the page, unless `more` says others."""
    page = site.get(address).text
    hidden = {name: unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)}
    return site.post(address, data=hidden | {"deed": deed, "actor": "ada", "reason": reason} | more)


def test_owning_a_regression_names_its_owner_and_why(site: httpx.Client) -> None:
    address = one(site)

    given = answer(site, address, "own", "the scheduler is mine", owner="grace")

    assert 303 == given.status_code
    page = words(site.get(given.headers["location"]).text)
    assert "State ▸ owned" in page
    assert "Owner grace" in page
    assert (
        "ada detected → owned grace takes it: the scheduler is mine" in page
        or "ada confirmed → owned grace takes it: the scheduler is mine" in page
    )
    assert "grace" in words(site.get("/regressions").text)


def test_a_second_answer_to_an_old_page_is_told_and_changes_nothing(site: httpx.Client) -> None:
    address = one(site)
    page = site.get(address).text
    hidden = {name: unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)}
    answer(site, address, "own", "first", owner="first")

    late = site.post(address, data=hidden | {"deed": "noise", "actor": "late", "reason": "a noisy machine, typed slowly"})

    assert 409 == late.status_code
    assert "ada answered while you read: it is owned now." in words(late.text)
    assert "a noisy machine, typed slowly</textarea>" in late.text
    assert "Owner first" in words(site.get(address).text)


def test_an_acknowledgement_holds_until_the_next_step(
    new_store: Callable[[], Store], browse: Callable[[Store], httpx.Client]
) -> None:
    history = History(new_store())
    history.nights(LEVELS)
    rows = history.store.regressions.unanswered()
    told = history.occasion(len(LEVELS)).nominal_at
    for row in rows:
        history.store.regressions.note(row.id, actor="ada", reason="acknowledged: known since the move", now=told)
    site = browse(history.store)

    before = words(site.get(f"/regressions/{rows[0].id}").text)
    for number in range(len(LEVELS), len(LEVELS) + 4):
        history.night(number, 1.25, kernels=False)
    after = words(site.get(f"/regressions/{rows[0].id}").text)

    assert "Acknowledged by ada" in before
    assert "Acknowledged no" in after


def test_a_day_that_nobody_set_comes_from_the_effect_and_a_set_one_stays(site: httpx.Client) -> None:
    address = one(site)

    assert "nobody has set a day" in words(site.get(address).text)
    answer(site, address, "due", "after the release", due="2026-12-24")

    page = words(site.get(address).text)
    assert "Due 2026-12-24" in page
    assert "nobody has set a day" not in page


def test_a_duplicate_names_another_regression(site: httpx.Client) -> None:
    address = one(site)
    number = address.rsplit("/", 1)[1]

    assert "cannot repeat itself" in words(answer(site, address, "duplicate", "same cause", of=number).text)
    assert "There is no Regression 999999" in words(answer(site, address, "duplicate", "same cause", of="999999").text)


@pytest.mark.parametrize(
    ("deed", "more", "sentence"),
    [
        ("verified", {}, "An answer is one of"),
        ("noise", {"reason": ""}, "Say why, in a sentence"),
        ("noise", {"actor": ""}, "Say who you are"),
        ("noise", {"state": "wrong"}, "load the page again"),
        ("noise", {"seen": "-1"}, "load the page again"),
        ("due", {"due": "tomorrow"}, "Give the day"),
        ("duplicate", {"of": "²"}, "Give the number"),
    ],
)
def test_an_answer_that_says_too_little_is_told_so(site: httpx.Client, deed: str, more: dict[str, str], sentence: str) -> None:
    given = answer(site, one(site), deed, **({"reason": "a reason"} | more))

    assert 400 == given.status_code
    assert sentence in words(given.text)


def test_what_was_typed_is_escaped(site: httpx.Client) -> None:
    given = answer(site, one(site), "comment", HOSTILE.replace("\u202e", "").replace("\u202c", ""), actor="<b>ada</b>")

    page = site.get(given.headers["location"]).text
    assert "<script>alert" not in page
    assert "<b>ada" not in page
    assert "&lt;b&gt;ada&lt;/b&gt;" in page


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"x" * 70_000, "application/x-www-form-urlencoded"),
        (b"deed=\xff", "application/x-www-form-urlencoded"),
        (b"{}", "application/json"),
        (b"&".join([b"a=b"] * 60), "application/x-www-form-urlencoded"),
        (b"reason=%00", "application/x-www-form-urlencoded"),
    ],
)
def test_a_body_that_no_form_sends_is_refused(site: httpx.Client, body: bytes, kind: str) -> None:
    assert 400 == site.post(one(site), content=body, headers={"content-type": kind}).status_code


def test_another_site_may_not_answer(site: httpx.Client) -> None:
    refused = site.post(one(site), data={"deed": "noise"}, headers={"origin": "https://elsewhere.example"})

    assert 403 == refused.status_code


def test_the_commits_of_the_range_are_listed(site: httpx.Client) -> None:
    page = words(site.get(one(site)).text)

    assert "the last Revision that was measured at the old level: 1 Revision." in page
    assert "Commit number 12" in page


def test_an_unknown_regression_cannot_be_answered(site: httpx.Client) -> None:
    seal = re.findall(r'name="csrf" value="([0-9a-f]{64})"', site.get(one(site)).text)[0]

    assert 404 == site.post("/regressions/999999", data={"deed": "noise", "csrf": seal}).status_code


def test_a_form_that_was_not_made_for_this_visitor_changes_nothing(site: httpx.Client) -> None:
    for seal in ({}, {"csrf": ""}, {"csrf": "0" * 64}):
        refused = site.post(one(site), data={"deed": "noise", "actor": "ada", "reason": "noise"} | seal)

        assert 403 == refused.status_code
        assert "load its page again" in words(refused.text)
