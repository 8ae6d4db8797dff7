"""The raw event log: one Trace a request, from which every metric is computed, and which can be kept and read again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from perfd.domain.codec import from_json, to_json
from perfd.domain.identity import Json
from perfd.errors import BadInputError

FORMAT = "perfd.events/1"


class RequestOutcome(StrEnum):
    """How a request ended; sent = done + failed + cancelled."""

    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Reason(StrEnum):
    """Why a request is not done; `none` for one that is."""

    NONE = "none"
    CONNECT = "connect"
    TLS = "tls"
    RESET = "reset"
    TRUNCATED = "truncated"
    """The connection or the body ended before the answer did."""
    STALL = "stall"
    TIMEOUT = "timeout"
    ENDLESS = "endless"
    IGNORED_MAX_TOKENS = "ignored_max_tokens"
    HTTP_STATUS = "http_status"
    REDIRECT = "redirect"
    MALFORMED_HTTP = "malformed_http"
    MALFORMED_JSON = "malformed_json"
    WRONG_CONTENT_TYPE = "wrong_content_type"
    SERVER_ERROR = "server_error"
    """An error object inside the stream."""
    NO_TOKENS = "no_tokens"
    WINDOW_END = "window_end"
    INTERRUPTED = "interrupted"


class TokenBasis(StrEnum):
    """How it is known how many tokens each chunk holds."""

    SERVER = "server"
    """The server says it chunk by chunk: token ids, log-probs, running usage or timings."""
    USAGE = "usage"
    """The final usage equals the number of events, so each holds one."""
    TOKENIZER = "tokenizer"
    """An estimate: the server tells no count, and the model's tokenizer counted each event's text."""
    SPLIT = "split"
    """An estimate: the final usage, shared out by the length of each event's text."""
    ASSUMED = "assumed"
    """An estimate: one token an event, as the server says nothing."""

    @property
    def is_estimate(self) -> bool:
        """True where tokens a chunk were not told."""
        return self in {TokenBasis.SPLIT, TokenBasis.TOKENIZER, TokenBasis.ASSUMED}


@dataclass(frozen=True)
class RequestTrace:
    """The timestamps of one request, in ns of the monotonic clock, and how it ended."""

    index: int
    session: int
    turn: int
    intended_ns: int
    """When the schedule wanted it sent; all latencies start here."""
    ready_ns: int
    """When the client could have sent it: later than intended only where a concurrency cap made it wait."""
    sent_ns: int | None
    """Just before its first byte was handed to the kernel; absent where no connection ever took it."""
    end_ns: int
    """The last byte of the answer, or the moment it was given up."""
    outcome: RequestOutcome
    reason: Reason = Reason.NONE
    detail: str = ""
    status: int | None = None
    body_sent_ns: int | None = None
    """When the last byte of the request had been handed over."""
    first_byte_ns: int | None = None
    chunks: tuple[tuple[int, int], ...] = ()
    """(ns, tokens) of every arrival that held output tokens; tokens that came together stand together."""
    events: int = 0
    """Stream events that held output."""
    token_basis: TokenBasis = TokenBasis.ASSUMED
    finish_reason: str | None = None
    max_tokens: int = 0
    asked_prompt_tokens: int = 0
    prompt_tokens: int | None = None
    """As the server says, chat template included."""
    cached_tokens: int | None = None
    computed_tokens: int | None = None
    """Prompt tokens that the server says it computed: llama.cpp tells them beside the cached ones, and they must add up."""
    completion_tokens: int | None = None
    """As the server says."""
    reasoning_events: int = 0
    tool_call_events: int = 0
    measured: bool = True
    """False for ramp and warm-up."""
    retried: bool = False
    """Sent again because a kept connection had been closed before the first byte."""
    notes: tuple[str, ...] = ()
    text: str | None = None
    parent: int | None = None
    """The session that started this one as its sub-agent."""
    retrieval: float | None = None
    """Share of what was hidden in the prompt and asked for that the answer names; absent where nothing was."""

    def __post_init__(self) -> None:
        """A request that is done has no reason and has tokens; any other has a reason."""
        if (self.outcome is RequestOutcome.DONE) != (self.reason is Reason.NONE):
            raise ValueError(f"request {self.index} is {self.outcome} with reason {self.reason}")
        if self.outcome is RequestOutcome.DONE and not self.chunks:
            raise ValueError(f"request {self.index} is done without a token")

    @property
    def output_tokens(self) -> int:
        """All tokens of its chunks."""
        return sum(tokens for _, tokens in self.chunks)

    @property
    def generated_tokens(self) -> int:
        """Tokens that the server generated: as it says, or as they were seen."""
        return self.output_tokens if self.completion_tokens is None else self.completion_tokens


@dataclass(frozen=True)
class LogHead:
    """What is true of the whole Run, beside its Traces."""

    asked_rps: float | None
    """Absent for a closed load."""
    concurrency: int | None
    scheduled: int
    """Requests that were due (open), or 0 where the load is closed."""
    started_ns: int
    stopped_ns: int
    """When the last request was over."""
    prepared_s: float
    """From the call to the first request's send."""
    interrupted: bool
    """The window ended before its time: by Ctrl-C, or because the raw log was full."""
    receive_clock: str
    """"kernel" or "user"."""
    slo: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, float] = field(default_factory=dict)
    drawn_ns: tuple[int, ...] = ()
    """The drawn schedule of the measured requests, from its start; empty for a closed load."""
    self_calibration: Mapping[str, Json] | None = None
    facts: Mapping[str, Json] = field(default_factory=dict)
    """Client and plan in plain words: version, scheduler policy, CPU used, prompt basis, notes."""


@dataclass(frozen=True)
class EventLog:
    """Everything that metrics are computed from."""

    head: LogHead
    traces: tuple[RequestTrace, ...]


def write_events(path: Path, log: EventLog) -> None:
    """`path` holds the log: a first line with the head, then a line a Trace."""
    beside = path.with_name(path.name + ".part")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(json.dumps({"format": FORMAT, "head": to_json(log.head)}) + "\n")
            file.writelines(json.dumps(to_json(trace)) + "\n" for trace in log.traces)
        beside.replace(path)
    except OSError as error:
        raise BadInputError(f"{path}: the event log cannot be written ({error.strerror}); give another --events FILE") from None


def read_events(path: Path) -> EventLog:
    """The log in `path`; raises BadInputError with the line of a mistake."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: is not UTF-8 at byte {error.start}") from None
    first = _json_line(path, 1, lines[0] if lines else "")
    if not isinstance(first, dict) or first.get("format") != FORMAT:
        raise BadInputError(f'{path}, line 1: expected {{"format": "{FORMAT}", "head": …}}')
    head = from_json(LogHead, first.get("head"), f"{path}, line 1: head")
    traces = tuple(
        from_json(RequestTrace, _json_line(path, number, line), f"{path}, line {number}")
        for number, line in enumerate(lines[1:], start=2)
    )
    return EventLog(head, traces)


def _json_line(path: Path, number: int, line: str) -> Json:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{path}, line {number}: not JSON ({error.msg})") from None
