"""The pages of Launches: one that was rehearsed, got faster but worse, and then better; beside it one that is missed."""

import importlib.util
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from served_site import served
from site_history import HOSTILE
from test_pages import links, words

from perfd.domain.launch import TodoState
from perfd.site.numbers import MINUS
from perfd.stages.launching import declare
from perfd.store import Store
from perfd.store.todos import TodoMove

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("stages", "store")]  # the world of Launches serves here too
from launch_world import DAY_0, Released, released

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SHOTS = Path(__file__).parents[2] / "test-output"


def told(world: Released) -> None:
    """Day -7 to day 14 of one Launch, its list, and a second Launch that nobody measured."""
    small = replace(world.context.config.models[0], name="m3-small")
    world.context = replace(world.context, config=replace(world.context.config, models=(*world.context.config.models, small)))
    world.commit("Begin")
    launch = world.launch(-7, 0, 7, 14)
    world.day(-7)
    world.day(0)
    world.commit("Round the cache", token_s=0.007, nll=1.05)
    world.day(7)
    world.commit("Keep the cache whole, fuse the norms", token_s=0.0075)
    world.day(14)
    now = world.clock[0]
    number = world.store.todos.add(1, "Page the KV cache", "kv cache", "ada", now)
    compared = world.store.launches.checkpoints()[-1].comparison
    assert compared is not None
    world.store.todos.move(number, TodoMove(TodoState.DONE, comparison=compared.name, note="with day 14"), now)
    world.store.todos.add(1, f"Route {HOSTILE}", HOSTILE, HOSTILE, now)
    declare(world.context, replace(launch, model="m3-small", at=DAY_0 + timedelta(days=15), days=(0, 7)))


@pytest.fixture(scope="module")
def launched(new_store: Callable[[], Store], tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    store = new_store()
    told(released(store, tmp_path_factory.mktemp("launched")))
    with ExitStack() as stack:
        address = stack.enter_context(served(store, DAY_0 + timedelta(days=16)))
        yield stack.enter_context(httpx.Client(base_url=address, timeout=60))


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
    assert {"total": 0, "launches": []} == empty.get("/api/v1/launches").json()


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    chromium = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    if chromium is None or importlib.util.find_spec("playwright") is None:
        pytest.skip("no Chromium or no playwright here; install both and this test runs")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_of_a_launch_is_wider_than_the_screen(
    browser: "Browser", launched: httpx.Client, width: int, scheme: str
) -> None:
    SHOTS.mkdir(exist_ok=True)
    context = browser.new_context(
        base_url=str(launched.base_url),
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type in {"error", "warning"} else None)
    for name, address in {"launch": "/launches/1", "launches": "/launches?with=1&with=2"}.items():
        page.goto(address)
        page.screenshot(path=SHOTS / f"site-{name}-{scheme}-{width}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    context.close()

    assert [] == complaints
