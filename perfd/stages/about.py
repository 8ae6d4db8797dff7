"""What a line of the log is about: the occasion and the Run in hand, and whether it is trouble; told beside it, not in it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_ABOUT: ContextVar[Mapping[str, str]] = ContextVar("about", default=MappingProxyType({}))


@contextmanager
def about(**words: str) -> Iterator[None]:
    """Everything that this thread says inside the block is about that, too."""
    before = _ABOUT.set({**_ABOUT.get(), **words})
    try:
        yield
    finally:
        _ABOUT.reset(before)


def what_about() -> Mapping[str, str]:
    """What this thread speaks about: `level` (absent: info), `occasion`, `run`."""
    return _ABOUT.get()
