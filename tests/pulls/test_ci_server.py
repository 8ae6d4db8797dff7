"""A pipeline asks a perfd elsewhere: a real `perfd serve` with a worker, whose code runs in a cage."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pull_world import PullWorld, engine_text, pull_world

from perfd.bench.cage.refuse import refusal
from perfd.cli.ci_server import rows_of
from perfd.domain.area import Gate
from perfd.domain.codec import to_json
from perfd.domain.verdict import Outcome, Verdict


@pytest.fixture
def world(tmp_path: Path, database_url: str) -> PullWorld:
    return pull_world(tmp_path, database_url, minutes=0.3)


@pytest.fixture
def server(world: PullWorld) -> Iterator[str]:
    command = [sys.executable, "-m", "perfd", "--config", str(world.folder / "perfd.toml"), "serve"]
    words = ["--port", "0", "--no-clock", "--json"]
    log = world.folder / "serve.log"
    with (
        log.open("w") as out,
        subprocess.Popen([*command, *words], env=world.environment(), stdout=subprocess.PIPE, stderr=out, text=True) as process,
    ):
        assert process.stdout is not None
        answered = ""
        while not answered.endswith("}\n"):
            line = process.stdout.readline()
            assert line, log.read_text()
            answered += line
        yield str(json.loads(answered)["url"])
        process.terminate()


def test_a_server_measures_and_the_pipeline_tells(world: PullWorld, server: str) -> None:
    if refusal():
        pytest.skip(f"{refusal()}: that a pipeline's question is measured was not tested")
    base = world.commit("Begin", {"engine.py": engine_text("begin")})
    world.pull("Say more", {"engine.py": engine_text("said more")})

    code, answered = world.answered("ci", "--server", server, "--suite", "texts", "--onto", "main", "--head", "refs/pull/7/head")

    told = answered["answer"]
    assert (0, "success") == (code, answered["conclusion"]), answered["markdown"]
    assert {("nll_nats", "same")} <= {(row["metric"]["name"], row["verdict"]["outcome"]) for row in told["rows"]}
    assert base == told["against"]["commit"]
    assert f"{server}/compare/compare" in answered["markdown"]
    assert told["device"].startswith("cpu")
    assert told["environment"].startswith("Both arms ran on ")
    assert "False alarms of these Series in the last 30 days" in answered["markdown"]


def test_a_series_that_fails_itself_on_the_server_fails_no_check_here() -> None:
    verdict = to_json(Verdict(Outcome.WORSE, "slower", "pairs/1", 6, effect=0.05))
    row = {"workload": "steady", "class": "chat", "model": "", "metric": "itl_s", "base": 1.0, "head": 1.05, "pairs": 6}

    told = [{**row, "verdict": verdict, "fails_itself": fails} for fails in (False, True)]

    assert [True, False] == [one.gates for one in rows_of(told, (Gate(),), "")]


def test_a_question_that_cannot_be_measured_is_told_why(world: PullWorld, server: str) -> None:
    world.commit("Begin", {"engine.py": engine_text("begin")})
    world.pull("Change", {"engine.py": engine_text("x")})

    code, answered = world.answered("ci", "--server", server, "--suite", "nosuch", "--onto", "main", "--head", "refs/pull/7/head")

    assert (2, "action_required") == (code, answered["conclusion"])
    assert "there is no suite 'nosuch'" in answered["markdown"]


def test_a_server_that_is_none_is_told(world: PullWorld) -> None:
    world.commit("Begin", {"engine.py": engine_text("begin")})
    world.pull("Change", {"engine.py": engine_text("x")})

    done = [
        world.perfd("ci", "--server", url, "--base", "main", "--head", "refs/pull/7/head")
        for url in ("ftp://x", "http://127.0.0.1:9")
    ]

    assert [3, 4] == [one.returncode for one in done]
    assert "--server wants the address" in done[0].stderr
    assert "no answer of a perfd" in done[1].stderr
