"""What this process has made lately and remembers, so that what many people ask at once is made once."""

import gzip
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

MOST_BYTES = 64_000_000
FACT_BYTES = 20_000
"""What a fact counts as, about."""
LEAST_BYTES = 1000
"""A shorter body is sent as it is."""
T = TypeVar("T")


@dataclass(frozen=True)
class Packed:
    """An answer as it lies in memory: its body with gzip, as nearly every reader takes it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    size: int
    """Bytes before packing."""

    def answer(self, request: Request) -> Response:
        """The answer for this reader."""
        told = {**self.headers, "vary": "Accept-Encoding"}
        if self.size < LEAST_BYTES or "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(gzip.decompress(self.body), self.status, told)
        return Response(self.body, self.status, told | {"content-encoding": "gzip"})


def pack(response: Response) -> Packed:
    """The answer to be remembered. Level 1, as in the middleware, which leaves alone what is packed already."""
    body = bytes(response.body)
    headers = {name: value for name, value in response.headers.items() if name != "content-length"}
    return Packed(response.status_code, headers, gzip.compress(body, 1), len(body))


@dataclass
class Memory:
    """Values by what they were made of. A key names the version of what is stored, so that nothing here is ever stale.

    Who asks for what another thread makes just now waits for it. What was not asked for longest goes first.
    """

    most_bytes: int = MOST_BYTES
    _held: OrderedDict[Hashable, tuple[Any, int]] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _writes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _making: dict[Hashable, threading.Lock] = field(default_factory=dict)

    def fact(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value with that key; nobody changes it."""
        return self._get(key, make, lambda _: FACT_BYTES)

    def knows(self, key: Hashable) -> bool:
        """Whether there is a value with that key just now."""
        with self._lock:
            return key in self._held

    def recent(self, name: str, make: Callable[[], T], most_s: float) -> T:
        """What `make` gave at most so many seconds ago, and after the last write through this site; with 0, what it gives now."""
        return make() if most_s <= 0 else self.fact((name, self._writes, int(time.monotonic() / most_s)), make)

    def written(self) -> None:
        """Something was written through this site: from now on nothing counts as recent that was asked for before."""
        with self._lock:
            self._writes += 1

    def answer(self, key: Hashable, make: Callable[[], Response]) -> Packed:
        """The answer with that key."""
        return self._get(key, lambda: pack(make()), lambda packed: len(packed.body))

    def _get(self, key: Hashable, make: Callable[[], T], size_of: Callable[[T], int]) -> T:
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key][0]  # type: ignore[no-any-return]  # a key has one kind of value
            own = self._making.setdefault(key, threading.Lock())
        with own:
            with self._lock:
                if key in self._held:
                    return self._held[key][0]  # type: ignore[no-any-return]
            try:
                value = make()
                self._keep(key, value, size_of(value))
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return value

    def _keep(self, key: Hashable, value: object, size: int) -> None:
        with self._lock:
            self._bytes += size - self._held.pop(key, (None, 0))[1]
            self._held[key] = (value, size)
            while self._bytes > self.most_bytes:
                self._bytes -= self._held.popitem(last=False)[1][1]
