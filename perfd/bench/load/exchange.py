"""What the loop and the parser share: a request ready to be sent, and the raw bytes of what came back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Ending(StrEnum):
    """How the loop saw an exchange end; the parser decides what that means for the request."""

    COMPLETE = "complete"
    CLOSED = "closed"
    RESET = "reset"
    STALL = "stall"
    TIMEOUT = "timeout"
    ENDLESS = "endless"
    CONNECT = "connect"
    TLS = "tls"
    WINDOW_END = "window_end"
    INTERRUPTED = "interrupted"
    MALFORMED = "malformed"


@dataclass(frozen=True)
class PlannedRequest:
    """One request, its bytes made before the window opens."""

    index: int
    session: int
    turn: int
    wire: bytes
    """Request line, header and body."""
    max_tokens: int
    prompt_tokens: int
    """Tokens of the prompt as made, without the server's chat template."""
    wanted: tuple[str, ...] = ()
    """What a right answer holds; empty where nothing is scored."""
    parent: int | None = None
    """The session that started this one as its sub-agent."""


@dataclass(frozen=True)
class Chain:
    """Requests of one session, each after the answer before it; most chains hold one."""

    requests: tuple[PlannedRequest, ...]
    think_s: tuple[float, ...] = ()
    """Pause before each request after the first; none where it is shorter."""
    branches: "tuple[Chain, ...]" = ()
    """Sub-agents: they begin together when request `branch_after` is answered, and the next request waits for all of them."""
    branch_after: int = 0
    renew: Callable[[int, Sequence[str]], PlannedRequest] | None = None
    """Live: the request of a turn, made from what was really answered before it."""

    @property
    def size(self) -> int:
        """Requests in all."""
        return len(self.requests) + sum(branch.size for branch in self.branches)

    def cut(self, most: int) -> "Chain":
        """The chain with at most so many requests; sub-agents only where all fit."""
        if self.size <= most:
            return self
        return replace(self, requests=self.requests[:most], branches=())

    def pause_ns(self, turn: int) -> int:
        """Pause before this turn."""
        return int(self.think_s[turn - 1] * 1e9) if turn <= len(self.think_s) else 0


@dataclass(slots=True)
class Exchange:
    """A request in flight, then over: times in ns of the monotonic clock, and every read as (time, bytes)."""

    request: PlannedRequest
    intended_ns: int
    ready_ns: int
    sent_ns: int | None = None
    body_sent_ns: int | None = None
    end_ns: int = 0
    ending: Ending = Ending.CLOSED
    detail: str = ""
    retried: bool = False
    reads: list[tuple[int, bytes]] = field(default_factory=list)
