"""The OpenAPI document says what is in every answer, and real answers hold to it."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from test_api_contract import CHECKS

from perfd.site import create_app
from perfd.store import Store

FREE = "additionalProperties"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = create_app(Store.__new__(Store)).openapi()
    return found


def objects(schema: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema of an object, with its place."""
    if isinstance(schema, list):
        for number, one in enumerate(schema):
            yield from objects(one, f"{place}/{number}")
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield place, schema
        for name, one in schema.items():
            yield from objects(one, f"{place}/{name}")


def test_every_object_says_what_is_in_it(document: dict[str, Any]) -> None:
    bare = [
        place
        for place, one in objects(document["components"]["schemas"], "")
        if not one.get("properties") and one.get(FREE, True) is True and not one.get("description")
    ]

    assert [] == bare


def test_every_answer_of_the_api_has_a_schema_with_fields(document: dict[str, Any]) -> None:
    answers = {
        f"{method} {path}": operation["responses"].get("200", operation["responses"].get("202", {}))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }

    without = [
        route
        for route, one in answers.items()
        if not one.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref")
    ]
    assert [] == without


def test_lists_are_paged(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    paged = {name for name, one in schemas.items() if {"total", "offset", "limit"} <= set(one.get("properties", {}))}

    for path, operations in document["paths"].items():
        operation = operations.get("get", {"responses": {}})
        schema = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema", {})
        if schema.get("$ref", "").rpartition("/")[2] in paged:
            assert {"offset", "limit"} <= {one["name"] for one in operation["parameters"]}, path


UNPAGED = {
    "/api/v1/latest": "columns, so that one answer of 5,000 Series is 300 kB; the parts of a key narrow it",
    "/api/v1/points": "up to 50 Series that are named, and about `most` Points of each",
    "/api/v1/spans": "three lines",
    "/api/v1/formulas": "up to four that are named",
}


def test_every_list_has_filters_or_needs_none(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    lists = {
        path: operations["get"]
        for path, operations in document["paths"].items()
        if "get" in operations and "{" not in path and path not in UNPAGED
    }
    for path, operation in lists.items():
        name = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        rows = [one for one in schemas[name]["properties"].values() if one.get("type") == "array"]
        names = {one["name"] for one in operation.get("parameters", [])}
        if rows and {"total"} <= set(schemas[name]["properties"]):
            assert names - {"offset", "limit"}, path


LAUNCHED = [
    ("/api/v1/launches", {}), ("/api/v1/launches/{number}", {"number": 1}), ("/api/v1/launches/{number}", {"number": 2}),
    ("/api/v1/devices/{device_id}", {"device_id": 1}), ("/api/v1/nights", {}), ("/api/v1/status", {}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "where"), LAUNCHED)
def test_a_launch_is_told_as_promised(launched: httpx.Client, path: str, where: dict[str, Any]) -> None:
    promised(launched, path, where)


def test_its_comparisons_are_told_as_promised(launched: httpx.Client) -> None:
    names = [one["name"] for one in launched.get("/api/v1/comparisons").json()["comparisons"]]

    assert names
    for name in names:
        promised(launched, "/api/v1/comparisons/{name}", {"name": name})


@pytest.mark.parametrize("name", ["status", "regressions", "devices", "kernels", "series", "report", "nights", "spans"])
def test_a_bad_night_is_told_as_promised(hostile: httpx.Client, empty: httpx.Client, name: str) -> None:
    promised(hostile, f"/api/v1/{name}", {})
    promised(empty, f"/api/v1/{name}", {})


def promised(site: httpx.Client, path: str, where: dict[str, Any]) -> None:
    """The answer of the route is there, and what the document promises."""
    contract: Any = schemathesis.openapi.from_url(f"{site.base_url}/api/openapi.json")
    answer = contract[path]["GET"].Case(path_parameters=where).call_and_validate(checks=CHECKS)

    assert (path, 200) == (path, answer.status_code)


@pytest.mark.parametrize(
    ("address", "name", "wanted"),
    [
        ("/api/v1/kernels?kernel=add_rms_norm&column=sm_90&metric=registers", "kernels", 1),
        ("/api/v1/kernels?limit=2", "kernels", 2),
        ("/api/v1/kernels?section=timing", "kernels", 0),
        ("/api/v1/devices?state=ready", "devices", 4),
        ("/api/v1/devices?host=elsewhere", "devices", 0),
        ("/api/v1/nights?offset=14", "nights", 2),
        ("/api/v1/nights?state=planned", "nights", 0),
        ("/api/v1/comparisons?state=reported", "comparisons", 1),
        ("/api/v1/regressions?subject=nobody", "regressions", 0),
        ("/api/v1/regressions?state=detected&subject=llamacpp", "regressions", 1),
        ("/api/v1/launches?model=none", "launches", 0),
    ],
)
def test_a_list_is_narrowed_and_paged(filled: httpx.Client, address: str, name: str, wanted: int) -> None:
    assert wanted == len(filled.get(address).json()[name])
