"""What is due when: requests to send, connections to open ahead of them, slots that take their next chain."""

import heapq
from enum import Enum, auto
from typing import NamedTuple

from perfd.bench.load.exchange import Chain

FAR_NS = 1 << 62


class Act(Enum):
    """What is to be done."""

    OPEN = auto()
    """A connection is opened for a request that is due soon."""
    SEND = auto()
    PULL = auto()
    """A slot of a closed load takes its next chain."""


class Item(NamedTuple):
    """One entry; `order` tells equal times apart, first come first served."""

    at_ns: int
    order: int
    act: Act
    chain: Chain | None
    turn: int


class Agenda:
    """A heap of what is due; `next_ns` is looked at between any two reads, so it is a plain attribute."""

    def __init__(self) -> None:
        self.next_ns = FAR_NS
        self._heap: list[Item] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, at_ns: int, act: Act, chain: Chain | None = None, turn: int = 0) -> None:
        """One thing more is due at `at_ns`."""
        self._order += 1
        heapq.heappush(self._heap, Item(at_ns, self._order, act, chain, turn))
        self.next_ns = self._heap[0].at_ns

    def take(self, now_ns: int) -> Item | None:
        """The earliest thing that is due by now."""
        if now_ns < self.next_ns:
            return None
        item = heapq.heappop(self._heap)
        self.next_ns = self._heap[0].at_ns if self._heap else FAR_NS
        return item
