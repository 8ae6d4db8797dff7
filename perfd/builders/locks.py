"""Locks between processes. The kernel frees one when its holder dies, so that a kill -9 leaves nothing to clean up."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """The lock at `path` is this process's own; `waiting` is called once when another has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting:
                waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_free(path: Path) -> bool:
    """Whether nobody holds the lock now."""
    if not path.exists():
        return True
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
