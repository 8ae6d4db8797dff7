"""The streams that the calibration server can send: when each write is due, its bytes, and the tokens in it."""

import json
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from perfd.domain.identity import Json


class Shape(StrEnum):
    """How tokens are put into events and writes; on each of them some load client has gone wrong."""

    PLAIN = "plain"
    """One token an event, one event a write."""
    TOKENS4 = "tokens4"
    """Four tokens an event, as speculative decoding sends them."""
    EVENTS4 = "events4"
    """Four events of one token in one write."""
    EARLY_ROLE = "early_role"
    """A chunk with the role and empty content at once, the first token later."""
    REASONING = "reasoning"
    """The first half as reasoning_content."""


@dataclass(frozen=True)
class StreamPlan:
    """The true times of a stream."""

    shape: Shape = Shape.PLAIN
    tokens: int = 64
    ttft_s: float = 0.1
    gap_s: float = 0.01
    slow_share: float = 0.02
    """Share of gaps that are longer."""
    slow_extra_s: float = 0.04


@dataclass(frozen=True)
class Step:
    """One write."""

    after_ns: int
    """Due so long after the request's arrival."""
    data: bytes
    tokens: int


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
_GROUP = {Shape.TOKENS4: 4, Shape.EVENTS4: 4}


def steps_of(plan: StreamPlan, seed: int) -> list[Step]:
    """All writes of one answer, ascending; the header leaves at once."""
    rng = np.random.default_rng(seed)
    slow = rng.random(plan.tokens) < plan.slow_share
    gaps = plan.gap_s + plan.slow_extra_s * slow
    gaps[0] = plan.ttft_s
    due_ns = (np.cumsum(gaps) * 1e9).astype(np.int64)
    steps = [Step(0, HEAD + (_chunked(_event(role="assistant", content="")) if plan.shape is Shape.EARLY_ROLE else b""), 0)]
    size = _GROUP.get(plan.shape, 1)
    # A group is due with its last token; the first group at the time to first token, so that TTFT is what the plan says.
    shift = int(due_ns[min(size, plan.tokens) - 1] - due_ns[0])
    for start in range(0, plan.tokens, size):
        end = min(start + size, plan.tokens)
        steps.append(Step(int(due_ns[end - 1]) - shift, _write(plan, start, end), end - start))
    steps.append(Step(steps[-1].after_ns, _ending(plan.tokens), 0))
    return steps


def _write(plan: StreamPlan, start: int, end: int) -> bytes:
    if plan.shape is Shape.TOKENS4:
        return _chunked(_event(content="word " * (end - start)))
    field = "reasoning_content" if plan.shape is Shape.REASONING and start < plan.tokens // 2 else "content"
    return _chunked(b"".join(_event(**{field: "word "}) for _ in range(start, end)))


def _event(**delta: str) -> bytes:
    body = {"id": "c", "object": "chat.completion.chunk", "model": "truth", "choices": [{"index": 0, "delta": delta}]}
    return _sse(body)


def _sse(body: Json) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def _ending(tokens: int) -> bytes:
    finish = _sse({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})
    usage = _sse({"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": tokens, "total_tokens": tokens}})
    return _chunked(finish + usage + b"data: [DONE]\n\n") + b"0\r\n\r\n"


def _chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
