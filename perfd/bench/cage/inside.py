"""The program that builds a cage, runs one command in it, and ends as that command ended.

Two processes stand between perfd and the command. This one stays outside, keeps perfd's user, and watches. Below it is the first
process of the cage: it builds what the command sees, gives up every privilege, waits, and takes all others along when it ends.
"""

import ctypes
import json
import os
import select
import signal
import socket
import sys
from typing import Any, NoReturn

from perfd.bench.cage import kernel, limits, view
from perfd.bench.cage.groups import Group
from perfd.bench.cage.network import write_maps
from perfd.bench.cage.plan import NO_NETWORK, OWN_LOOPBACK, Limits, Plan
from perfd.bench.cage.watch import Watch

NO_CAGE, BEYOND, CANNOT_START = 97, 98, 127
GO = b"g"
_CLOSE_RANGE, _CLOSE_AT_EXEC = 436, 4


def main(told: str, report: str = "") -> NoReturn:
    """Ends as the command of the plan in `told` does; with 97 where no cage can be built, and with 98 where it took too much."""
    if report:
        os.set_inheritable(int(report), False)  # noqa: FBT003 - by position only
    os.umask(0o022)
    try:
        end = _run(_plan(json.loads(told)))
    except OSError as error:
        end = {"no_cage": f"{error.strerror}: {error.filename or 'a namespace'}"}
    if report:
        os.write(int(report), json.dumps(end).encode())
    _end_like(end)


def _plan(told: dict[str, Any]) -> Plan:
    return Plan(**{**told, "limits": Limits(**told["limits"])})


def _end_like(end: dict[str, Any]) -> NoReturn:
    if end.get("no_cage"):
        sys.stderr.write(f"perfd: no cage can be built here ({end['no_cage']})\n")
        sys.exit(NO_CAGE)
    if end["over"]:
        sys.stderr.write(f"perfd: the cage ended this: it took more than {end['over']}\n")
        sys.exit(BEYOND)
    if end["code"] >= 0:
        sys.exit(end["code"])
    if -end["code"] != signal.SIGKILL:
        signal.signal(-end["code"], signal.SIG_DFL)
    os.kill(os.getpid(), -end["code"])
    raise AssertionError("unreachable: the signal ends this process")


def _run(plan: Plan) -> dict[str, Any]:
    """How it ended: `code` (negative: the signal), `over` the limit that it broke, `no_cage` the reason why it never began."""
    user, changes = _separate(plan)
    group = Group(plan.limits)  # only now: whom it was refused as root has become another user, who makes none
    try:
        pipes = [os.pipe() for _ in range(4)]
        (go, let_go), (said, tell), (out, print_out), (err, print_err) = pipes
        first = os.fork()
        if first == 0:
            for fd in (let_go, said, out, err):
                os.close(fd)
            _first(plan, user, (go, tell, print_out, print_err), changes=changes)
        for fd in (go, tell, print_out, print_err):
            os.close(fd)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: os.kill(first, signal.SIGTERM))
        group.add(first)
        os.write(let_go, GO)
        watch = Watch(first, plan.limits, plan.writes, weighs="memory" not in group.held)
        watch.until_end({out: 1, err: 2})
        os.waitpid(first, 0)
        return {"over": watch.over, **_told(said)}
    finally:
        group.remove()


def _told(said: int) -> dict[str, Any]:
    """The first word of the cage's first process; it says nothing when it was killed."""
    line = os.read(said, 4096).partition(b"\n")[0].decode("utf-8", "replace")
    kind, _, rest = line.partition(" ")
    if kind == "no":
        return {"code": NO_CAGE, "no_cage": rest}
    return {"code": int(rest) if kind == "code" else -signal.SIGKILL}


def _separate(plan: Plan) -> tuple[int, bool]:
    """What this process starts has namespaces of its own; which user it is to be, and whether it is still to become that user."""
    own = kernel.NEWIPC | kernel.NEWPID | kernel.NEWUTS
    if plan.network in {NO_NETWORK, OWN_LOOPBACK}:
        own |= kernel.NEWNET
    elif plan.network != kernel.network():
        raise OSError(0, "the harness is in another network", plan.network)
    user, changes = _unshared(own, plan)
    socket.sethostname("cage")
    if plan.network == OWN_LOOPBACK:
        kernel.raise_loopback()
    return user, changes


def _unshared(own: int, plan: Plan) -> tuple[int, bool]:
    if os.geteuid() == 0:
        user = limits.own_user()
        for folder in plan.writes:
            _give(folder, user)
        if kernel.libc.unshare(own) == 0:
            return user, True
        # Root of a container that may not make namespaces: another user may, and root's own files are then out of reach.
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    uid, gid = os.geteuid(), os.getegid()
    kernel.unshare(own | kernel.NEWUSER, "a user namespace")
    write_maps(f"{limits.NOBODY} {uid} 1", f"{limits.NOBODY} {gid} 1")
    return limits.NOBODY, False


def _give(folder: str, user: int) -> None:
    """All of the folder is the user's; nothing runs in it now, and links are not followed."""
    os.chown(folder, user, user)
    for path, folders, names in os.walk(folder):
        for name in (*folders, *names):
            os.chown(f"{path}/{name}", user, user, follow_symlinks=False)


def _first(plan: Plan, user: int, ends: tuple[int, int, int, int], *, changes: bool) -> NoReturn:
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
    below = os.fork()
    if below == 0:
        _become(plan, tell, out, err)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # the others are the same user, and must not look into this process
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
