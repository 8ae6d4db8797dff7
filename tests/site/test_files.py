"""Every table of every page is taken away as CSV, JSON and Parquet, at an address that stands below it."""

import csv
import io
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import httpx
import pyarrow.parquet as pq
import pytest
from test_browser_pages import LOOKED_AT
from test_pages import links

NO_DATA = {
    "account": "tokens and sessions, which belong to one person, and the roles, which docs/accounts.md has",
    "views": "names that people gave to addresses; /api/v1/views has them",
    "api": "the description of the API; /api/openapi.json is its file",
}
"""Pages whose tables nobody measured, and why they have no file."""
REASONS = {"facts": "words about one thing, which the API's JSON of that thing has"}


class Tables(HTMLParser):
    """The tables of a page, each with its classes and the addresses in its caption."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[set[str], list[str]]] = []
        self._in_caption = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        words = dict(attrs)
        if tag == "table":
            self.found.append((set((words.get("class") or "").split()), []))
        if tag == "caption":
            self._in_caption = True
        if tag == "a" and self._in_caption:
            self.found[-1][1].append(words.get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "caption":
            self._in_caption = False


def tables(text: str) -> Iterator[tuple[set[str], list[str]]]:
    parser = Tables()
    parser.feed(text)
    return (one for one in parser.found if not one[0] & set(REASONS))


def opened(request: pytest.FixtureRequest, name: str) -> tuple[httpx.Client, str]:
    """The site of a page of the browser tests, and the page's text."""
    _, fixture, address = LOOKED_AT[name]
    site: httpx.Client = request.getfixturevalue(fixture)
    start, arrow, pattern = address.partition(" → ")
    return site, site.get(links(site.get(start).text, pattern)[0] if arrow else address).text


@pytest.mark.parametrize("name", sorted(set(LOOKED_AT) - set(NO_DATA)))
def test_every_table_of_a_page_has_its_files(request: pytest.FixtureRequest, name: str) -> None:
    site, text = opened(request, name)

    for place, (_, addresses) in enumerate(tables(text)):
        files = [one for one in addresses if re.search(r"\.(csv|json|parquet)(\?|$)", one)]
        assert len(files) >= 3, f"table {place} of {name}"
        read(site, files[:3])


def read(site: httpx.Client, files: list[str]) -> None:
    """The three files of a table hold the same lines, and there are some."""
    as_csv, as_json, as_parquet = (site.get(one) for one in files)
    assert [200] * 3 == [one.status_code for one in (as_csv, as_json, as_parquet)], (files[0], as_csv.text[:500])

    lines = list(csv.DictReader(io.StringIO(as_csv.text)))
    stored = pq.read_table(io.BytesIO(as_parquet.content))

    assert lines, files[0]
    assert list(lines[0]) == stored.column_names
    assert len(lines) == len(as_json.json()["rows"]) == stored.num_rows


STATUS = ("queue", "outbox", "missing", "builds", "findings", "unposted", "devices", "use", "workers", "nights")
ONES = (
    "/series/1/changes", "/launches/1/days", "/launches/1/numbers", "/launches/1/changed", "/launches/1/brought",
    "/launches/1/roofline", "/launches/1/todo", "/devices/1/quarantines", "/devices/1/voided", "/devices/1/seen",
    "/devices/1/runs", "/report/worse", "/report/better", "/report/left", "/report/closed", "/report/nights", "/spans",
    "/kernels", "/launches", "/devices", "/comparisons", "/audit",
)  # fmt: skip


@pytest.mark.parametrize("address", [*(f"/status/{name}" for name in STATUS), *ONES])
def test_a_file_keeps_its_columns_without_rows(launched: httpx.Client, address: str) -> None:
    answer = launched.get(f"{address}.csv")

    assert 200 == answer.status_code, answer.text
    assert len(answer.text.splitlines()[0].split(",")) >= 2


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("/status/everything.csv", "it has queue, outbox"),
        ("/series/1/points.json", "it has changes"),
        ("/launches/99/days.csv", "no Launch 99"),
        ("/devices/99/runs.csv", "no device 99"),
        ("/regressions/99/life.csv", "no Regression 99"),
        ("/compare/means.csv", "base and head are needed"),
        ("/compare/nothing/verdicts.csv", "There is no comparison"),
    ],
)
def test_a_file_of_nothing_says_so(filled: httpx.Client, address: str, sentence: str) -> None:
    answer = filled.get(address)

    assert answer.status_code in {400, 404}
    assert sentence in answer.text


def test_a_closed_site_gives_no_audit_log(strange: httpx.Client) -> None:
    assert strange.get("/audit.csv").status_code in {401, 403}


def test_hostile_names_leave_as_text(hostile: httpx.Client) -> None:
    for name in STATUS:
        told = hostile.get(f"/status/{name}.csv")
        assert 200 == told.status_code
        assert not any(cell.startswith(("=", "+", "@")) for row in csv.reader(io.StringIO(told.text)) for cell in row)
