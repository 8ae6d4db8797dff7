"""A real Chromium for the tests, whose pages fail a test when they complain; every picture of a run lies in one folder."""

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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
LOOK = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
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


WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 375, "height": 800}


@dataclass
class Tab:
    """A page of the browser, and what it complained of: a word in its console, a script or a request that failed."""

    page: "Page"
    expected: int = 0
    """The status that the address itself answers with, where it is one of trouble."""
    complaints: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """From now on complaints are kept."""
        self.page.on("console", lambda message: self._note(message.text) if message.type in {"error", "warning"} else None)
        self.page.on("pageerror", lambda error: self._note(str(error)))
        self.page.on("response", lambda answer: self._note(f"{answer.status} {answer.url}") if answer.status >= 400 else None)

    def _note(self, complaint: str) -> None:
        """A complaint, unless it is about the status that was expected."""
        if not self.expected or str(self.expected) not in complaint:
            self.complaints.append(complaint)

    def check(self) -> None:
        """Nothing was complained of since the last time."""
        told, self.complaints = self.complaints, []
        assert not told, "\n".join(told)


def tab(browser: "Browser", address: str, **context: Any) -> Tab:
    """A new page on the site at `address`, in a context of its own."""
    opened = browser.new_context(**{"base_url": address, "viewport": WIDE, "timezone_id": "Asia/Tokyo"} | context)
    made = Tab(opened.new_page())
    made.listen()
    return made


@contextmanager
def watched(browser: "Browser", address: str, **context: Any) -> Iterator["Page"]:
    """A page on the site at `address`; whatever it complains of fails the test."""
    made = tab(browser, address, **context)
    yield made.page
    made.page.context.close()
    made.check()


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

    return _lines(Axe().run(page, options=AXE).response["violations"])


def barriers_of_look(page: "Page") -> list[str]:
    """The same for what colours and width alone decide, of a page that `barriers` has looked at since it was loaded."""
    return _lines(page.evaluate("options => axe.run(options)", AXE | {"runOnly": {"type": "rule", "values": LOOK}})["violations"])


def _lines(found: list[dict[str, Any]]) -> list[str]:
    return [
        f"{one['id']}: {node['target'][0]}: {node['html'][:100]} {node['failureSummary'][:200]}"
        for one in found
        for node in one["nodes"]
    ]
