"""Marks that turn the direction of text are seen on every page, and turn nothing."""

import re
from html import unescape

import httpx
import pytest
from test_pages import walk

from perfd.domain.direction import MARKS, turns, written_out
from perfd.site.templates import upright


def seen(page: str) -> str:
    """What a reader sees of a page: its text, and what is told of it."""
    told = re.findall(r'(?:title|aria-label|alt)="([^"]*)"', page)
    return unescape(" ".join([re.sub(r"<[^>]*>", " ", page), *told]))


def test_no_page_shows_a_mark_that_turns_its_text(hostile: httpx.Client) -> None:
    pages = walk(hostile)

    assert any("\\u202eevil\\u202c" in seen(page) for page in pages.values())
    assert [] == [address for address, page in pages.items() if turns(seen(page))]


def test_a_choice_still_means_the_very_same_name(hostile: httpx.Client) -> None:
    subject = hostile.get("/api/v1/series").json()["series"][0]["subject"]
    page = hostile.get("/", params={"subject": subject}).text

    assert f'value="{subject}"' in re.sub("&[^;]+;", lambda found: unescape(found[0]), page)
    assert turns(subject)


@pytest.mark.parametrize("mark", MARKS)
def test_each_mark_is_written_out(mark: str) -> None:
    shown = f"a\\u{ord(mark):04x}b"

    assert shown == written_out(f"a{mark}b")
    assert f'<p title="{shown}">{shown}</p><input value="{mark}">' == upright(
        f'<p title="a{mark}b">a{mark}b</p><input value="{mark}">'
    )


def test_other_text_stays_as_it_is() -> None:
    assert "▲ +8.0 % שלום" == written_out("▲ +8.0 % שלום")
