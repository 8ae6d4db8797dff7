"""The page of a long Run: both sets over time, the sentence, every submission, and tries that were interrupted."""

import asyncio
import csv
import io
from dataclasses import replace

import httpx
import pytest
from store_world import CHAT, World, done, night, plan, planned_run, reduced, samples

from perfd.domain.metric import Better
from perfd.domain.submission import Submission
from perfd.domain.suite import WorkloadClass
from perfd.site import create_app
from perfd.store import Store

HOSTILE = "<b>step & one</b>"


def submission(place: int, validation: float, held_out: float, name: str = "") -> Submission:
    scores = {"validation": (validation, validation * 1.01), "held_out": (held_out, held_out * 1.01)}
    return Submission(place, name or f"step-{place}", 60.0 * place, "a" * 64, 9, "loss", "nats", Better.LOWER, **scores)


def got(store: Store, address: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(store))
        async with httpx.AsyncClient(transport=transport, base_url="http://perfd") as client:
            return await client.get(address)

    return asyncio.run(ask())


@pytest.fixture
def gamed(store: Store) -> str:
    """A long Run that was interrupted once, and gamed in its second try; its key."""
    world = World(store)
    long_run = replace(CHAT, workload_class=WorkloadClass.LONG_RUN)
    world.open(night(), plan(0, runs=[planned_run(0, long_run)]))
    world.build()
    first = world.claim()
    store.submissions.add(first, [submission(0, 1.0, 1.0)])
    store.runs.give_back(first)
    second = world.claim()
    broken = Submission(2, "broken", 150.0, "", 0, "loss", "", Better.LOWER, reason="it is no ordinary file")
    handed_in = [submission(0, 1.0, 1.0, HOSTILE), submission(1, 0.1, 0.99), broken]
    assert 3 == store.submissions.add(second, handed_in)
    assert 0 == store.submissions.add(second, handed_in)
    results = done(world.now, samples(0.99, name="loss"))
    store.runs.finish(second, results, reduced(results), world.now)
    return second.key


def test_a_gamed_run_says_so_and_shows_both_sets_over_time(store: Store, gamed: str) -> None:
    text = got(store, f"/runs/{gamed}").text

    assert "gaming, not progress: gained" in text
    assert '<svg class="course"' in text
    assert [2, 2] == [text.count(f'<g class="{one}"><path') for one in ("validation", "held")]  # a chart a try
    assert "it is no ordinary file" in text
    assert "which was interrupted" in text
    assert HOSTILE not in text
    assert "&lt;b&gt;step &amp; one&lt;/b&gt;" in text


def test_the_json_has_every_try_with_raw_scores(store: Store, gamed: str) -> None:
    came = got(store, f"/api/v1/runs/{gamed}").json()["submissions"]

    assert [1, 3] == [len(came[number]) for number in ("1", "2")]
    assert [0.1, 0.101] == [round(score, 6) for score in came["2"][1]["validation"]]


def test_its_submissions_are_taken_away_as_a_table_and_as_a_picture(store: Store, gamed: str) -> None:
    lines = list(csv.DictReader(io.StringIO(got(store, f"/runs/{gamed}/submissions.csv").text)))
    picture = got(store, f"/runs/{gamed}/submissions.png")

    assert [("1", "0"), ("2", "0"), ("2", "1"), ("2", "2")] == [(one["attempt"], one["place"]) for one in lines]
    assert ("it is no ordinary file", "") == (lines[3]["reason"], lines[3]["validation"])
    assert (200, b"\x89PNG") == (picture.status_code, picture.content[:4])
    assert f"/runs/{gamed}/submissions.png" in got(store, f"/runs/{gamed}").text
