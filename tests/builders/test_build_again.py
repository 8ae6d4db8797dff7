from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from wheelhouse import add_wheel

from perfd.cli.tell import Silent
from perfd.config import Config, DeviceConfig, Schedule
from perfd.domain.occasion import Occasion
from perfd.domain.run import RunState
from perfd.domain.subject import Engine, Launch, Source, SourceKind
from perfd.stages.build import build
from perfd.stages.context import Context, worker_name
from perfd.stages.night import open_night
from perfd.stages.plan import plan
from perfd.stages.watch import watch
from perfd.store import Store

AT_ONCE = (timedelta(0), timedelta(0))
SUITE = """
question = "How long does a token take?"
workloads = [{ name = "chat", class = "chat", question = "?", seed = 1, time_limit_s = 60, parameters = { requests = 2, \
concurrency = 1, prompt_tokens = 16, output_tokens = 8 } }]
"""


class Heard(Silent):
    """Keeps what was said, and does something about the first failure."""

    def __init__(self, then: Callable[[], None]) -> None:
        super().__init__()
        self.sentences: list[str] = []
        self.then = then

    def say(self, stage: str, sentence: str) -> None:
        self.sentences.append(f"{stage}: {sentence}")
        if "try 2 of 3" in sentence:
            self.then()


@pytest.fixture
def planned(tmp_path: Path, house: Path, store: Store) -> tuple[Context, Occasion]:
    """A night that owes the Build of a package."""
    add_wheel(house, "tiny_engine", "1.9", {"tiny_engine.py": ""})
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "speed.toml").write_text(SUITE)
    launch = Launch(("{python}", "-m", "tiny_engine", "--port", "{port}"), "llamacpp")
    source = Source(SourceKind.INDEX, "tiny_engine", version="1.9")
    config = Config(
        path=None,
        state=tmp_path / "state",
        engines=(Engine("tiny", source, "released", launch, ("speed",), ()),),
        models=(),
        devices=(DeviceConfig("cpu"),),
        schedule=Schedule(aa=False),
        kernels=False,
        suites_folder=tmp_path / "suites",
    )
    context = Context(config, store, Heard(lambda: None), worker_name())
    night = open_night(context)
    assert watch(context)
    assert plan(context)
    return context, night


@pytest.fixture
def silence(planned: tuple[Context, Occasion], house: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Since the night was planned the index answers no more; what is returned brings it back."""
    del planned
    monkeypatch.delenv("PIP_NO_INDEX", raising=False)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")  # nothing listens on port 1
    monkeypatch.setenv("PIP_RETRIES", "0")

    def over() -> None:
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", house.as_uri())

    return over


def heard(context: Context) -> Heard:
    assert isinstance(context.tell, Heard)
    return context.tell


def test_a_build_that_the_network_failed_is_made_when_it_is_back(
    planned: tuple[Context, Occasion], silence: Callable[[], None]
) -> None:
    context, night = planned
    heard(context).then = silence

    assert build(context, AT_ONCE)

    tried, made = (line for line in heard(context).sentences if line.startswith("build: tiny 1.9 "))
    assert "this may pass: try 2 of 3 in 0 s" in tried
    assert "the package index did not answer" in tried
    assert made.startswith("build: tiny 1.9 built in ")
    assert 1 == context.store.runs.counts(night)[RunState.QUEUED]


@pytest.mark.usefixtures("silence")
def test_a_network_that_stays_away_fails_the_build_after_three_tries(planned: tuple[Context, Occasion]) -> None:
    context, night = planned

    assert build(context, AT_ONCE)

    lines = [line for line in heard(context).sentences if line.startswith("build: tiny 1.9 ")]
    assert [2, 1] == [sum("this may pass" in line for line in lines), sum("this may pass" not in line for line in lines)]
    assert 1 == context.store.runs.counts(night)[RunState.FAILED]


@pytest.mark.usefixtures("silence")
def test_a_worker_that_is_to_end_gives_the_build_back(planned: tuple[Context, Occasion]) -> None:
    context, night = planned
    heard(context).then = context.over.set

    assert build(context, (timedelta(hours=1),) * 2)

    assert 1 == context.store.pages.status().builds_queued
    assert 1 == context.store.runs.counts(night)[RunState.QUEUED]


def test_what_is_the_builds_own_fault_is_not_tried_again(planned: tuple[Context, Occasion], house: Path) -> None:
    context, night = planned
    add_wheel(house, "tiny_engine", "1.9", {"tiny_engine.py": ""}, needs=("absent>=2",))

    assert build(context, AT_ONCE)

    assert [] == [line for line in heard(context).sentences if "this may pass" in line]
    assert 1 == context.store.runs.counts(night)[RunState.FAILED]
