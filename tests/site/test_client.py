"""The client of the package against the real site."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

import perfd.client
from perfd.client import Client
from perfd.domain.environment import Device, Environment
from perfd.domain.metric import Better
from perfd.domain.results import MetricSamples, Results
from perfd.domain.run import RunState
from perfd.errors import BadInputError, PerfdError
from perfd.store import Store

AT = datetime(2026, 3, 1, tzinfo=UTC)
RESULTS = Results(
    state=RunState.DONE,
    samples=(MetricSamples("tpot_s", "s", Better.LOWER, (0.01, 0.02, 0.03)),),
    started_at=AT,
    finished_at=AT,
    environment=Environment(Device("box", "cpu", "cpu:EPYC"), {}, "unknown", {}),
    run={"subject": "elsewhere", "revision": "r1", "workload": "mine"},
)


@pytest.fixture
def client(filled: httpx.Client) -> Iterator[Client]:
    with Client(str(filled.base_url)) as made:
        yield made


def test_every_series_is_listed_and_its_points_are_read(client: Client) -> None:
    found = list(client.series(class_="chat"))
    points = client.points(found[0].id)

    assert {"chat"} == {one.document["class"] for one in found}
    assert found[0].value == points.values[-1]
    assert len(points) == len(points.runs) == len(points.revisions) == 16


def test_a_run_says_how_it_is_measured_again(client: Client) -> None:
    number = client.points(1).runs[-1]
    told = client.run(number)

    assert told["reproduce"]["command"].startswith("perfd compare ")
    assert {number: told["run"]["key"]}.items() <= {row["id"]: row["key"] for row in client.runs(limit=500).rows}.items()
    assert told == client.run(told["run"]["key"])


def test_regressions_status_and_tables_are_read(client: Client) -> None:
    assert {one["state"] for one in client.regressions(only_open=True)} <= {"suspect", "detected", "confirmed", "owned"}
    assert client.status()["sentence"]
    assert client.table("/series/1?start=2").startswith(b"series,place,")
    assert len(client.latest(class_="chat")["value"]) == len(list(client.series(class_="chat")))


NO_METHOD = {
    "/api/v1/points": "charts ask it in single precision; points() has every digit",
    "/api/v1/news": "is for pages that are open",
    "/api/v1/series/{series_id}/reproduce": "is for a number on a page; reproduce() takes the Run",
    "/api/v1/views": "are addresses of pages",
}
ASKED: dict[str, dict[str, Any]] = {
    "series": {"class_": "chat"}, "latest": {}, "regressions": {}, "regression": {"number": 1},
    "kernels": {"section": "static"}, "devices": {"state": "ready"}, "device": {"number": 1}, "nights": {},
    "comparisons": {"state": "reported"}, "spans": {}, "report": {"week": "2026-W11"}, "status": {}, "false_alarms": {},
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_every_question_is_answered(client: Client, name: str) -> None:
    assert list(getattr(client, name)(**ASKED[name]))


def test_launches_are_read(launched: httpx.Client) -> None:
    with Client(str(launched.base_url)) as client:
        assert [one["number"] for one in client.launches(engine="tiny")] == [2, 1]
        assert 1 == client.launch(1)["number"]


def test_what_is_named_is_found(client: Client) -> None:
    points, compared = client.points(1), next(client.comparisons())

    assert client.reproduce(points.runs[-1]) == client.run(points.runs[-1])["reproduce"]
    assert points.builds[0] == client.build(points.builds[0])["build"]["digest"]
    assert compared["name"] == client.comparison(compared["name"])["comparison"]
    assert [1.0] * 16 == client.formula("s2 / s2")[0]["values"]


def test_every_route_has_its_method(filled: httpx.Client) -> None:
    source = (Path(perfd.client.__file__).parent / "client.py").read_text(encoding="utf-8")
    routes = filled.get("/api/openapi.json").json()["paths"]
    named = {re.sub(r"{[^}]*}", "{}", one) for one in re.findall(r'"(/api/v1/[^"]+)"', source)}

    assert [] == sorted(path for path in routes if path not in NO_METHOD and re.sub(r"{[^}]*}", "{}", path) not in named)


def test_an_answer_that_has_not_changed_is_the_same_object(client: Client) -> None:
    assert client.get("/api/v1/series/1") is client.get("/api/v1/series/1")


def test_what_the_site_refuses_is_raised_with_its_sentence(client: Client) -> None:
    with pytest.raises(BadInputError, match="There is no Series 999"):
        client.points(999)


def test_a_site_that_is_away_is_told() -> None:
    with Client("http://127.0.0.1:9", timeout_s=2) as away, pytest.raises(PerfdError, match="does not answer"):
        away.status()


def test_results_are_handed_in_once(new_store: Callable[[], Store], browse: Callable[[Store], httpx.Client]) -> None:
    # On a site of its own: other tests count what stands on the filled one.
    with Client(str(browse(new_store()).base_url)) as client:
        first, second = client.send(RESULTS, "key 1"), client.send(RESULTS, "key 1")

        assert (True, False, first.run) == (first.new, second.new, second.run)
        with pytest.raises(BadInputError, match="other results stand under this key"):
            client.send(replace(RESULTS, samples=()), "key 1")
