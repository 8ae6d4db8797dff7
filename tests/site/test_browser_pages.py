"""Every page in a real browser, light and wide, dark and narrow: no complaint, no scrolling sideways, axe content."""

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import httpx
import pytest
from screens import NARROW, WIDE, Tab, barriers, barriers_of_look, missing, shot, tab, too_wide
from starlette.routing import Route
from test_pages import links

from perfd.site.app import PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LOOKED_AT = {
    "home": ("/", "filled", "/"),
    "home-empty": ("/", "empty", "/"),
    "home-hostile": ("/", "hostile", "/"),
    "series": ("/series/{series_id}", "filled", "/series/1"),
    "series-log": ("/series/{series_id}", "filled", "/series/5?scale=log"),
    "series-laid-over": ("/series/{series_id}", "quantised", "/series/2?with=9&scale=log"),
    "charts": ("/charts", "filled", "/charts?series=1,2,3"),
    "explore": ("/explore", "filled", "/explore?class=chat&f=s5/s2"),
    "views": ("/views", "filled", "/views?address=/explore?class=chat"),
    "run": ("/runs/{key}", "filled", r"/series/1 → /runs/\w+"),
    "run-failed": ("/runs/{key}", "hostile", r"/status → /runs/\w+"),
    "build": ("/builds/{name}", "filled", r"/regressions/1 → /builds/\w+"),
    "regressions": ("/regressions", "filled", "/regressions"),
    "regressions-empty": ("/regressions", "empty", "/regressions"),
    "regression": ("/regressions/{regression_id}", "filled", "/regressions/1"),
    "compare": ("/compare", "filled", "/compare"),
    "compare-empty": ("/compare", "empty", "/compare"),
    "compare-days": ("/compare", "filled", "/compare?base=2026-03-01&head=2026-03-16&samples=1"),
    "comparison": ("/compare/{name:path}", "filled", r"/compare → /compare/[^\"?]+"),
    "kernels": ("/kernels", "filled", "/kernels"),
    "launches": ("/launches", "launched", "/launches?with=1&with=2"),
    "launch": ("/launches/{number}", "launched", "/launches/1"),
    "report": ("/report", "filled", "/report"),
    "status": ("/status", "filled", "/status"),
    "status-hostile": ("/status", "hostile", "/status"),
    "devices": ("/devices", "filled", "/devices"),
    "device": ("/devices/{device_id}", "filled", "/devices/1"),
    "api": ("/api", "filled", "/api"),
    "login": ("/login", "strange", "/login"),
    "login-with-github": ("/login", "with_github", "/login"),
    "regression-of-a-stranger": ("/regressions/{regression_id}", "strange", "/regressions/1"),
    "account": ("/account", "filled", "/account"),
    "audit": ("/audit", "audited", "/audit"),
    "audit-empty": ("/audit", "filled", "/audit"),
}
"""Its route, the site, and where: `A → B` is the first link of A that B matches."""
NO_PAGES = {
    "/regressions.atom",
    "/badges/series/{series_id:int}.svg",
    "/badges/subjects/{name:path}.svg",
    "/charts.png",
    "/formulas.png",
    "/runs/{key}/submissions.png",
    "/series/{series_id:int}.png",
    "/report.md",
    "/api/openapi.json",
    "/series/{series_id}/how",
    "/healthz",
    "/livez",
    "/metrics",
    "/plots/compare/{name:path}.png",
    "/login/github",
    "/login/github/back",
}
"""Files, figures and steps on the way: nobody reads them in a browser."""
TROUBLES = {
    "trouble-404": (404, "filled", "/series/999999"),
    "trouble-400": (400, "filled", "/series/1?scale=cubic"),
    "trouble-401": (401, "closed_site", "/"),
    "trouble-500": (500, "faulty", "/"),
    "trouble-503": (503, "stopped", "/"),
}
"""Its status, the site, and where."""
SETTLED = """() => [...document.querySelectorAll("figure.chart[data-numbers]")].every((one) => one.dataset.drawn === "yes")
    && [...document.querySelectorAll("figure.chart[data-href]")].every((one) => one.dataset.detailed === "yes")
    && [...document.querySelectorAll("[data-charts]:not(html)")].every(() => document.documentElement.dataset.charts === "drawn")
    && [...document.querySelectorAll("figure.lines")].every((one) => one.querySelector("canvas"))"""

needs_browser = pytest.mark.skipif(bool(missing()), reason=missing())


def test_every_page_is_looked_at_in_a_browser() -> None:
    routes = {one.path for page in PAGES for one in page.router.routes if isinstance(one, Route) and "GET" in (one.methods or ())}

    routes = {one for one in routes if not one.endswith(".{ending:form}")}  # files: test_files.py asks for them
    assert routes == {route for route, _, _ in LOOKED_AT.values()} | NO_PAGES


@pytest.fixture(scope="module")
def tab_on(browser: "Browser") -> Callable[[str], Tab]:
    """One tab for each site, so that a browser does not begin anew for every page."""
    return cache(lambda address: tab(browser, address))


def open_page(page: "Page", site: httpx.Client, address: str) -> None:
    """The page is loaded and its charts are drawn."""
    start, arrow, pattern = address.partition(" → ")
    if arrow:
        address = links(site.get(start).text, pattern)[0]
    page.goto(address)
    page.wait_for_function(SETTLED)


@needs_browser
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_stands_in_light_and_dark_wide_and_narrow(
    tab_on: Callable[[str], Tab], request: pytest.FixtureRequest, name: str
) -> None:
    _, where, address = LOOKED_AT[name]
    site: httpx.Client = request.getfixturevalue(where)
    look_at(tab_on(str(site.base_url)), site, address, name)


@needs_browser
@pytest.mark.parametrize("name", TROUBLES)
def test_a_page_of_trouble_stands_like_any_other(tab_on: Callable[[str], Tab], request: pytest.FixtureRequest, name: str) -> None:
    status, where, address = TROUBLES[name]
    site: httpx.Client = request.getfixturevalue(where)
    opened = tab_on(str(site.base_url))
    opened.expected = status
    look_at(opened, site, address, name)
    opened.expected = 0

    assert status == site.get(address).status_code
    assert opened.page.locator("main a").count() > 0


def look_at(opened: Tab, site: httpx.Client, address: str, name: str) -> None:
    """The page is content in light and wide; then, as it stands there, in dark and narrow."""
    page = opened.page
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)
    open_page(page, site, address)
    shot(page, f"{name}-light-1280")
    found = [f"light: {one}" for one in barriers(page)]
    wide = too_wide(page)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(NARROW)
    page.wait_for_function(SETTLED)
    shot(page, f"{name}-dark-375")
    found += [f"dark: {one}" for one in barriers_of_look(page)]

    opened.check()
    assert page.locator("h1").inner_text()
    assert (wide, too_wide(page)) <= (0, 0)
    assert not found, "\n".join(found)


@needs_browser
@pytest.mark.parametrize("name", ["home", "series", "regression", "compare-days", "report", "status"])
def test_a_page_can_be_read_without_javascript(browser: "Browser", filled: httpx.Client, name: str) -> None:
    context = browser.new_context(base_url=str(filled.base_url), java_script_enabled=False)
    page = context.new_page()
    page.goto(LOOKED_AT[name][2])

    assert page.locator("h1").inner_text()
    assert page.locator("main table tbody tr").count() > 0
    assert re.search(r"\d", page.locator("main table tbody td").first.inner_text() + page.locator("main").inner_text())
    context.close()
