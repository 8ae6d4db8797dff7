"""No spike and no Change is lost from a chart that draws fewer Points than there are, at any zoom, remembered or made anew."""

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from screens import missing, watched
from served_site import LEVELS
from site_history import History
from sqlalchemy import text

from perfd.store import Store, latest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Browse = Callable[[Store], httpx.Client]
SPIKE = 6
"""The place of a Point that is ten times as high as those beside it; the Change is at 12."""
COVERED = """async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const canvas = document.querySelector("figure.chart canvas");
    const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colour = (name) => {
        const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
        return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    };
    const rows = (wanted) => {
        const found = [];
        for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
            const at = 4 * (y * width + x);
            const apart = Math.max(...wanted.map((value, part) => Math.abs(value - data[at + part])));
            if (data[at + 3] > 100 && apart < 40) found.push([x, y]);
        }
        return found;
    };
    const line = rows(colour("--line")).map(([, y]) => y);
    const tall = new Map();
    for (const [x] of rows(colour("--mark-worse"))) tall.set(x, (tall.get(x) ?? 0) + 1);
    return { top: Math.min(...line) / height, rule: Math.max(0, ...tall.values()) / height };
}"""
"""How far from the top of the picture the line's highest pixel is, and how tall the tallest rule of a Change."""
WORDS = """
window.words = [];
const fill = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (word, ...rest) {
    window.words.push(word);
    fill.call(this, word, ...rest);
};"""
"""Keeps what is written into pictures."""


def raise_point(store: Store, series_id: int, place: int, times: float) -> None:
    with store.engine.begin() as connection:
        asked = {"id": series_id, "place": place, "times": times}
        connection.execute(
            text(
                "UPDATE point SET value = value * :times WHERE series_id = :id AND run_id = (SELECT run_id FROM point "
                "WHERE series_id = :id ORDER BY ordinal, measured_at, run_id OFFSET :place LIMIT 1)"
            ),
            asked,
        )
        latest.refresh(connection, [series_id])


@pytest.fixture(scope="module")
def spiked(new_store: Callable[[], Store], browse: Browse) -> tuple[Store, httpx.Client, int]:
    """Sixteen nights with a Change, and then the spike; the number of the Series."""
    store = new_store()
    history = History(store)
    for number, level in enumerate(LEVELS):
        history.night(number, level, kernels=False)
    client = browse(store)
    found = int(client.get("/api/v1/series?metric=itl_s").json()["series"][0]["id"])
    raise_point(store, found, SPIKE, 10.0)
    return store, client, found


def shown(client: httpx.Client, series_id: int, place: int, **window: int) -> list[float]:
    """What each of the two answers that a chart is made of gives for that place; one number less for each that leaves it out."""
    asked: dict[str, Any] = dict(window)
    drawn = client.get("/api/v1/points", params={"series": series_id, **asked}).json()["series"][0]["data"]
    told = client.get(f"/api/v1/series/{series_id}", params=asked).json()["data"]
    return [round(data[1][data[0].index(place)], 4) for data in (drawn, told) if place in data[0]]


@pytest.mark.parametrize("visited", [False, True])
def test_a_spike_is_in_every_window_however_few_points_it_gives(
    spiked: tuple[Store, httpx.Client, int], *, visited: bool
) -> None:
    store, client, found = spiked
    with store.engine.begin() as connection:
        latest.touch(connection, [found])  # nothing is remembered
    if visited:
        assert 200 == client.get(f"/series/{found}").status_code
    windows = [(start, stop) for start, stop in combinations(range(17), 2) if start <= SPIKE < stop]
    [height] = set(shown(client, found, SPIKE))

    assert height > 0.04
    assert len(windows) > 50
    for start, stop in windows:
        for most in (2, 3, 7):
            assert [height] * 2 == shown(client, found, SPIKE, start=start, stop=stop, most=most), (start, stop, most)


def test_a_change_is_told_however_few_points_are_given(spiked: tuple[Store, httpx.Client, int]) -> None:
    _, client, found = spiked
    whole = client.get(f"/api/v1/series/{found}").json()["changes"]

    assert 12 in [one["index"] for one in whole]
    for window in ({"most": 2}, {"start": 5, "stop": 15, "most": 2}, {"start": 12, "most": 3}):
        assert whole == client.get(f"/api/v1/series/{found}", params=window).json()["changes"]


def test_a_spike_is_drawn_as_soon_as_it_is_stored(spiked: tuple[Store, httpx.Client, int]) -> None:
    store, client, _ = spiked
    found = int(client.get("/api/v1/series?metric=ttft_s").json()["series"][0]["id"])
    client.get(f"/series/{found}")
    before = [shown(client, found, 9, most=4), shown(client, found, 9)]
    raise_point(store, found, 9, 20.0)
    after = [shown(client, found, 9, most=4), shown(client, found, 9)]

    assert after[0] == after[1]
    assert after[1][0] > 10 * before[1][0]


def opened(page: "Page", series_id: int, most: int, days: str = "") -> dict[str, float]:
    """What the chart's picture covers when the site gives at most so many Points at a time."""
    for address in ("**/api/v1/points?*", "**/api/v1/series/*"):
        page.route(
            address,
            lambda route: route.continue_(url=f"{route.request.url}{'&' if '?' in route.request.url else '?'}most={most}"),
        )
    page.add_init_script(WORDS)
    page.goto(f"/series/{series_id}{days}")
    page.wait_for_selector('figure.chart[data-detailed="yes"] canvas')
    page.wait_for_load_state("networkidle")
    covered: dict[str, float] = page.evaluate(COVERED)
    numbers = [float(word) for word in page.evaluate("window.words") if str(word).replace(".", "").isdigit() and len(word) < 6]
    return covered | {"highest": max(numbers)}


@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.parametrize("most", [4, 1000])
@pytest.mark.parametrize("days", ["", "?from=2026-03-05&to=2026-03-15"])
def test_a_spike_and_a_change_are_in_the_picture(
    browser: "Browser", spiked: tuple[Store, httpx.Client, int], most: int, days: str
) -> None:
    _, client, found = spiked
    with watched(browser, str(client.base_url)) as page:
        covered = opened(page, found, most, days)

    assert covered["highest"] > 30  # ms on the axis: without the spike all values are below seven
    assert covered["top"] < 0.2
    assert covered["rule"] > 0.5


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_numbers_on_the_axis_are_in_groups_and_without_needless_zeros(
    browser: "Browser", spiked: tuple[Store, httpx.Client, int]
) -> None:
    store, client, _ = spiked
    found = int(client.get("/api/v1/series?metric=output_tokens_per_s").json()["series"][0]["id"])
    raise_point(store, found, 3, 10.0)
    with watched(browser, str(client.base_url)) as page:
        page.add_init_script(WORDS)
        page.goto(f"/series/{found}")
        page.wait_for_selector('figure.chart[data-detailed="yes"] canvas')
        words = page.evaluate("window.words")

    assert {"500", "1,000"} <= set(words)
