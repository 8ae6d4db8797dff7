"""What people come for, done in a real browser: a Regression is answered, two days are compared, new results are told of."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import TYPE_CHECKING

import httpx
import pytest
from screens import missing, shot, watched
from served_site import served
from site_history import FIRST_NIGHT, History

from perfd.store import Store

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
TWO_STEPS = [1.0] * 12 + [1.08] * 8 + [1.3] * 4
READ_AT = FIRST_NIGHT + timedelta(days=len(TWO_STEPS) - 1, hours=7)


@pytest.fixture(scope="module")
def history(new_store: Callable[[], Store]) -> History:
    made = History(new_store())
    for number, level in enumerate(TWO_STEPS):
        made.night(number, level, kernels=False)
    return made


@pytest.fixture(scope="module")
def address(history: History) -> Iterator[str]:
    with ExitStack() as stack:
        yield stack.enter_context(served(history.store, READ_AT))


@pytest.fixture
def page(browser: "Browser", address: str) -> Iterator["Page"]:
    with watched(browser, address) as opened:
        yield opened


def focused(page: "Page") -> str:
    return str(page.evaluate("document.activeElement.getAttribute('href') ?? document.activeElement.name"))


def answer(page: "Page", reason: str, button: str) -> None:
    page.get_by_label("Why, in a sentence").fill(reason)
    page.get_by_label("Who you are").fill("ada")
    page.get_by_role("button", name=button, exact=True).click()
    page.wait_for_url("**?done=*")


def bars(row: "Locator") -> list[float]:
    """Where the bars of a strip stand, from the left."""
    return [float(one.get_attribute("x") or "nan") for one in row.locator("svg.strip rect").all()]


def test_regressions_are_answered_from_the_keyboard(page: "Page") -> None:
    page.goto("/regressions?state=open")
    rows = [one.get_attribute("href") for one in page.locator("table[data-rows] tbody th a").all()]
    walked = []
    for key in ("j", "j", "k"):
        page.keyboard.press(key)
        walked.append(focused(page))
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{rows[0]}")
    page.keyboard.press("c")
    at_form = focused(page)
    page.keyboard.type("known since the move of the cache")
    page.get_by_label("Who you are").fill("ada")
    page.get_by_role("button", name="Acknowledge").click()
    page.wait_for_url("**?done=acknowledge*")
    life = page.locator("#life + .scroll tbody tr").last.inner_text()
    shot(page, "story-acknowledged")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("u")
    page.wait_for_url("**/regressions")

    assert len(rows) > 1
    assert [rows[0], rows[1], rows[0]] == walked
    assert "reason" == at_form
    assert "ada" in life
    assert "acknowledged: known since the move of the cache" in life
    assert "acknowledged by ada" in page.locator("table[data-rows]").inner_text()


def test_what_is_marked_as_noise_leaves_the_open_list_and_says_why(page: "Page") -> None:
    page.goto("/regressions?state=open")
    link = page.locator("table[data-rows] tbody th a").last
    there = link.get_attribute("href")
    link.click()
    answer(page, "the host was compiling that night", "Noise")
    life = page.locator("#life + .scroll tbody tr").last.inner_text()
    page.goto("/regressions?state=open")

    assert "→ noise" in life
    assert "the host was compiling that night" in life
    assert 0 == page.locator(f'table[data-rows] a[href="{there}"]').count()


def test_an_answer_without_a_reason_is_not_sent(page: "Page") -> None:
    page.goto("/regressions?state=open")
    page.locator("table[data-rows] tbody th a").first.click()
    before = page.locator("#life + .scroll tbody tr").count()
    page.get_by_role("button", name="Comment").click()

    assert page.evaluate("document.querySelector('textarea:invalid') === document.activeElement")
    assert before == page.locator("#life + .scroll tbody tr").count()


def test_the_keys_are_shown_and_closed(page: "Page") -> None:
    page.goto("/regressions")
    page.keyboard.press("?")
    shown = page.get_by_role("dialog", name="Keys").inner_text()
    page.keyboard.press("Escape")

    assert "down and up the rows" in shown
    assert not page.get_by_role("dialog", name="Keys").is_visible()


def test_two_days_are_compared_down_to_their_samples(page: "Page") -> None:
    page.goto("/compare")
    form = page.get_by_role("form", name="Compare two nights")
    form.get_by_label("Base").select_option("2026-03-01")
    form.get_by_label("Head").select_option("2026-03-24")
    form.get_by_role("button").click()
    page.wait_for_url("**base=2026-03-01**")
    every = page.locator("table[data-rows] tbody tr").count()
    page.get_by_label("Metric").select_option("itl_s")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**metric=itl_s**")
    filtered = page.locator("table[data-rows] tbody tr").count()
    effect = page.locator('table[data-rows] a[title^="Raw Samples"]').inner_text()
    page.locator('table[data-rows] a[title^="Raw Samples"]').click()
    page.wait_for_url("**#samples")
    shot(page, "story-compared")
    strips = page.locator("#samples + .scroll tbody tr")

    assert (1, True) == (filtered, every > filtered)
    assert re.fullmatch(r"▲ \+(2[89]|3[01])\.?\d* %", effect)
    assert 2 == strips.count()
    assert ["200", "200"] == [one.locator("td").nth(1).inner_text() for one in strips.all()]
    assert max(bars(strips.nth(0))) < min(bars(strips.nth(1)))


def test_a_view_is_saved_found_again_and_forgotten(page: "Page") -> None:
    page.goto("/explore?class=chat&metric=itl_s")
    page.get_by_role("link", name="save this view").click()
    page.get_by_label("Name").fill("How fast tokens come")
    page.keyboard.press("Enter")
    page.wait_for_url("**/views")
    page.goto("/charts?series=1")
    page.get_by_role("navigation", name="Saved views").get_by_role("link", name="How fast tokens come").click()
    page.wait_for_url("**/explore?class=chat&metric=itl_s")
    drawn = page.locator("figure.chart").count()
    page.goto("/views")
    page.get_by_role("button", name="Forget How fast tokens come").click()
    page.wait_for_url("**/views")

    assert 1 == drawn
    assert "No view is saved yet." == page.locator("h1").inner_text()


def test_a_chart_is_zoomed_and_the_address_keeps_the_stretch(page: "Page", address: str) -> None:
    found = httpx.get(f"{address}/api/v1/series?metric=itl_s").json()["series"][0]["id"]
    page.goto(f"/series/{found}")
    page.wait_for_selector('figure.chart[data-detailed="yes"] canvas')
    rows = page.locator("main table tbody tr").count()
    box = page.locator("figure.chart .u-over").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 50, steps=5)
    page.mouse.up()
    page.wait_for_url("**from=*")

    assert re.search(r"from=2026-03-\d\d&to=2026-03-\d\d", page.url)
    assert rows >= len(TWO_STEPS)


def test_new_results_are_told_of_and_nothing_moves(page: "Page", history: History) -> None:
    page.clock.install()
    page.goto("/")
    made = page.locator("main").inner_text()
    history.night(len(TWO_STEPS), 1.3, kernels=False)
    page.clock.fast_forward("01:05")
    told = page.locator(".news")
    told.locator("a").wait_for()
    shot(page, "story-news")

    assert re.match(r"\d+ new results? since this page was made", told.inner_text())
    assert made == page.locator("main").inner_text()
    assert "/" == page.evaluate("location.pathname")
