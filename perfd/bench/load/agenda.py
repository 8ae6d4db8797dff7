"""What is due when: requests to send, connections to open ahead of them, slots that take their next chain."""

import heapq
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from perfd.bench.load.exchange import Chain, PlannedRequest

FAR_NS = 1 << 62


class Act(Enum):
    """What is to be done."""

    OPEN = auto()
    """A connection is opened for a request that is due soon."""
    SEND = auto()
    PULL = auto()
    """A slot of a closed load takes its next chain."""


@dataclass(slots=True)
class Join:
    """A session that waits for its sub-agents."""

    place: "Place"
    left: int


@dataclass(slots=True)
class Place:
    """Where a session stands: at this request of its chain."""

    chain: Chain
    turn: int
    request: PlannedRequest
    slot: bool = False
    """Whether a slot of a closed load takes its next chain when this one is over."""
    join: Join | None = None
    """Of a sub-agent: who waits for it."""
    replies: list[str] = field(default_factory=list)
    """Live: what was answered so far."""


class Item(NamedTuple):
    """One entry; `order` tells equal times apart, first come first served."""

    at_ns: int
    order: int
    act: Act
    place: Place | None


class Agenda:
    """A heap of what is due; `next_ns` is looked at between any two reads, so it is a plain attribute."""

    def __init__(self) -> None:
        self.next_ns = FAR_NS
        self._heap: list[Item] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, at_ns: int, act: Act, place: Place | None = None) -> None:
        """One thing more is due at `at_ns`."""
        self._order += 1
        heapq.heappush(self._heap, Item(at_ns, self._order, act, place))
        self.next_ns = self._heap[0].at_ns

    def take(self, now_ns: int) -> Item | None:
        """The earliest thing that is due by now."""
        if now_ns < self.next_ns:
            return None
        item = heapq.heappop(self._heap)
        self.next_ns = self._heap[0].at_ns if self._heap else FAR_NS
        return item
