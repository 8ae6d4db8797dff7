"""perfd's clock as a process of its own, on a calendar that the chaos script turns: `python clock.py CONFIG CALENDAR`.

CALENDAR is a file with the time that is shown. Everything else is perfd's own: the lock of the one clock, the due time of a
night, and the unique name that lets a night be opened once however often, and by however many clocks, it is fired.
"""

import sys
import time
from datetime import datetime
from pathlib import Path

from perfd.cli.opened import opened
from perfd.cli.tell import Silent
from perfd.stages.night import open_due_night
from perfd.store.trouble import DATABASE_GONE

TICK_S = 0.2


def main(config: Path, calendar: Path) -> None:
    """Fire until killed; while another clock holds the lock, wait for it to die."""
    with opened(config, Silent()) as context:
        while True:
            try:
                with context.store.clock_lock() as mine:
                    while mine:
                        open_due_night(context.store, context.config.schedule, datetime.fromisoformat(calendar.read_text()))
                        time.sleep(TICK_S)
            except DATABASE_GONE:
                pass  # the lock is gone with the connection
            time.sleep(TICK_S)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
