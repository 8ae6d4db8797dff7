"""Steps that a kill repeats: they leave one comparison, one comment and one check."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

import pytest
from answered_world import Answered, answered_world
from pull_world import PullWorld, engine_text, pull_world
from store_world import MODEL, World, comparison

from perfd.domain.occasion import Occasion
from perfd.domain.plan import Plan
from perfd.domain.pull import JobState, PullAction
from perfd.domain.run import Arm, OccasionKind
from perfd.stages.aside import Aside, open_aside
from perfd.stages.attend import attend
from perfd.stages.judge import judge
from perfd.stages.pull_answer import say_answer
from perfd.stages.subjects import by_name
from perfd.store import Store

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
def world(tmp_path: Path) -> PullWorld:
    made = pull_world(tmp_path, "")
    made.commit("Begin", {"engine.py": engine_text("begin")})
    return made


@pytest.fixture
def one(world: PullWorld, store: Store) -> Answered:
    return answered_world(world, store, NOON)


def test_an_answer_that_is_said_again_makes_no_second_comment(one: Answered, world: PullWorld) -> None:
    one.pull(world.pull("Same", {"engine.py": engine_text("same")}))
    one.finish()
    one.later(600)
    one.slowdown = {Arm.BASE: 1.0, Arm.HEAD: 1.05}
    one.pull(world.pull("Slower", {"engine.py": engine_text("slower")}), PullAction.PUSHED)
    while one.measure() or judge(one.context):
        pass
    before = one.jobs[-1]
    settings = one.context.config.github.repository("octo/engine")
    assert (JobState.RUNNING, True) == (before.state, before.occasion is not None)
    assert settings is not None
    assert before.occasion is not None

    for _ in range(3):
        say_answer(one.context, before, before.occasion, settings)
        one.later(90)
    attend(one.context)

    assert ["1", "2"] == list(one.comments)
    assert JobState.DONE is one.jobs[-1].state


def test_a_comparison_that_is_opened_again_is_the_same_one(one: Answered, world: PullWorld) -> None:
    base = world.git("rev-parse", "main")
    head = world.pull("Change", {"engine.py": engine_text("x")})
    aside = Aside(by_name(one.context.config, "tiny"), base, head, "pull octo/engine#7 x job 1", "pull octo/engine#7", at=NOON)

    first = open_aside(one.context, aside)
    one.later(60)
    second = open_aside(one.context, aside)

    assert first == second
    assert first is not None
    assert 8 == one.context.store.runs.unfinished(first)


def test_the_blocks_of_two_models_are_told_apart(store: Store) -> None:
    other = replace(MODEL, name="other", sha256="cd" * 32)
    plan = comparison(8)
    runs = [*plan.runs, *(replace(run, model=other) for run in plan.runs)]
    occasion = Occasion(OccasionKind.COMPARE, NOON, "two models")
    World(store, now=NOON + timedelta(minutes=1)).open(occasion, Plan(plan.builds, tuple(runs)))

    blocks = store.pages.blocks(occasion)

    groups = [(model, [one.run.block for one in group]) for model, group in groupby(blocks, key=lambda one: one.run.model)]
    assert [("other", [*range(8)]), ("smol", [*range(8)])] == groups
