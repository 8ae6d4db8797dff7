"""Limits of one process, which what it starts inherits, and who it is."""

import os
import resource

from perfd.bench.cage import kernel, syscalls
from perfd.bench.cage.plan import Limits

FIRST_USER = 1_000_000_000
NOBODY = 64_873
"""In a user namespace of the cage's own the number says nothing; it must not be 0, whose programs keep their capabilities."""


def own_user() -> int:
    """A user that exists nowhere, owns no file, and is no other cage's: this process's number makes it."""
    return FIRST_USER + os.getpid()


def become(user: int, *, changes: bool) -> None:
    """This process is that user, without any capability, for good; `changes` is False where it is that user already."""
    if changes:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def bind(limits: Limits) -> None:
    """This process and what it starts keep to the limits that a single process can have, and to fewer system calls."""
    for limit, most in _each(limits):
        _, hard = resource.getrlimit(limit)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))
    syscalls.refuse()


def _each(limits: Limits) -> list[tuple[int, int]]:
    wanted = [
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_AS, limits.address_bytes),
        (resource.RLIMIT_FSIZE, limits.disk_bytes),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_RTPRIO, 0),
    ]
    return [(limit, most) for limit, most in wanted if most is not None]
