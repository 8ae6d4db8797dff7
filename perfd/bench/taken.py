"""One measuring process a device of this host, whoever runs it and wherever its state folder lies.

A lock of Postgres ends with its connection: a server that restarts in the middle of a Run would let another worker of this host
measure beside it. This one is a file lock that the measuring child inherits, so that the kernel frees it exactly when the last
process that measures is gone, even by kill -9.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perfd.errors import PerfdError

PLACES = (Path("/run/lock"), Path("/dev/shm"), Path("/tmp"))  # noqa: S108  # a lock that all users share must lie where all can write
EVERYBODY = stat.S_IRWXO
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@contextmanager
def taken(device: str, folder: Path | None = None) -> Iterator[int | None]:
    """The open lock of that device of this host while the block runs, and while a child lives that it was handed to.

    Absent, without waiting, where another process has it. Raises PerfdError where no lock can be made.
    """
    path = (folder or place()) / f"perfd-device-{file_name(device)}.lock"
    lock = _open(path)
    try:
        yield lock if _lock(lock) else None
    finally:
        os.close(lock)  # not unlocked: a child that outlives us goes on holding it


def is_taken(device: str) -> bool:
    """Whether some process of this host measures on the device now."""
    with taken(device) as lock:
        return lock is None


def place() -> Path:
    """Where the locks of this host lie: the folder that PERFD_LOCKS names, or else the first one that everybody may write to.

    All users must come to the same one; containers of a host that share a device need one folder that all of them see.
    """
    named = os.environ.get("PERFD_LOCKS")
    if named:
        return Path(named)
    for folder in PLACES:
        if folder.is_dir() and folder.stat().st_mode & EVERYBODY == EVERYBODY:
            return folder
    raise PerfdError(f"no place for the locks of devices: none of {', '.join(map(str, PLACES))} may be written to by everybody")


def file_name(device: str) -> str:
    """The device's name as part of a file's."""
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in device)


def keep_to_ourselves() -> None:
    """What this process was handed open is not handed on to the programs that it starts: an engine must hold no lock."""
    for entry in os.listdir("/proc/self/fd"):  # noqa: PTH208  # names alone are wanted
        if int(entry) > 2 and Path(f"/proc/self/fd/{entry}").exists():
            os.set_inheritable(int(entry), False)  # noqa: FBT003  # the standard library takes it by position only


def _open(path: Path) -> int:
    """The lock file, made where it is missing; any user may lock a file that it can read."""
    while True:
        try:
            return os.open(path, _FLAGS)
        except FileNotFoundError:
            _make(path)
        except OSError as error:
            raise PerfdError(f"{path}: the device's lock cannot be opened ({error.strerror}); remove that file") from None


def _make(path: Path) -> None:
    # O_EXCL: Linux refuses to open another user's file in a folder like /tmp with O_CREAT, even to root (fs.protected_regular).
    try:
        made = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o444)
    except FileExistsError:
        return
    except OSError as error:
        raise PerfdError(f"{path}: the device's lock cannot be made ({error.strerror})") from None
    os.fchmod(made, 0o444)  # whatever the umask says
    os.close(made)


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
