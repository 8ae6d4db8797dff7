"""A real Chromium for the tests, whose pages fail a test when they complain; every picture of a run lies in one folder."""

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]
SHOTS = Path(os.environ.get("PERFD_SCREENSHOTS") or Path(__file__).parents[2] / "test-output")
"""Where pictures of the pages stay after a run."""
AXE = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], "resultTypes": ["violations"]}


def missing() -> str:
    """What a browser test lacks here, as the reason for skipping it; "" where nothing is."""
    if CHROMIUM is None:
        return "no Chromium here; `apt-get install chromium` lets these tests run"
    lacking = [name for name in ("playwright", "axe_playwright_python") if importlib.util.find_spec(name) is None]
    return f"no {' and '.join(lacking)} here; `pip install -e .[dev]` lets these tests run" if lacking else ""


@contextmanager
def chromium() -> Iterator["Browser"]:
    """A browser while it is needed. Its loop belongs to this thread, so that no test of coroutines may run meanwhile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@contextmanager
def watched(browser: "Browser", address: str, **context: Any) -> Iterator["Page"]:
    """A page on the site at `address`; a word in its console, a script that failed or a request that did fails the test."""
    context = {"viewport": {"width": 1280, "height": 900}, "timezone_id": "Asia/Tokyo"} | context
    opened = browser.new_context(base_url=address, **context)
    page = opened.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("response", lambda answer: complaints.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None)
    yield page
    opened.close()
    assert not complaints, "\n".join(complaints)


def shot(page: "Page", name: str) -> None:
    """A picture of the whole page."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"site-{name}.png", full_page=True)


def too_wide(page: "Page") -> int:
    """By how many pixels the page must be scrolled sideways."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def barriers(page: "Page") -> list[str]:
    """What axe finds in the page against WCAG 2.2 AA, a line for each element."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options=AXE).response["violations"]
    return [
        f"{one['id']}: {node['target'][0]}: {node['html'][:100]} {node['failureSummary'][:200]}"
        for one in found
        for node in one["nodes"]
    ]
