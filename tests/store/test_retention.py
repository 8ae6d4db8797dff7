from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from store_world import World, commit
from test_store_pruning import NOW, OLD, measured, partitions

from perfd.cli.tell import Silent
from perfd.config import Config, Schedule
from perfd.domain.budget import Budget
from perfd.stages.context import Context
from perfd.stages.retention import Retention


class Heard(Silent):
    """Keeps what was said."""

    def __init__(self) -> None:
        super().__init__()
        self.sentences: list[str] = []

    def say(self, stage: str, sentence: str) -> None:
        self.sentences.append(f"{stage} {sentence}")


@pytest.fixture
def context(world: World, tmp_path: Path) -> Context:
    config = Config(path=None, state=tmp_path, engines=(), models=(), devices=(), schedule=Schedule())
    return Context(config, world.store, Heard(), "a worker", now=lambda: NOW)


def keeping(context: Context, months: int) -> Context:
    return replace(context, config=replace(context.config, schedule=Schedule(keep_samples_months=months)))


def test_after_a_reported_night_old_samples_go_once_and_are_told(world: World, context: Context) -> None:
    retention = Retention(context)
    measured(world, OLD, 0, 1.0, 2.0, 3.0)
    measured(world, NOW - timedelta(days=3), 1, 4.0)

    assert [True, False] == [retention(), retention()]
    assert ["sample_2026_11"] == partitions(world)
    (said,) = context.tell.sentences  # type: ignore[attr-defined]
    assert said.startswith("retention 2025-03: 3 Samples gone with ")
    assert said.endswith("(schedule.keep_samples_months is 13)")


def test_while_a_night_is_measured_nothing_goes(world: World, context: Context) -> None:
    measured(world, OLD, 0, 1.0, reported=False)

    assert not Retention(context)()
    assert ["sample_2025_03"] == partitions(world)


def test_zero_months_keep_everything(world: World, context: Context) -> None:
    measured(world, OLD, 0, 1.0)

    assert not Retention(keeping(context, 0))()
    assert ["sample_2025_03"] == partitions(world)


def test_so_many_months_are_kept_as_are_asked_for(world: World, context: Context) -> None:
    measured(world, OLD, 0, 1.0)

    assert Retention(keeping(context, 21))()
    assert ["sample_2025_03"] == partitions(world)
    assert Retention(keeping(context, 20))()
    assert [] == partitions(world)


def test_what_a_budget_pins_stays(world: World, context: Context) -> None:
    measured(world, OLD, 0, 1.0)
    pinned = replace(context.config, budgets=(Budget("llama", commit(0).name, 0.05),))

    assert Retention(replace(context, config=pinned))()
    assert ["sample_2025_03"] == partitions(world)
