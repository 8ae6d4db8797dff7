"""What the kernel is asked for that Python has no function for: namespaces, mounts, capabilities, loopback."""

import ctypes
import fcntl
import os
import socket
import struct

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
NO_SUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 2, 4, 8, 32, 4096, 16384, 1 << 18
READ_ONLY = 1
DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_CAPABILITIES_V3 = 0x20080522
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _UP = 0x8913, 0x8914, 1
libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Raise OSError where a system call failed."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def unshare(namespaces: int, what: str) -> None:
    """This process has such namespaces of its own; a new process namespace holds its children. Raises OSError."""
    check(libc.unshare(namespaces), what)


def prctl(option: int, value: int) -> None:
    """One property of this process is set."""
    check(libc.prctl(option, value, 0, 0, 0), f"prctl {option}")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """One more mount in this namespace; raises OSError."""
    told = [text and text.encode() for text in (source, target, kind, data)]
    check(libc.mount(told[0], told[1], told[2], ctypes.c_ulong(flags), told[3]), f"a mount at {target}")


def protect(target: str, flags: int) -> None:
    """The mount at `target` and all below it have these flags, and lose none that they had; raises OSError before Linux 5.12."""
    attributes = struct.pack("QQQQ", flags, 0, 0, 0)
    result = libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, target.encode(), _AT_RECURSIVE, attributes, ctypes.c_size_t(len(attributes)))
    check(result, f"a read-only view of {target}")


def change_root(folder: str) -> None:
    """`folder`, a mount, is the root of this mount namespace; nothing of the old root is mounted any more."""
    os.chdir(folder)
    check(libc.syscall(_pivot_root(), b".", b"."), "a root of its own")
    check(libc.umount2(b".", DETACH), "the old root")
    os.chdir("/")


def _pivot_root() -> int:
    return 155 if os.uname().machine == "x86_64" else 41


def drop_capabilities() -> None:
    """This process has none; in a user namespace every process begins with all of them."""
    header = struct.pack("Ii", _CAPABILITIES_V3, 0)
    check(libc.capset(header, bytes(24)), "capabilities given up")


def raise_loopback() -> None:
    """The loopback device of this network namespace carries traffic."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        told = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack_from("h", fcntl.ioctl(asker, _SIOCGIFFLAGS, told), 16)[0]
        fcntl.ioctl(asker, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _UP))


def network() -> str:
    """The name of the network namespace that this process is in, as the kernel gives it: "net:[4026531840]"."""
    return os.readlink("/proc/self/ns/net")  # noqa: PTH115 - a namespace's link is no path
