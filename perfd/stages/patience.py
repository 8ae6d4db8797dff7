"""A database that restarts, fails over or is out of reach for a moment is waited for: a night is hours of work."""

import time
from collections.abc import Callable
from typing import TypeVar

from perfd.errors import PerfdError
from perfd.stages.context import Context
from perfd.store.trouble import DATABASE_GONE, said

Answer = TypeVar("Answer")

PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0, 30.0)
"""Two minutes in all; a failover or a restart of a package upgrade takes less."""


def patiently(context: Context, ask: Callable[[], Answer]) -> Answer:
    """What `ask` answers, asked again with growing pauses while the database is away; raises PerfdError when it stays away.

    `ask` must be one that may be asked twice: every stage is, since each looks in the database what is left to do.
    """
    trouble = ""
    for pause_s in (*PAUSES_S, None):
        try:
            answer = ask()
        except DATABASE_GONE as error:
            if not trouble:
                context.tell.say("database", f"it does not answer ({said(error)}); trying again for {sum(PAUSES_S):.0f} s")
            trouble = said(error)
            if pause_s is None:
                break
            time.sleep(pause_s)
        else:
            if trouble:
                context.tell.say("database", "it answers again")
            return answer
    raise PerfdError(
        f"the database did not answer for {sum(PAUSES_S):.0f} s: {trouble}; what was stored is kept: "
        "bring the database back, and start the same command again",
        permanent=False,
    )
