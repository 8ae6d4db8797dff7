"""The pages of Launches: one that was rehearsed, got faster but worse, and then better; beside it one that is missed."""

import re

import httpx
import pytest
from test_pages import links, words

from perfd.site.numbers import MINUS


def test_the_list_says_where_each_launch_stands_and_what_is_missed(launched: httpx.Client) -> None:
    page = words(launched.get("/launches").text)

    assert "2 Launches, 1 with a missed Checkpoint." in page
    assert "Day 0 of m3-small on tiny was due 2026-12-16 09:00 UTC and has not begun" in page
    assert "Day 14 against day 0: chat better, agentic better, accuracy same; the floor of quality is kept." in page
    assert ["/launches/2", "/launches/1"] == links(launched.get("/launches").text, r"/launches/\d+")


def test_a_launch_shows_every_day_and_what_its_ratios_rest_on(launched: httpx.Client) -> None:
    text = launched.get("/launches/1").text
    page = words(text)

    assert "rehearsal" in page
    assert "✗ lost" in page
    assert "✓ kept" in page
    assert "interleaved" in page
    assert "0 → 7" in page
    assert "0 → 14" in page
    assert re.search(f"{MINUS}(30.0|29.9|30.1) %", page)
    assert "Round the cache" in page
    assert "Machine: same" in page
    assert links(text, r"/compare/[^\"]+")
    assert links(text, r"/series/\d+")


def test_classes_stand_apart(launched: httpx.Client) -> None:
    text = launched.get("/launches/1").text
    heads = [head for head in ("Chat", "Agentic", "Accuracy") if f"<h2>{head}</h2>" in text]

    assert ["Chat", "Agentic", "Accuracy"] == heads
    assert [] == [one["means"] for one in launched.get("/api/v1/launches/1").json()["classes"] if one["means"]]


def test_a_roofline_that_is_not_measured_says_so(launched: httpx.Client) -> None:
    page = words(launched.get("/launches/1").text)

    assert "Where it is not measured" in page
    assert "its Run told nothing of what the model needed" in page


def test_the_list_of_what_is_left_links_to_the_measured_effect(launched: httpx.Client) -> None:
    text = launched.get("/launches/1").text
    item = launched.get("/api/v1/launches/1").json()["todo"][0]

    assert ("done", "ada", "with day 14") == (item["state"], item["owner"], item["note"])
    assert "better" == item["measured"]["outcome"]
    assert "Page the KV cache" in words(text)


def test_launches_are_laid_side_by_side_in_the_address(launched: httpx.Client) -> None:
    page = words(launched.get("/launches?with=1&with=2").text)

    assert "Launches are not compared with each other" in page
    assert "m3-small on tiny" in page
    assert "Side by side" not in words(launched.get("/launches").text).replace("Lay side by side", "")


def test_hostile_words_of_the_list_are_shown_as_text(launched: httpx.Client) -> None:
    text = launched.get("/launches/1").text

    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "&lt;script&gt;alert" in text


@pytest.mark.parametrize(
    ("address", "status"), [("/launches/99", 404), ("/launches/x", 400), ("/launches?with=x", 400), ("/launches/0", 400)]
)
def test_an_address_that_is_none_is_refused(launched: httpx.Client, address: str, status: int) -> None:
    assert status == launched.get(address).status_code


def test_without_launches_the_page_says_how_to_declare_one(empty: httpx.Client) -> None:
    page = words(empty.get("/launches").text)

    assert "No Launch is declared yet." in page
    assert "perfd launch add MODEL --engine E --at TIME" in page
    assert {"total": 0, "offset": 0, "limit": 100, "launches": []} == empty.get("/api/v1/launches").json()
