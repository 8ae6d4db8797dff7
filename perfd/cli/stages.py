"""`perfd watch|plan|build|measure|judge|report` and `perfd work`: the stages by themselves, for machines that do only some."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from perfd.cli import main
from perfd.cli.group import FINE, answer, json_option
from perfd.cli.opened import opened
from perfd.cli.tell import Teller
from perfd.stages.context import Context
from perfd.stages.night import STAGES, Stage, look_around
from perfd.stages.patience import patiently

IDLE_S = 2.0
"""A worker with nothing to do looks again after this time."""

HELP = {
    "watch": "Look for new revisions of every subject of a due night.",
    "plan": "Write down the builds and runs that a watched night owes.",
    "build": "Make queued builds.",
    "measure": "Measure queued runs on this machine's devices.",
    "judge": "Judge what was measured, and open, move and close regressions.",
    "confirm": "Plan what is measured again before a person is told, and settle what was.",
    "report": "Deliver messages, and close judged nights with their report.",
}


def _command(name: str, stage: Stage) -> Callable[..., int]:
    @main.command(name, help=f"{HELP[name]} Goes on until it is stopped, unless --once is given.")
    @click.option("--once", is_flag=True, help="Do one unit of work at most, and end.")
    @json_option
    @click.pass_obj
    def command(config_path: Path | None, once: bool, as_json: bool) -> int:
        with Teller() as tell, opened(config_path, tell) as context:
            done = int(stage(context)) if once else _keep_on(context, (stage,))
        if as_json:
            answer({"stage": name, "units": done})
        return FINE

    return command


def _keep_on(context: Context, stages: tuple[Stage, ...]) -> int:
    """Work until Ctrl-C; returns how many units were done."""
    done = 0
    try:
        while True:
            worked = sum(patiently(context, partial(stage, context)) for stage in stages)
            done += worked
            if not worked:
                patiently(context, lambda: look_around(context))
                time.sleep(IDLE_S)
    except KeyboardInterrupt:
        return done


for _name in HELP:  # `perfd bisect` is a command of its own
    _command(_name, STAGES[_name])


@main.command()
@json_option
@click.pass_obj
def work(config_path: Path | None, as_json: bool) -> int:
    """Be a worker on this machine: build and measure what is queued, until stopped.

    Ctrl-C ends the Run under way and puts it back for another worker.
    """
    with Teller() as tell, opened(config_path, tell) as context:
        done = _keep_on(context, (STAGES["build"], STAGES["measure"]))
    if as_json:
        answer({"units": done})
    return FINE
