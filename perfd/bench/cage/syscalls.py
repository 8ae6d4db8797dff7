"""The system calls that a caged program is refused.

They build namespaces, look into other processes, load code into the kernel, or speak past the network namespace. It is a list of
what is refused, not of what is allowed: engines, compilers and CUDA need most calls, and without privileges, network and files
these are what is left to attack a kernel with. It is a seccomp filter, which nothing that is started later can take off.
"""

import ctypes
import errno
import os
import socket
import struct

from perfd.bench.cage import kernel

_PR_SET_SECCOMP, _FILTER = 22, 2
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16
NAMESPACES = kernel.NEWNS | kernel.NEWCGROUP | kernel.NEWUTS | kernel.NEWIPC | kernel.NEWUSER | kernel.NEWPID | kernel.NEWNET
SOCKETS = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
"""Families that the network namespace holds; AF_VSOCK, for one, reaches the hypervisor from inside of it."""
_X32 = 0x40000000
_MACHINES = {
    # machine: (the kernel's mark, clone, clone3, socket, io_uring_setup, the calls that are refused whatever they ask)
    "x86_64": (
        0xC000003E,
        *(56, 435, 41, 425),
        # ptrace mount umount2 pivot_root chroot setns unshare process_vm_readv/writev kcmp
        *((101, 165, 166, 155, 161, 308, 272, 310, 311, 312),),
    ),
    "aarch64": (0xC00000B7, *(220, 435, 198, 425), *((117, 40, 39, 41, 51, 268, 97, 270, 271, 272),)),
}
_MORE = {
    # add_key request_key keyctl bpf perf_event_open userfaultfd open_by_handle_at kexec_load kexec_file_load init_module
    # finit_module delete_module swapon swapoff reboot acct quotactl syslog
    "x86_64": (248, 249, 250, 321, 298, 323, 304, 246, 320, 175, 313, 176, 167, 168, 169, 163, 179, 103),
    "aarch64": (217, 218, 219, 280, 241, 282, 265, 104, 294, 105, 273, 106, 224, 225, 142, 89, 60, 116),
}
# open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr: one number everywhere.
_MOUNTING = (428, 429, 430, 431, 432, 433, 442)


def refuse() -> None:
    """This process and all that it will start are refused these calls; raises OSError. New privileges are given up before."""
    machine = os.uname().machine
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"perfd has no system call filter for {machine}", "seccomp")
    program = _program(machine)
    steps = b"".join(struct.pack("HBBI", *step) for step in program)
    held = ctypes.create_string_buffer(steps, len(steps))
    told = struct.pack("HxxxxxxP", len(program), ctypes.addressof(held))
    kernel.check(kernel.libc.prctl(_PR_SET_SECCOMP, _FILTER, told, 0, 0), "a system call filter")


def _program(machine: str) -> list[tuple[int, int, int, int]]:
    """The filter in the kernel's own little language: (operation, steps over if true, if false, value)."""
    mark, clone, clone3, make_socket, io_uring, first = _MACHINES[machine]
    refused = (*first, *_MORE[machine], *_MOUNTING)
    denied, unknown = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        *((_JUMP_EQUAL, 1, 0, mark), (_RETURN, 0, 0, _KILL)),  # a 32-bit call has other numbers
        (_LOAD, 0, 0, _NUMBER),
        *((_JUMP_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, denied)),
        # The C library asks again by the older calls, which can be looked into.
        *((_JUMP_EQUAL, 0, 1, clone3), (_RETURN, 0, 0, unknown), (_JUMP_EQUAL, 0, 1, io_uring), (_RETURN, 0, 0, unknown)),
    ]
    for number in refused:
        steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, denied)]
    steps += [
        *(
            (_JUMP_EQUAL, 0, 3, clone),
            (_LOAD, 0, 0, _FIRST),
            (_JUMP_SET, 0, 4 + len(SOCKETS), NAMESPACES),
            (_RETURN, 0, 0, denied),
        ),
        *((_JUMP_EQUAL, 0, 2 + len(SOCKETS), make_socket), (_LOAD, 0, 0, _FIRST)),
        *((_JUMP_EQUAL, len(SOCKETS) - at, 0, family) for at, family in enumerate(SOCKETS)),
        *((_RETURN, 0, 0, denied), (_RETURN, 0, 0, _ALLOW)),
    ]
    return steps
