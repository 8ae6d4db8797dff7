"""attend: everything between perfd and the forge, in a loop of its own, so that no measuring keeps a pull request waiting."""

from collections.abc import Callable

from perfd.stages.context import Context
from perfd.stages.deliver import deliver, expire
from perfd.stages.patience import patiently
from perfd.stages.pull import pull
from perfd.stages.receive import receive

STAGES: tuple[Callable[[Context], bool], ...] = (receive, pull, expire, deliver)


def attend(context: Context) -> bool:
    """What the forge told is taken in, and what it should be told is sent; returns whether there was anything."""
    worked = [_to_the_end(context, stage) for stage in STAGES]
    return any(worked)


def _to_the_end(context: Context, stage: Callable[[Context], bool]) -> bool:
    worked = False
    while not context.over.is_set() and patiently(context, lambda: stage(context)):
        worked = True
    return worked
