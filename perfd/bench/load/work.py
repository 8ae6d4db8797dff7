"""What the loop is given and what it hands back."""

import ssl
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from perfd.bench.load.exchange import Chain, Exchange


@dataclass(frozen=True)
class Limits:
    """Times after which the loop gives something up, in ns."""

    stall_ns: int
    request_ns: int
    connect_ns: int
    drain_ns: int
    ahead_ns: int


@dataclass(frozen=True)
class Endpoint:
    """Where connections go."""

    family: int
    address: tuple[Any, ...]
    host: str
    tls: ssl.SSLContext | None
    stamps: bool
    keep_alive: bool


@dataclass
class Work:
    """What is to be sent: chains at times of their own, or as many at once as there are slots."""

    starts: list[tuple[int, Chain]]
    """Open: (ns after the start, chain), ascending."""
    supply: Iterator[Chain]
    """Closed: where slots take their next chain from."""
    slots: tuple[int, ...] = ()
    """Closed: ns after the start at which each slot begins."""
    stop_ns: int | None = None
    """Nothing new begins so long after the start; absent where the work itself ends."""
    cap: int | None = None
    """Open: most requests in flight; others wait, and their wait counts."""


@dataclass
class Window:
    """What the loop hands back."""

    started_ns: int
    exchanges: list[Exchange] = field(default_factory=list)
    stopped_ns: int = 0
    interrupted: bool = False
    full: bool = False
    """Nothing more was sent, as the raw log had grown to its limit."""
    read_lag_ns: "array[int]" = field(default_factory=lambda: array("q"))
    stamped: bool = False
    connections: int = 0
