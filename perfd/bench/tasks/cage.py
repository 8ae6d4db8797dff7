"""The cage: `python -I -S cage.py FOLDER` runs the Python program on its standard input where it can reach nothing of the host.

It builds, in namespaces of its own: a root that holds only the system's libraries and Python, read-only, and an empty folder in
memory; no network, not even loopback; no process but its own, so that all of them end with the first. Then it gives up every
privilege, sets limits, and becomes the program. Where the host does not allow that, it exits 97 with the reason; nothing runs.

As root, namespaces are made directly and the program runs as a user without a name; otherwise in a user namespace. The kernel
is shared with the host: this is a sandbox for a model's mistakes, not for an attacker with a kernel exploit.
"""

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path

NEWNS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEVICES, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
NO_CAGE = 97
NOBODY = 64_873
"""A user that exists nowhere, so that it owns no file and no other process counts against its limits."""
MEGABYTE = 1 << 20
LIMITS = (
    (resource.RLIMIT_CPU, 5),
    (resource.RLIMIT_AS, 512 * MEGABYTE),
    (resource.RLIMIT_FSIZE, MEGABYTE),
    (resource.RLIMIT_NPROC, 8),
    (resource.RLIMIT_NOFILE, 64),
    (resource.RLIMIT_CORE, 0),
)
SEEN = ("/usr", "/lib", "/lib32", "/lib64", "/bin")
PYTHON = os.path.realpath(sys.executable)
"""Looked up while the host is still seen: a virtual environment's is a link."""
libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Become the program, in a cage; or exit 97."""
    program = sys.stdin.buffer.read()
    try:
        is_root = separate()
        build(sys.argv[1])
        write(program)
    except OSError as error:
        sys.stdout.write(f"{error.strerror}: {error.filename or 'a namespace'}")
        sys.exit(NO_CAGE)
    end_as(os.fork() or first_inside(is_root=is_root))


def separate() -> bool:
    """This process has namespaces of its own; True where root made them, so that a user is still to be changed."""
    own = NEWNS | NEWIPC | NEWPID | NEWNET
    if os.geteuid() == 0 and libc.unshare(own) == 0:
        return True
    uid, gid = os.geteuid(), os.getegid()
    check(libc.unshare(own | NEWUSER), "a user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{NOBODY} {uid} 1"), ("gid_map", f"{NOBODY} {gid} 1")):
        Path("/proc/self", name).write_text(text, encoding="ascii")
    return False


def build(folder: str) -> None:
    """The root is a folder in memory with the system's libraries and Python, read-only, and an empty /cage."""
    mount(None, "/", None, RECURSIVE | PRIVATE)
    mount("tmpfs", folder, "tmpfs", NO_SUID | NO_DEVICES, "size=16m,nr_inodes=512,mode=755")
    home = str(Path(PYTHON).parent.parent)
    for place in SEEN if home == "/usr" or home.startswith("/usr/") else (*SEEN, home):
        show(place, folder)
    own = Path(folder, "cage")
    own.mkdir()
    own.chmod(0o777)  # the program owns nothing else
    os.chroot(folder)
    os.chdir("/cage")


def show(place: str, folder: str) -> None:
    """A folder of the host stands at the same place in the new root, read-only."""
    here, there = Path(place), Path(folder + place)
    if here.is_symlink():
        there.symlink_to(here.readlink())
    elif here.is_dir():
        there.mkdir(parents=True, exist_ok=True)
        mount(place, str(there), None, BIND | RECURSIVE)
        mount(None, str(there), None, REMOUNT | BIND | READ_ONLY | NO_SUID | NO_DEVICES)


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """One more mount in this namespace; raises OSError."""
    told = [text and text.encode() for text in (source, target, kind, data)]
    check(libc.mount(told[0], told[1], told[2], ctypes.c_ulong(flags), told[3]), target)


def check(result: int, what: str) -> None:
    """Raise OSError where a system call failed."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def write(program: bytes) -> None:
    """The program's file; anybody may read it."""
    path = Path("program.py")
    path.write_bytes(program)
    path.chmod(0o644)


def first_inside(*, is_root: bool) -> int:
    """Process 1 of the cage: it only waits, because signals pass process 1 by. When it ends, all of the cage does."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    below = os.fork()
    if below == 0:
        become_program(is_root=is_root)
    _, status = os.waitpid(below, 0)
    os._exit(min(1, abs(os.waitstatus_to_exitcode(status))))


def become_program(*, is_root: bool) -> None:
    """This process is the program: without privileges, within limits."""
    if is_root:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for limit, most in LIMITS:
        _, hard = resource.getrlimit(limit)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))
    os.close(0)
    os.open("/cage/program.py", os.O_RDONLY)
    os.execve(PYTHON, [PYTHON, "-I", "-S", "-B", "/cage/program.py"], {})  # noqa: S606 - an exec, as meant


def end_as(first: int) -> None:
    """Exit 0 or 1 as the cage's process 1 did: a program must not be able to say 97 for us."""
    _, status = os.waitpid(first, 0)
    os._exit(min(1, abs(os.waitstatus_to_exitcode(status))))


if __name__ == "__main__":
    main()
