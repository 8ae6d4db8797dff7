"""Every table and chart can be taken away at a stable address, and every number says how it is measured again."""

import csv
import io
import json
import sys
import xml.etree.ElementTree as ET
from datetime import UTC, datetime

import httpx
import pyarrow.parquet as pq
import pytest

from perfd.domain.run import OccasionKind
from perfd.domain.table import Kind, table
from perfd.errors import BadInputError
from perfd.parquet import parquet
from perfd.site.badges import badge
from perfd.store import Store


def parsed(text: str | bytes) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314  # perfd itself has just written it


ATOM = "{http://www.w3.org/2005/Atom}"
PNG = b"\x89PNG\r\n\x1a\n"


def rows_of(answer: httpx.Response) -> list[dict[str, str]]:
    assert 200 == answer.status_code, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def first_run(filled: httpx.Client) -> int:
    found: int = filled.get("/api/v1/series/1").json()["points"]["run"][0]
    return found


def nights(store: Store) -> str:
    """Two nights as sides of a comparison."""
    names = [row.occasion.name for row in store.pages.nights(2)]
    return f"base={names[1]}&head={names[0]}"


def test_the_points_of_a_series_are_the_same_in_every_form(filled: httpx.Client) -> None:
    told = rows_of(filled.get("/series/1.csv"))
    document = filled.get("/series/1.json").json()
    stored = pq.read_table(io.BytesIO(filled.get("/series/1.parquet").content)).to_pylist()

    assert 16 == len(told) == len(document["rows"]) == len(stored)
    assert [float(row["value"]) for row in told] == [row["value"] for row in document["rows"]] == [row["value"] for row in stored]
    assert isinstance(stored[0]["measured_at"], datetime)
    assert {"number"} == {document["columns"][name] for name in ("value", "low", "high")}


def test_the_address_holds_the_stretch_of_a_series(filled: httpx.Client) -> None:
    assert ["3", "4"] == [row["place"] for row in rows_of(filled.get("/series/1.csv?start=3&stop=5"))]


@pytest.mark.parametrize(
    "address", ["/series", "/series?class=chat", "/regressions", "/regressions?state=open", "/points?series=1,2"]
)
@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_every_list_has_its_file(filled: httpx.Client, address: str, ending: str) -> None:
    path, mark, query = address.partition("?")
    answer = filled.get(f"{path}.{ending}{mark}{query}")

    assert 200 == answer.status_code
    assert len(answer.content) > 50


def test_a_comparison_and_its_runs_have_their_files(filled: httpx.Client, filled_store: Store) -> None:
    told = rows_of(filled.get(f"/compare.csv?{nights(filled_store)}"))
    compared = filled_store.occasions.last(OccasionKind.COMPARE)

    assert {"base", "head", "effect", "word"} <= set(told[0])
    assert compared is not None
    assert "base" in {row["arm"] for row in rows_of(filled.get(f"/compare/{compared.name}.csv"))}


def test_the_samples_of_a_run_and_the_runs_of_a_build_have_their_files(filled: httpx.Client) -> None:
    points = filled.get("/api/v1/series/1").json()["points"]
    samples = rows_of(filled.get(f"/runs/{points['run'][0]}.csv"))
    runs = rows_of(filled.get(f"/builds/{points['build'][0]}.csv"))

    assert {"run", "metric", "unit", "better", "place", "value"} == set(samples[0])
    assert {row["run"] for row in samples} <= {row["run"] for row in runs}


@pytest.mark.parametrize(
    "address", ["/series/1.png", "/series/1.png?start=2&stop=9", "/charts.png?series=1,2", "/formulas.png?f=s2 / s3"]
)
def test_every_chart_is_a_picture_at_its_address(filled: httpx.Client, address: str) -> None:
    answer = filled.get(address)

    assert (200, "image/png", PNG) == (answer.status_code, answer.headers["content-type"], answer.content[:8])


@pytest.mark.parametrize(
    ("address", "status"),
    [("/series/999.csv", 404), ("/series/1.xlsx", 400), ("/runs/zz.csv", 400), ("/compare.csv", 400), ("/series/999.png", 404),
     ("/badges/series/999.svg", 404), ("/badges/subjects/nobody.svg", 404), ("/points.csv?series=x", 400),
     ("/regressions.csv?state=lost", 400)],
)  # fmt: skip
def test_an_address_of_nothing_says_so(filled: httpx.Client, address: str, status: int) -> None:
    assert status == filled.get(address).status_code


def test_text_that_a_spreadsheet_would_run_is_neutralised() -> None:
    cells = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "plain"]
    made = table("t", {"word": Kind.TEXT, "number": Kind.NUMBER}, ((cell, -1.5) for cell in cells))

    assert [f"'{cell}" for cell in cells[:6]] + ["plain"] == [
        row["word"] for row in csv.DictReader(io.StringIO(made.csv(), newline=""))
    ]
    assert {"-1.5"} == {row["number"] for row in csv.DictReader(io.StringIO(made.csv()))}


def test_a_hostile_name_leaves_as_text(hostile: httpx.Client) -> None:
    assert 200 == hostile.get("/series.csv").status_code
    parsed(hostile.get("/regressions.atom").content)
    parsed(hostile.get("/badges/series/1.svg").content)


def test_a_table_without_rows_has_its_columns() -> None:
    made = table("t", {"word": Kind.TEXT, "at": Kind.TIME}, [])

    assert "word,at\r\n" == made.csv()
    assert ["word", "at"] == pq.read_table(io.BytesIO(parquet(made))).column_names


def test_without_pyarrow_the_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(BadInputError, match=r"pip install 'perfd\[parquet\]'"):
        parquet(table("t", {"word": Kind.TEXT}, [("a",)]))


def test_a_run_names_everything_that_it_is_made_of(filled: httpx.Client) -> None:
    found = filled.get(f"/api/v1/runs/{first_run(filled)}").json()["reproduce"]

    assert found["command"].startswith("perfd compare ")
    needed = {"revision", "parameters", "seed", "data_hash", "device_class", "build", "model", "toolchain", "harness_version"}
    assert needed <= set(found["made_of"])


def test_the_feed_is_atom(filled: httpx.Client) -> None:
    answer = filled.get("/regressions.atom")
    feed = parsed(answer.content)

    assert "application/atom+xml" == answer.headers["content-type"].partition(";")[0]
    assert f"{ATOM}feed" == feed.tag
    for element in (feed, *feed.findall(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert 1 == len(element.findall(f"{ATOM}{name}"))
        assert datetime.fromisoformat(str(element.findtext(f"{ATOM}updated"))).tzinfo is UTC
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    ids = [one.findtext(f"{ATOM}id") for one in feed.findall(f"{ATOM}entry")]
    assert len(ids) == len(set(ids)) > 0


def test_a_badge_may_be_embedded_and_is_escaped(filled: httpx.Client) -> None:
    answer = filled.get("/badges/series/1.svg")
    hostile = bytes(badge('<script>"&', "\x00\u202e</svg>", "#000000").body).decode()

    assert ("cross-origin", "image/svg+xml") == (answer.headers["cross-origin-resource-policy"], answer.headers["content-type"])
    assert "<script" not in hostile
    assert "\u202e" not in hostile
    parsed(hostile)


def test_json_of_a_table_is_one_document(filled: httpx.Client) -> None:
    assert "series" == json.loads(filled.get("/series.json").text)["table"]
