"""How often one address, or one visitor, may ask: buckets that fill again with time, in memory and bounded."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

MOST_BUCKETS = 10_000
"""Of one site: an attacker with many addresses takes no more memory than this."""
RATES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "login": (10, 1 / 30),
        "token": (20, 1 / 30),  # only tokens that were refused count
        "webhook": (600, 20.0),
        "write": (300, 5.0),
    }
)
"""How many at once, and how many more a second."""


class TooManyError(Exception):
    """Somebody asks too often; `again_s` says in how many seconds they may again."""

    def __init__(self, again_s: int) -> None:
        super().__init__(f"too many requests of this kind came from there; the next is taken in {again_s} s")
        self.again_s = again_s


@dataclass
class Limits:
    """The buckets of one site; threads may share them."""

    clock: Callable[[], float] = time.monotonic
    _levels: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """(level, when it was so) by kind and key; a bucket that is not there is full."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __len__(self) -> int:
        """How many buckets are kept."""
        return len(self._levels)

    def look(self, kind: str, key: str) -> None:
        """Raises TooManyError where nothing is left; takes nothing."""
        with self._lock:
            self._enough(kind, key)

    def take(self, kind: str, key: str) -> None:
        """One less is left; raises TooManyError where none was."""
        with self._lock:
            level = self._enough(kind, key)
            if (kind, key) not in self._levels and len(self._levels) >= MOST_BUCKETS:
                self._forget()
            self._levels[kind, key] = (level - 1, self.clock())

    def _enough(self, kind: str, key: str) -> float:
        level = self._level(kind, key)
        if level < 1:
            raise TooManyError(max(math.ceil((1 - level) / RATES[kind][1]), 1))
        return level

    def _level(self, kind: str, key: str) -> float:
        most, a_second = RATES[kind]
        level, at = self._levels.get((kind, key), (most, self.clock()))
        return min(level + (self.clock() - at) * a_second, most)

    def _forget(self) -> None:
        """Buckets that are full again go, and those that were asked for least lately, until a tenth is free."""
        lasting = {one: seen for one, seen in self._levels.items() if self._level(*one) < RATES[one[0]][0]}
        latest = sorted(lasting.items(), key=lambda one: one[1][1])[-(MOST_BUCKETS * 9 // 10) :]
        self._levels = dict(latest)
