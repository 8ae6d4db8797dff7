"""Runs one command, and ends it with all its children once the process that started this is gone, even by kill -9.

Started as `python keeper.py PIPE COMMAND…`, leading a process group of its own. PIPE is the reading end of a pipe whose other end
only the starter holds: the kernel closes it when the starter dies, however it dies. A compilation left behind would take the
cores from the next measurement. It is a program by itself and imports nothing of perfd.
"""

import os
import signal
import sys
import threading


def keep(pipe: int, command: list[str]) -> int:
    """The command's exit status; a signal that ended it ends this process too."""
    os.set_inheritable(pipe, False)  # noqa: FBT003  (the standard library takes it by position only)
    threading.Thread(target=_end_with_starter, args=(pipe,), daemon=True).start()
    child = os.posix_spawnp(command[0], command, os.environ)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _end_with_starter(pipe: int) -> None:
    # Nothing is ever written: this returns when the other end is closed.
    os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(keep(int(sys.argv[1]), sys.argv[2:]))
