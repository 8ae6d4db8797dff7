"""Two Builds marked in one Series; other devices and engines laid over it, and offered where they can be compared."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import unescape

import httpx
import pytest
from site_history import CHAT, DEVICE, MODEL, History, spec
from test_pages import words

from perfd.domain.occasion import OccasionState
from perfd.domain.plan import Plan, PlannedBuild, PlannedRun
from perfd.domain.subject import Revision, SubjectKind
from perfd.store import Store

OTHER_DEVICE = "cpu:EPYC 7763:t1"


@dataclass
class Engines(History):
    """Nights in which two engines are measured on one device, and one of them on another device too."""

    def everywhere(self, night: int) -> None:
        occasion = self.occasion(night)
        now = occasion.nominal_at
        self.store.occasions.open(occasion, now)
        self.store.occasions.move(occasion, OccasionState.DUE, OccasionState.WATCHED, now)
        self.store.plans.write(occasion, self.owed(night, now), (), now)
        self.build(now)
        self.measure(occasion, now, 1.0)
        self.measure(occasion, now, 2.0, OTHER_DEVICE)
        self.close(now + timedelta(minutes=20))

    def owed(self, night: int, now: datetime) -> Plan:
        builds, runs = [], []
        for subject, devices in (("llamacpp", (DEVICE.device_class, OTHER_DEVICE)), ("vllm", (DEVICE.device_class,))):
            made = spec(subject, night)
            revision = Revision(made.revision, night, now - timedelta(hours=3), f"Commit {night} of {subject}")
            self.store.subjects.record(subject, SubjectKind.ENGINE, "main", [revision])
            builds.append(PlannedBuild(made, SubjectKind.ENGINE, revision, "main"))
            runs += [PlannedRun(made, CHAT, device, MODEL) for device in devices]
        return Plan(tuple(builds), tuple(runs))


@pytest.fixture(scope="module")
def several(new_store: Callable[[], Store], browse: Callable[[Store], httpx.Client]) -> httpx.Client:
    engines = Engines(new_store())
    for night in range(3):
        engines.everywhere(night)
    return browse(engines.store)


def series(site: httpx.Client, metric: str, **parts: str) -> int:
    found = site.get("/api/v1/series", params={"metric": metric, **parts}).json()["series"]
    return int(found[0]["id"])


def marks(page: str) -> list[dict[str, str]]:
    found = re.search(r'data-builds="([^"]+)"', page)
    return json.loads(unescape(found[1])) if found else []


def test_two_builds_are_marked_and_held_against_each_other(filled: httpx.Client) -> None:
    page = filled.get(f"/series/{series(filled, 'itl_s')}?build=000b000&build=000c").text
    read = words(page)

    assert ["A", "B"] == [one["letter"] for one in marks(page)]
    assert 2 == len({one["build"] for one in marks(page)} & set(re.findall(r"/builds/([0-9a-f]{64})", page)))
    assert re.search(r"B against A: \+(7|8)\.\d % \(worse\), by the last Point of each", read)
    assert re.search(r"perfd compare (000b){10} (000c){10} --engine llamacpp --workload chat-short", read)
    assert 2 == page.count('<svg class="strip"')


def test_a_build_is_named_by_its_own_digest_too(filled: httpx.Client) -> None:
    number = series(filled, "itl_s")
    build = filled.get(f"/api/v1/series/{number}").json()["points"]["build"][3]

    assert [{"letter": "A", "build": build}] == marks(filled.get(f"/series/{number}?build={build[:9]}").text)


def test_what_the_series_does_not_know_is_said_and_the_rest_is_marked(filled: httpx.Client) -> None:
    page = filled.get(f"/series/{series(filled, 'itl_s')}?build=nothing&build=000c").text

    assert "No Build and no Revision of this Series begins with nothing." in words(page)
    assert 1 == len(marks(page))


@pytest.mark.parametrize(
    ("query", "sentence"), [("build=a&build=b&build=c", "at most 2 Builds"), ("build=%00", "control character")]
)
def test_marks_that_cannot_be_are_refused(filled: httpx.Client, query: str, sentence: str) -> None:
    given = filled.get(f"/series/{series(filled, 'itl_s')}?{query}")

    assert 400 == given.status_code
    assert sentence in words(given.text)


def test_another_device_and_another_engine_are_offered_and_laid_over(several: httpx.Client) -> None:
    first = series(several, "ttft_s", subject="llamacpp", device=DEVICE.device_class)
    device = series(several, "ttft_s", subject="llamacpp", device=OTHER_DEVICE)
    engine = series(several, "ttft_s", subject="vllm")

    offered = words(several.get(f"/series/{first}").text)
    page = several.get(f"/series/{first}?with={device}&with={engine}").text

    assert f"device class {OTHER_DEVICE}" in offered
    assert "subject vllm" in offered
    assert [first, device, engine] == [one["id"] for one in json.loads(unescape(re.findall(r'data-lines="([^"]+)"', page)[0]))]


def test_only_what_has_something_beside_it_is_offered_for_comparison(several: httpx.Client, filled: httpx.Client) -> None:
    page, alone = several.get("/compare").text, filled.get("/compare").text

    assert ["llamacpp", "vllm"] * 2 == re.findall(r'<option value="(llamacpp|vllm|add_rms_norm|paged_decode)"', page)
    assert "Compare two devices" in page
    assert "Compare two engines" not in alone  # an engine and Kernels, which have no Workload in common


def test_a_day_of_two_nights_is_offered_once(quantised: httpx.Client) -> None:
    days = re.findall(r'<option value="(2026-03-\d\d)"', quantised.get("/compare").text)

    assert [f"2026-03-0{day}" for day in (6, 5, 4, 3, 2, 1)] * 2 == days


def test_two_engines_lead_from_each_number_to_its_own_run(several: httpx.Client) -> None:
    page = several.get("/compare?by=subject&base=llamacpp&head=vllm&metric=ttft_s").text
    base, head = re.findall(r'<a class="how" href="([^"]+)"', page)

    subjects = [several.get(f"/api/v1{one.removesuffix('/how')}/reproduce").json()["made_of"]["subject"] for one in (base, head)]

    assert ["llamacpp", "vllm"] == subjects
