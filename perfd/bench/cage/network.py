"""The network that a caged engine and the harness share: a loopback of their own, which the harness enters first.

The measuring child goes in, and the engine's cage is built in there. Sockets, ports and timing are what they would be on the
host's loopback, with no relay between, and nobody else is there: no database, no metadata address, no other worker's engine.
"""

import os
import threading
from pathlib import Path

from perfd.bench.cage import kernel
from perfd.errors import BadInputError

_entered: list[str] = []


def enter() -> str:
    """This process, and what it starts from now on, has a network of its own with nothing but loopback; the network's name.

    Call it before any thread is started. Raises BadInputError where the host does not allow it.
    """
    try:
        if os.geteuid() != 0 or kernel.libc.unshare(kernel.NEWNET) != 0:
            _enter_as_ordinary_user()
        kernel.raise_loopback()
    except OSError as error:
        raise BadInputError(
            f"this host lets perfd have no network of its own ({error.strerror}: {error.filename or 'loopback'}), "
            "so that untrusted code cannot be measured here; run perfd as root or allow user namespaces"
        ) from None
    _entered[:] = [kernel.network()]
    return _entered[0]


def entered() -> str:
    """The network that this process, or the one that it was forked from, has entered; raises BadInputError where it has not."""
    if not _entered:
        raise BadInputError("perfd's own fault: a caged engine was started before its harness entered a network of its own")
    return _entered[0]


def _enter_as_ordinary_user() -> None:
    """In a user namespace where this user keeps its number, so that its files stay its own."""
    if threading.active_count() > 1:
        raise BadInputError("a process with several threads cannot enter a user namespace: enter before threads are started")
    uid, gid = os.geteuid(), os.getegid()
    kernel.unshare(kernel.NEWUSER | kernel.NEWNET, "a user namespace")
    write_maps(f"{uid} {uid} 1", f"{gid} {gid} 1")


def write_maps(users: str, groups: str) -> None:
    """The new user namespace's users and groups are these of the old one."""
    for name, text in (("setgroups", "deny"), ("uid_map", users), ("gid_map", groups)):
        Path("/proc/self", name).write_text(text, encoding="ascii")
