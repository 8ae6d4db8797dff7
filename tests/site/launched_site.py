"""A site that tells of Launches: one that was rehearsed, got faster but worse, and then better; beside it one that is missed."""

import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from site_history import HOSTILE

from perfd.domain.launch import TodoState
from perfd.stages.launching import declare
from perfd.store.todos import TodoMove

__all__ = ["READ_AT", "released", "told"]
sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("stages", "store")]  # the world of Launches serves here too
from launch_world import DAY_0, Released, released

READ_AT = DAY_0 + timedelta(days=16)
"""When the site is looked at."""


def told(world: Released) -> None:
    """Day -7 to day 14 of one Launch, its list, and a second Launch that nobody measured."""
    small = replace(world.context.config.models[0], name="m3-small")
    world.context = replace(world.context, config=replace(world.context.config, models=(*world.context.config.models, small)))
    world.commit("Begin")
    launch = world.launch(-7, 0, 7, 14)
    world.day(-7)
    world.day(0)
    world.commit("Round the cache", token_s=0.007, nll=1.05)
    world.day(7)
    world.commit("Keep the cache whole, fuse the norms", token_s=0.0075)
    world.day(14)
    now = world.clock[0]
    number = world.store.todos.add(1, "Page the KV cache", "kv cache", "ada", now)
    compared = world.store.launches.checkpoints()[-1].comparison
    assert compared is not None
    world.store.todos.move(number, TodoMove(TodoState.DONE, comparison=compared.name, note="with day 14"), now)
    world.store.todos.add(1, f"Route {HOSTILE}", HOSTILE, HOSTILE, now)
    declare(world.context, replace(launch, model="m3-small", at=DAY_0 + timedelta(days=15), days=(0, 7)))
