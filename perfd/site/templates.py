"""Jinja2 as the pages use it: everything is escaped, an unknown name is an error, and numbers have their filters."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from perfd.domain.direction import turns, written_out
from perfd.domain.subject import brief
from perfd.site import numbers
from perfd.site.static import static_url, web_folder

_PARTS = re.compile("<[^>]*>|[^<]+")
"""Tags, whose attributes hold no > since all of them are escaped, and what stands between them."""
_SEEN = re.compile('(?:title|aria-label|alt|placeholder)="[^"]*"')
SIGNS = {"same": "=", "unsure": "?", "not comparable": "≠"}
"""Of what did not move up or down."""
COLOURED = frozenset({"better", "worse", "unsure", "same"})
_TICKED = re.compile("`([^`]{1,200})`")


def environment() -> Environment:
    """A Jinja2 environment over web/templates with autoescape everywhere."""
    made = Environment(
        loader=FileSystemLoader(web_folder() / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(static=static_url, name=name, verdict=verdict)
    made.filters.update(
        iso=iso,
        utc=utc,
        short=short,
        brief=brief,
        prose=prose,
        arrow=numbers.arrow,
        percent=numbers.percent,
        percents=numbers.percents,
        duration=numbers.duration,
    )
    return made


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC, as <time datetime> and the API have it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def utc(moment: datetime, show: str = "") -> str:
    """The moment as a page without JavaScript shows it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d" if show == "day" else "%Y-%m-%d %H:%M UTC")


def short(text: str, most: int = 80) -> str:
    """At most `most` characters on one line; what was cut is shown by an ellipsis."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most else line[: most - 1] + "…"


def prose(text: str, most: int = 1000) -> Markup:
    """A sentence for people: escaped, cut, and with what stands in `backticks` as code."""
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(short(text, most)))))  # noqa: S704  # escaped just here


def upright(page: str) -> str:
    """The page with every mark that turns the direction of text written out, where a reader sees it.

    What a form sends back, an address or a script's data are left as they are: they must name the very same thing.
    """
    if not turns(page):
        return page
    return _PARTS.sub(lambda found: _SEEN.sub(_written, found[0]) if found[0].startswith("<") else written_out(found[0]), page)


def _written(found: re.Match[str]) -> str:
    return written_out(found[0])


@lru_cache(maxsize=10_000)  # a hundred lines of a list repeat a dozen names
def name(text: str, most: int = 80) -> Markup:
    """A name from outside: in <bdi>, so that its direction cannot turn the rest of a line; what was cut stands in its title."""
    title = f' title="{escape(short(text, 400))}"' if len(text) > most else ""
    return Markup(f'<bdi class="name"{title}>{escape(short(text, most))}</bdi>')  # noqa: S704  # escaped just here


def verdict(word: str | None, effect: float | None = None) -> Markup:
    """A word for how something moved, with its sign: its colour is never all that says so."""
    return _verdict(word, "" if word is None else SIGNS.get(word, numbers.arrow(effect)))


@lru_cache(maxsize=100)
def _verdict(word: str | None, sign: str) -> Markup:
    if word is None:
        return Markup('<span class="none">no verdict</span>')
    kind = word if word in COLOURED else "none"
    return Markup(f'<span class="verdict {kind}">{sign}{" " if sign else ""}{escape(word)}</span>')  # noqa: S704  # escaped just here


class Pages:
    """Renders templates; `clock` gives the moment that a page says it was made."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._environment = environment()
        self._clock = clock

    def prepare(self) -> list[str]:
        """Every template is compiled, which took whoever read a page first up to a tenth of a second; all take about 0.4 s.

        Their names come back; an unknown filter or a wrong tag raises here.
        """
        return [self._environment.get_template(template).name or "" for template in self._environment.list_templates()]

    def show(self, template: str, here: str = "", status: int = 200, **words: Any) -> HTMLResponse:
        """The page; `here` is the entry of the navigation that it belongs to."""
        text = self._environment.get_template(template).render(here=here, now=self._clock(), **words)
        return HTMLResponse(upright(text), status_code=status, headers={"Cache-Control": "no-cache"})
