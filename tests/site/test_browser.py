"""The pages in a real browser: nothing in its console, charts that draw, a hover that names the Build, dark and narrow."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest
from screens import barriers, missing, shot, watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.fixture
def page(browser: "Browser", filled: httpx.Client) -> Iterator["Page"]:
    """A page on the filled site; whatever its console complains of fails the test."""
    with watched(browser, str(filled.base_url)) as opened:
        yield opened


def open_series(page: "Page", filled: httpx.Client, metric: str = "itl_s") -> None:
    found = filled.get(f"/api/v1/series?metric={metric}").json()["series"][0]["id"]
    page.goto(f"/series/{found}")
    page.wait_for_selector('figure.chart[data-drawn="yes"][data-detailed="yes"] canvas')


def painted(page: "Page") -> int:
    """How many pixels of the chart are not blank."""
    return int(
        page.evaluate(
            """async () => {
                await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
                const canvas = document.querySelector("figure.chart canvas");
                const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                let count = 0;
                for (let at = 3; at < data.length; at += 4) count += data[at] > 0;
                return count;
            }"""
        )
    )


def test_a_chart_draws_and_a_hover_names_the_build(page: "Page", filled: httpx.Client) -> None:
    open_series(page, filled)
    box = page.locator("figure.chart .u-over").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] / 2)
    tip = page.locator("figure.chart .tip").inner_text()
    shot(page, "series")

    assert painted(page) > 2000
    assert "Build " in tip
    assert "24 Samples" in tip or "200 Samples" in tip


def test_small_charts_draw_side_by_side_and_open_their_series(page: "Page") -> None:
    page.goto("/charts?series=1,2,3")
    page.wait_for_selector('html[data-charts="drawn"]', state="attached")
    drawn = page.locator('figure.chart[data-drawn="yes"] canvas').count()
    page.locator("figure.chart").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/series/2")

    assert 3 == drawn


def test_a_long_series_is_drawn_by_its_extremes_and_shows_every_point_when_zoomed(page: "Page", filled: httpx.Client) -> None:
    found = filled.get("/api/v1/series?metric=itl_s").json()["series"][0]["id"]
    for address in ("series", "points"):  # the site gives four of the sixteen Points until a stretch is asked for
        page.route(
            f"**/api/v1/{address}*/**" if address == "series" else f"**/api/v1/{address}?*",
            lambda route: route.continue_(url=route.request.url + ("&" if "?" in route.request.url else "?") + "most=4"),
        )
    page.goto(f"/series/{found}")
    page.wait_for_selector('figure.chart[data-detailed="yes"]')
    few = int(page.locator("figure.chart").get_attribute("data-points") or 0)
    page.unroute_all()
    box = page.locator("figure.chart .u-over").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 50, steps=5)
    page.mouse.up()
    page.wait_for_selector(f'figure.chart:not([data-points="{few}"])')
    zoomed = int(page.locator("figure.chart").get_attribute("data-points") or 0)

    assert few < zoomed < 16


def test_a_click_on_a_point_opens_its_run(page: "Page", filled: httpx.Client) -> None:
    open_series(page, filled)
    box = page.locator("figure.chart .u-over").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**/runs/*")
    shot(page, "run")

    assert "done" in page.locator("h1").inner_text()


def test_the_keyboard_reads_points_and_opens_a_run(page: "Page", filled: httpx.Client) -> None:
    open_series(page, filled)
    page.locator("figure.chart").focus()
    page.keyboard.press("End")
    last = page.locator(".readout").inner_text()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("(before) => document.querySelector('.readout').textContent !== before", arg=last)
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/*")

    assert "Build " in last


def test_days_without_a_point_are_told_beside_the_whole_chart(page: "Page") -> None:
    page.goto("/series/5?from=2001-01-01&to=2001-01-02")
    page.wait_for_selector('figure.chart[data-drawn="yes"] canvas')

    assert "No Point lies in these days, so all are drawn." == page.locator("figure.chart + p.note").inner_text()
    page.goto("/series/5?from=2026-03-02&to=2026-03-04")
    page.wait_for_selector('figure.chart[data-drawn="yes"] canvas')
    assert 0 == page.locator("figure.chart + p.note").count()


def test_marked_builds_are_drawn_into_the_chart(page: "Page", filled: httpx.Client) -> None:
    found = filled.get("/api/v1/series?metric=itl_s").json()["series"][0]["id"]
    pixels = []
    for query in ("", "?build=000b&build=000d"):
        page.goto(f"/series/{found}{query}")
        page.wait_for_selector('figure.chart[data-drawn="yes"][data-detailed="yes"] canvas')
        pixels.append(painted(page))
    shot(page, "series-marked")

    assert pixels[0] + 100 < pixels[1]


def test_a_number_opens_the_command_that_measures_it_again(page: "Page") -> None:
    page.goto("/")
    number = page.locator("table a.how").first
    number.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="measured again by")
    dialog.wait_for()
    shot(page, "how")
    command, facts = dialog.get_by_label("Command").inner_text(), dialog.locator("table").inner_text()
    found = barriers(page)
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")

    assert command.startswith("perfd compare 000f")
    assert all(word in facts for word in ("Revision", "Parameters", "Seed", "Device class"))
    assert [] == found
    assert number.evaluate("number => number === document.activeElement")
    assert "/" == page.evaluate("location.pathname")


def test_a_number_leads_to_its_run_without_javascript(browser: "Browser", filled: httpx.Client) -> None:
    context = browser.new_context(base_url=str(filled.base_url), java_script_enabled=False)
    opened = context.new_page()
    opened.goto("/series/1")
    opened.locator("table a.how").first.click()
    opened.wait_for_url("**/runs/*#reproduce")

    assert "perfd compare" in opened.locator("#reproduce + pre").inner_text()
    context.close()


def test_the_mark_of_a_change_is_in_the_chart(page: "Page", filled: httpx.Client) -> None:
    open_series(page, filled)
    with_mark = painted(page)
    open_series(page, filled, "peak_memory_bytes")

    assert with_mark != painted(page)


def test_times_are_in_the_readers_zone_with_utc_on_hover(page: "Page") -> None:
    page.goto("/status")
    time = page.locator("main time").first

    assert "2026-03-16 11:00" == time.inner_text()
    assert "2026-03-16 02:00 UTC" == time.get_attribute("title")
    assert "Asia/Tokyo" in page.locator("[data-zone]").inner_text()


def test_a_hostile_name_runs_nothing(browser: "Browser", hostile: httpx.Client) -> None:
    context = browser.new_context(base_url=str(hostile.base_url), viewport={"width": 375, "height": 800})
    opened = context.new_page()
    opened.on("dialog", lambda dialog: pytest.fail(f"a script of a name ran: {dialog.message}"))
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    for address in ("/", "/status"):
        opened.goto(address)
        shot(opened, f"hostile-{'home' if address == '/' else 'status'}-375")
        assert opened.evaluate("document.documentElement.scrollWidth") <= 375
    open_series(opened, hostile)
    opened.locator("figure.chart").focus()
    opened.keyboard.press("End")

    assert "<script>" in opened.locator(".tip").inner_text() or "<script>" in opened.locator("main").inner_text()
    assert [] == complaints
    context.close()


def test_the_table_is_enough_without_javascript(browser: "Browser", filled: httpx.Client) -> None:
    found = filled.get("/api/v1/series?metric=itl_s").json()["series"][0]["id"]
    context = browser.new_context(base_url=str(filled.base_url), java_script_enabled=False)
    opened = context.new_page()
    opened.goto(f"/series/{found}")

    assert opened.locator("table tbody tr").count() > 20
    assert "The chart needs JavaScript" in opened.locator("figure").inner_text()
    context.close()


def test_a_printed_page_has_no_navigation(page: "Page") -> None:
    page.goto("/")
    page.emulate_media(media="print")

    assert not page.locator("header.top a", has_text="Kernels").is_visible()
    assert page.locator("table").first.is_visible()
