"""The program that builds a cage, runs one command in it, and ends as that command ended.

Two processes stand between perfd and the command. This one stays outside, keeps perfd's user, and watches. Below it is the first
process of the cage (first.py), which takes all others along when it ends.
"""

import json
import os
import signal
import socket
import sys
from typing import Any, NoReturn

from perfd.bench.cage import kernel, limits
from perfd.bench.cage.first import GO, NO_CAGE, be_first
from perfd.bench.cage.groups import Group
from perfd.bench.cage.network import write_maps
from perfd.bench.cage.plan import NO_NETWORK, OWN_LOOPBACK, Limits, Plan
from perfd.bench.cage.watch import Watch

BEYOND = 98


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
            be_first(plan, user, (go, tell, print_out, print_err), changes=changes)
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
