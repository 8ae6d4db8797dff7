"""The first process of a cage: it builds what the program sees, gives up every privilege, starts the program, and waits."""

import ctypes
import os
import select
import signal
from typing import NoReturn

from perfd.bench.cage import kernel, limits, view
from perfd.bench.cage.plan import Plan

NO_CAGE, CANNOT_START = 97, 127
GO = b"g"
"""Sent once this process is in its control groups."""
_CLOSE_RANGE, _CLOSE_AT_EXEC = 436, 4


def be_first(plan: Plan, user: int, ends: tuple[int, int, int, int], *, changes: bool) -> NoReturn:
    """The first process of the cage; when it ends, the kernel ends all others."""
    go, tell, out, err = ends
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        if os.read(go, 1) != GO:
            os._exit(NO_CAGE)
        kernel.libc.unshare(kernel.NEWCGROUP)  # only hides names
        view.build(plan, user)
        limits.become(user, changes=changes)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)  # another user forgets it
        if _is_left(tell):
            os._exit(NO_CAGE)
    except OSError as error:
        _say(tell, f"no {error.strerror}: {error.filename or 'the view'}")
        os._exit(NO_CAGE)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # the others are the same user, and must not look into this process
    below = os.fork()
    if below == 0:
        _become(plan, tell, out, err)
    signal.signal(signal.SIGTERM, lambda *_: _pass(below, signal.SIGTERM))
    os.closerange(0, tell)
    os.closerange(tell + 1, 4096)
    code = _code_of(below)
    _say(tell, f"code {code}")
    os._exit(0)


def _code_of(below: int) -> int:
    """The program's exit code, once it has ended; orphans of the cage are reaped meanwhile."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == below:
            return os.waitstatus_to_exitcode(status)


def _close_at_exec() -> None:
    """Only standard input, output and error are left to the program, whatever this process was started with."""
    kernel.check(kernel.libc.syscall(_CLOSE_RANGE, 3, ctypes.c_uint(0xFFFFFFFF), _CLOSE_AT_EXEC), "files of perfd closed")


def _pass(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _is_left(tell: int) -> bool:
    """Whether the watching process has ended already: then nobody holds the other end of the pipe."""
    seen = select.poll()
    seen.register(tell, 0)
    return bool(seen.poll(0))


def _say(tell: int, line: str) -> None:
    os.write(tell, f"{line}\n".encode("utf-8", "replace")[:4096])


def _become(plan: Plan, tell: int, out: int, err: int) -> NoReturn:
    """This process is the program."""
    os.setsid()
    os.dup2(out, 1)
    os.dup2(err, 2)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    try:
        _close_at_exec()
        limits.bind(plan.limits)
    except OSError as error:
        _say(tell, f"no {error.strerror}: {error.filename or 'limits'}")
        os._exit(NO_CAGE)
    try:
        os.execvpe(plan.command[0], list(plan.command), dict(plan.environment))  # noqa: S606 - an exec, as meant
    except OSError as error:
        os.write(2, f"{plan.command[0]} cannot be started ({error.strerror})\n".encode())
        os._exit(CANNOT_START)
