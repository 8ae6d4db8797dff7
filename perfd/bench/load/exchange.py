"""What the loop and the parser share: a request ready to be sent, and the raw bytes of what came back."""

from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Chain:
    """Requests that follow each other, each `think_s` after the answer before it; most chains hold one."""

    requests: tuple[PlannedRequest, ...]
    think_s: float = 0.0


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
