"""The OpenAPI document is held against the real site: no 5xx, and every answer is what it promises."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance
from served_site import LEVELS
from site_history import History

from perfd.store import Store

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
GETS = [
    "/api/v1/series", "/api/v1/latest", "/api/v1/series/{series_id}", "/api/v1/points", "/api/v1/compare", "/api/v1/runs",
    "/api/v1/runs/{key}", "/api/v1/runs/{key}/reproduce", "/api/v1/builds/{name}", "/api/v1/devices",
    "/api/v1/devices/{device_id}", "/api/v1/regressions",
    "/api/v1/regressions/{regression_id}", "/api/v1/false-alarms", "/api/v1/news", "/api/v1/status", "/api/v1/launches",
    "/api/v1/launches/{number}", "/api/v1/comparisons", "/api/v1/comparisons/{name}", "/api/v1/kernels", "/api/v1/nights",
    "/api/v1/spans", "/api/v1/report", "/api/v1/formulas", "/api/v1/series/{series_id}/reproduce",
    "/api/v1/views",
]  # fmt: skip
POSTS = ["/api/v1/results", "/api/v1/comparisons"]
OPERATIONS = [*((path, "GET") for path in GETS), *((path, "POST") for path in POSTS)]


@pytest.fixture(scope="session")
def asked(new_store: Callable[[], Store], browse: Callable[[Store], httpx.Client]) -> httpx.Client:
    """A site of these tests' own: what is asked here at random is also written."""
    store = new_store()
    history = History(store)
    history.nights(LEVELS)
    history.comparison(len(LEVELS))
    return browse(store)


@pytest.fixture(scope="session")
def contract(asked: httpx.Client) -> BaseSchema:
    found: BaseSchema = schemathesis.openapi.from_url(f"{asked.base_url}/api/openapi.json")
    return found


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_answer_is_what_the_document_promises(contract: BaseSchema, path: str, method: str) -> None:
    @settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(case=contract[path][method].as_strategy())
    def ask(case: Any) -> None:
        case.call_and_validate(checks=CHECKS)

    ask()


def test_answers_of_what_is_there_are_as_promised(contract: BaseSchema, asked: httpx.Client) -> None:
    points = asked.get("/api/v1/series/1").json()["points"]
    run, build = {"key": points["run"][0]}, {"name": points["build"][0]}
    compared = asked.get("/api/v1/comparisons").json()["comparisons"][-1]
    there: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("/api/v1/series/{series_id}", {"series_id": 1}, {}),
        ("/api/v1/series", {}, {"class": "chat"}),
        ("/api/v1/points", {}, {"series": "1,2"}),
        ("/api/v1/runs/{key}", run, {}),
        ("/api/v1/runs/{key}/reproduce", run, {}),
        ("/api/v1/builds/{name}", build, {}),
        ("/api/v1/regressions/{regression_id}", {"regression_id": 1}, {}),
        ("/api/v1/devices/{device_id}", {"device_id": 1}, {}),
        ("/api/v1/compare", {}, {"base": points["build"][0], "head": points["build"][-1]}),
        ("/api/v1/regressions", {}, {"state": "detected"}),
        ("/api/v1/latest", {}, {"class": "nothing"}),
        ("/api/v1/comparisons/{name}", {"name": compared["name"]}, {}),
        ("/api/v1/report", {}, {"week": "2026-W11"}),
        ("/api/v1/formulas", {}, {"f": "s1 / s2"}),
        *((f"/api/v1/{name}", {}, {}) for name in ("devices", "kernels", "nights", "spans", "comparisons", "status", "latest")),
    ]
    for path, where, query in there:
        answer = contract[path]["GET"].Case(path_parameters=where, query=query).call_and_validate(checks=CHECKS)

        assert (path, 200) == (path, answer.status_code)


def test_every_route_is_asked(asked: httpx.Client) -> None:
    paths = asked.get("/api/openapi.json").json()["paths"]
    routes = {(path, method.upper()) for path, operations in paths.items() for method in operations}

    assert {one for one in routes if one[0].startswith("/api/v1/")} == set(OPERATIONS)


def test_every_parameter_and_route_says_what_it_is(asked: httpx.Client) -> None:
    operations = [one for routes in asked.get("/api/openapi.json").json()["paths"].values() for one in routes.values()]

    assert [] == [one["operationId"] for one in operations if not one.get("description")]
    assert [] == [part["name"] for one in operations for part in one.get("parameters", []) if not part.get("description")]


def test_every_answer_that_a_page_shows_is_found(asked: httpx.Client) -> None:
    points = asked.get("/api/v1/series/1").json()["points"]
    run = asked.get(f"/api/v1/runs/{points['run'][0]}").json()["run"]
    listed = asked.get("/api/v1/runs", params={"subject": run["subject"], "state": "done", "limit": 3}).json()

    assert points["build"][0] == asked.get(f"/api/v1/builds/{points['build'][0]}").json()["build"]["digest"]
    assert (3, {"done"}) == (len(listed["runs"]), {one["state"] for one in listed["runs"]})
    assert listed["total"] > 3
    one = asked.get("/api/v1/regressions").json()["regressions"][0]
    assert one.items() <= asked.get(f"/api/v1/regressions/{one['id']}").json().items()


def test_a_comparison_that_is_asked_again_under_its_key_is_the_same(asked: httpx.Client) -> None:
    question = {"engine": "engine", "base": "a" * 40, "head": "b" * 40}
    headers = {"Idempotency-Key": "ci-4711"}
    first, second = (asked.post("/api/v1/comparisons", json=question, headers=headers) for _ in range(2))
    other = asked.post("/api/v1/comparisons", json=question | {"head": "c" * 40}, headers=headers)

    assert (202, 202, first.json()) == (first.status_code, second.status_code, second.json())
    assert (400, "Idempotency-Key" in other.json()["error"]) == (other.status_code, True)
