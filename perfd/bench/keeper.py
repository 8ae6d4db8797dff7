"""The keeper: a process that only waits, so that it cannot hang, and leaves nothing of a measurement behind.

The measuring child forks at its start. The upper half, the keeper, adopts every orphan below it, waits for the lower half,
and ends the whole tree: when the lower half is done, when it is told to (SIGTERM), and when its own parent is gone, even by
kill -9. Every process it leaves would hold a port, memory or a GPU during the next Run.
"""

import os
import signal
import traceback
from collections.abc import Callable

from perfd.bench import processes

WAKE = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT)
STOPPED = 143
"""The exit code of a child that was told to stop: 128 + SIGTERM, as shells have it."""


def keep(work: Callable[[], int], parent: int) -> int:
    """The exit code of `work()`, run in a process below; nothing it started is alive when this returns.

    `parent` is the process that this one must not outlive.
    """
    processes.adopt_orphans()
    processes.die_with_parent(signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, WAKE)
    below = os.fork()
    if below == 0:
        _work_below(work)
    code = _wait(below, parent)
    processes.end_descendants(os.getpid())
    return code


def _work_below(work: Callable[[], int]) -> None:
    code = 70  # EX_SOFTWARE: what stands when an exception passes by
    try:
        processes.die_with_parent(signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WAKE)
        code = work()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 70
    except BaseException:  # noqa: BLE001 - the last line of a forked process: its traceback is told, and it must not return
        traceback.print_exc()
    finally:
        os._exit(code)


def _wait(below: int, parent: int) -> int:
    while True:
        woken = signal.sigtimedwait(WAKE, 1.0)
        if woken is not None and woken.si_signo in {signal.SIGTERM, signal.SIGINT}:
            return STOPPED
        ended = processes.reap()
        if below in ended:
            return ended[below] if ended[below] >= 0 else 128 - ended[below]
        if os.getppid() != parent:  # it died before prctl took hold
            return STOPPED
