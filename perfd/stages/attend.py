"""attend: everything between perfd and the forge, in loops of their own, so that no measuring keeps a pull request waiting."""

from collections.abc import Callable

from perfd.stages.context import Context
from perfd.stages.deliver import deliver, expire
from perfd.stages.patience import patiently
from perfd.stages.pull import pull
from perfd.stages.receive import receive, take_question

MOST_IN_A_ROW = 50
"""Units of one stage before the next has its turn: a flood of webhooks must not keep an answer from being sent."""


def attend(context: Context) -> bool:
    """Whatever there is to do between perfd and the forge is done; returns whether there was anything."""
    worked = [_for_a_while(context, stage) for stage in (receive, take_question, pull, expire, deliver)]
    return any(worked)


def converse(context: Context) -> bool:
    """What the forge told is taken in, and what it should be told is sent; nothing here waits for git or for a device."""
    worked = [_for_a_while(context, stage) for stage in (receive, expire, deliver)]
    return any(worked)


def answer_pulls(context: Context) -> bool:
    """Every open job and every question of a pipeline goes as far as it can: slowly where an engine is cloned first."""
    worked = [_for_a_while(context, stage) for stage in (take_question, pull)]
    return any(worked)


def _for_a_while(context: Context, stage: Callable[[Context], bool]) -> bool:
    done = 0
    while done < MOST_IN_A_ROW and not context.over.is_set() and patiently(context, lambda: stage(context)):
        done += 1
    return done > 0
