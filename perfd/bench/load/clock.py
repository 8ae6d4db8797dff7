"""Times of the monotonic clock: the kernel's own stamp of arriving bytes, and a timer that wakes the loop to the microsecond."""

import ctypes
import os
import socket
import struct
import time
from dataclasses import dataclass

# Linux's SO_TIMESTAMPNS (and SCM_TIMESTAMPNS); Python's socket module does not name it.
SO_TIMESTAMPNS = 35
_STAMP = struct.Struct("@ll")
ANCILLARY_BYTES = socket.CMSG_SPACE(_STAMP.size)
_MOST_STAMP_AGE_NS = 60_000_000_000

_TFD_NONBLOCK = 0o4000
_TFD_CLOEXEC = 0o2000000
_TFD_TIMER_ABSTIME = 1
_CLOCK_MONOTONIC = 1


@dataclass(slots=True)
class Clocks:
    """The distance between the wall clock, in which the kernel stamps, and the monotonic clock, in which perfd counts."""

    now_ns: int = 0
    wall_minus_monotonic_ns: int = 0

    def look(self) -> None:
        """Both clocks are read now; done at every wake-up, so that a step of the wall clock harms no more than one batch."""
        before = time.monotonic_ns()
        wall = time.time_ns()
        self.now_ns = before
        self.wall_minus_monotonic_ns = wall - before


def wants_stamps(sock: socket.socket) -> bool:
    """True once the kernel agreed to stamp what this socket receives."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    except OSError:
        return False
    return True


def arrival_ns(ancillary: list[tuple[int, int, bytes]], clocks: Clocks, now_ns: int) -> int:
    """The kernel's stamp of the last bytes read, in monotonic ns; `now_ns` where there is none, or one that cannot be."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS and len(data) == _STAMP.size:
            seconds, ns = _STAMP.unpack(data)
            stamp: int = seconds * 1_000_000_000 + ns - clocks.wall_minus_monotonic_ns
            return stamp if now_ns - _MOST_STAMP_AGE_NS < stamp <= now_ns else now_ns
    return now_ns


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("ns", ctypes.c_long))


class _TimerSpec(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class Timer:
    """A timerfd. epoll's own time-out is whole milliseconds and would send every request up to one late."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.fd: int = self._libc.timerfd_create(_CLOCK_MONOTONIC, _TFD_NONBLOCK | _TFD_CLOEXEC)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create failed")
        self._spec = _TimerSpec()
        self._armed_ns = -1  # armed for no time yet; 0 is a time that has passed

    def arm(self, at_ns: int) -> None:
        """The file descriptor becomes readable at `at_ns`, and at once where that is past."""
        if at_ns == self._armed_ns and at_ns > time.monotonic_ns():
            return
        self._armed_ns = at_ns
        value = self._spec.value
        value.seconds, value.ns = divmod(max(1, at_ns), 1_000_000_000)
        self._libc.timerfd_settime(self.fd, _TFD_TIMER_ABSTIME, ctypes.byref(self._spec), None)

    def close(self) -> None:
        """The file descriptor is given back."""
        os.close(self.fd)
