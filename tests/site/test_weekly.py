"""The report of a week, as a page and as Markdown."""

import httpx
import pytest
from test_pages import words


def test_a_week_says_what_changed_and_what_was_measured(filled: httpx.Client) -> None:
    page = words(filled.get("/report?week=2026-W11").text)

    assert "Week 2026-W11: 7 nights measured" in page
    assert "worse +8.0 %" in page
    assert "Commit number 12" in page


def test_a_day_names_its_week(filled: httpx.Client) -> None:
    assert filled.get("/report?week=2026-W11").text == filled.get("/report?week=2026-03-13").text


def test_the_same_comes_as_markdown(filled: httpx.Client) -> None:
    told = filled.get("/report.md?week=2026-W11")

    assert "text/markdown; charset=utf-8" == told.headers["content-type"]
    assert told.text.startswith("# Week 2026-W11 (2026-03-09 to 2026-03-15)\n")
    assert "## Regressions that must be answered" in told.text
    assert "▲ +8.0 %" in told.text


def test_the_picture_of_the_week_is_a_png(filled: httpx.Client) -> None:
    page = filled.get("/report?week=2026-W11").text
    address = page.split('class="plot-image" src="')[1].split('"')[0]

    picture = filled.get(address.replace("&amp;", "&"))

    assert b"\x89PNG" == picture.content[:4]


def test_a_week_without_nights_says_so(filled: httpx.Client, empty: httpx.Client) -> None:
    assert "No night was run in this week." in words(filled.get("/report?week=2020-W01").text)
    assert "No night was run in this week." in words(empty.get("/report").text)


def test_the_report_opens_on_the_last_complete_week(filled: httpx.Client, one_point: httpx.Client) -> None:
    assert filled.get("/report?week=2026-W11").text == filled.get("/report").text
    assert "Week 2026-W11: 7 nights" in words(filled.get("/report").text)
    # There nothing is known of that week, so the one under way is shown.
    assert "Week 2026-W12" in words(one_point.get("/report").text)


def test_the_report_is_json_too(filled: httpx.Client) -> None:
    told = filled.get("/api/v1/report?week=2026-W11").json()

    assert filled.get("/report.md?week=2026-W11").text == told["markdown"]
    assert 7 == len(told["nights"])
    assert {"worse"} == {one["word"] for one in told["worse"]}


@pytest.mark.parametrize("week", ["2026-W54", "0000-W01", "0001-W01", "9999-W53", "soon", "2026-13-01", "<b>", "9999-12-31"])
def test_what_is_no_week_is_told(filled: httpx.Client, week: str) -> None:
    answer = filled.get("/report", params={"week": week})

    assert 400 == answer.status_code
    assert "week is a week such as 2026-W11" in words(answer.text)


def test_hostile_names_are_escaped_in_both(hostile: httpx.Client) -> None:
    assert "<script>alert" not in hostile.get("/report?week=2026-W09").text
    assert "<script>" not in hostile.get("/report.md?week=2026-W09").text


def test_a_reader_is_told_how_many_results_have_come(filled: httpx.Client) -> None:
    since = {"since": "2026-03-15T12:00:00Z"}

    first = filled.get("/api/v1/news", params=since)
    again = filled.get("/api/v1/news", params=since, headers={"If-None-Match": first.headers["etag"]})

    assert first.json()["results"] >= 8
    assert 304 == again.status_code
    assert 0 == filled.get("/api/v1/news?since=2027-01-01T00:00:00Z").json()["results"]


@pytest.mark.parametrize(
    "since", ["", "yesterday", "2026-03-15T12:00:00", "%00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00"]
)
def test_a_moment_that_is_none_is_told(filled: httpx.Client, since: str) -> None:
    assert filled.get("/api/v1/news", params={"since": since}).status_code in {200, 400}


@pytest.mark.parametrize(
    "address", ["/explore", "/report", "/report.md", "/regressions", "/compare?by=device&base=a&head=b", "/series/1"]
)
def test_without_a_database_every_page_says_so(stopped: httpx.Client, address: str) -> None:
    answer = stopped.get(address)

    assert 503 == answer.status_code
    assert "The database does not answer" in words(answer.text)
