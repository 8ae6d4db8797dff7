"""The meaning of a stream's events: when output tokens came, how many, and what the server said of itself."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from perfd.bench.load.events import TokenBasis
from perfd.bench.load.sse import Event


@dataclass(frozen=True)
class OutputEvent:
    """One event that holds output."""

    ns: int
    text: str
    """Content, reasoning and tool-call arguments alike: all of it was generated."""
    tokens: int | None
    """As the server says for this event; absent where it does not."""
    reasoning: bool = False
    tool_call: bool = False


@dataclass
class Answer:
    """What a stream has said so far."""

    output: list[OutputEvent] = field(default_factory=list)
    finish_reason: str | None = None
    done: bool = False
    """[DONE] was seen; what follows it is ignored."""
    error: str = ""
    malformed: str = ""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    computed_tokens: int | None = None
    completion_tokens: int | None = None
    seen_tokens: int = 0
    """The last running count that the server gave."""


def read_answer(events: Iterable[Event]) -> Answer:
    """All that the events say, up to [DONE] or the first one that is no JSON."""
    answer = Answer()
    for event in events:
        if answer.done or answer.malformed:
            break
        _read_event(answer, event)
    return answer


def _read_event(answer: Answer, event: Event) -> None:
    if event.data.strip() == "[DONE]":
        answer.done = True
        return
    try:
        body = json.loads(event.data)
    except (json.JSONDecodeError, RecursionError) as error:
        answer.malformed = f"{error} in {event.data[:80]!r}"
        return
    if not isinstance(body, dict):
        answer.malformed = f"expected an object, saw {event.data[:80]!r}"
        return
    if body.get("error"):
        answer.error = json.dumps(body["error"])[:300]
        return
    _read_counts(answer, body)
    choices = body.get("choices")
    if isinstance(choices, list):
        for choice in choices:
            if isinstance(choice, dict):
                _read_choice(answer, event.ns, body, choice)


def _read_choice(answer: Answer, ns: int, body: dict[str, Any], choice: dict[str, Any]) -> None:
    if isinstance(choice.get("finish_reason"), str):
        answer.finish_reason = choice["finish_reason"]
    text, reasoning, tool_call = _texts(choice)
    if text:  # without it the event is a role, an end or a usage, and what those count is no arrival of a token
        answer.output.append(OutputEvent(ns, text, _told_tokens(answer, body, choice), reasoning, tool_call))


def _texts(choice: dict[str, Any]) -> tuple[str, bool, bool]:
    """(generated text, whether it is reasoning, whether it is a tool call) of a choice; a role alone is no text."""
    held = choice.get("delta") or choice.get("message")
    delta: dict[str, Any] = held if isinstance(held, dict) else {"content": choice.get("text")}
    reasoning = _string(delta.get("reasoning_content")) or _string(delta.get("reasoning"))
    content = _string(delta.get("content")) or _string(delta.get("refusal"))
    calls = _call_texts(delta.get("tool_calls"))
    return reasoning + content + "".join(calls), bool(reasoning), bool(calls)


def _call_texts(calls: Any) -> list[str]:
    texts = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            texts.append(_string(function.get("name")) + _string(function.get("arguments")))
    return [text for text in texts if text]


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _told_tokens(answer: Answer, body: dict[str, Any], choice: dict[str, Any]) -> int | None:
    """How many tokens the server says this event holds: by token ids, log-probs, or the growth of a running count."""
    ids = choice.get("token_ids")
    if isinstance(ids, list) and ids:
        return len(ids)
    running = _running_count(body)
    if running is not None:
        grown = max(0, running - answer.seen_tokens)
        answer.seen_tokens = max(running, answer.seen_tokens)
        return grown
    logprobs = choice.get("logprobs")
    listed = (logprobs.get("content") or logprobs.get("tokens")) if isinstance(logprobs, dict) else None
    return len(listed) if isinstance(listed, list) and listed else None


def _running_count(body: dict[str, Any]) -> int | None:
    usage, timings = body.get("usage"), body.get("timings")
    count = _count(usage.get("completion_tokens")) if isinstance(usage, dict) else None
    if count is None and isinstance(timings, dict):
        count = _count(timings.get("predicted_n"))
    return count


def _read_counts(answer: Answer, body: dict[str, Any]) -> None:
    usage, timings = body.get("usage"), body.get("timings")
    if isinstance(usage, dict):
        answer.prompt_tokens = _count(usage.get("prompt_tokens")) or answer.prompt_tokens
        answer.completion_tokens = _count(usage.get("completion_tokens")) or answer.completion_tokens
        details = usage.get("prompt_tokens_details")
        cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
        answer.cached_tokens = cached if cached is not None else answer.cached_tokens
    if isinstance(timings, dict):
        cached = _count(timings.get("cache_n"))
        answer.cached_tokens = cached if answer.cached_tokens is None else answer.cached_tokens
        answer.computed_tokens = _count(timings.get("prompt_n"))


def count_tokens(answer: Answer, tokenize: Callable[[str], int] | None = None) -> tuple[list[tuple[int, int]], TokenBasis]:
    """((ns, tokens) of each arrival, how the tokens are known); events of one read stand together."""
    counts, basis = _counts(answer, tokenize)
    chunks: list[tuple[int, int]] = []
    for event, tokens in zip(answer.output, counts, strict=True):
        if chunks and chunks[-1][0] == event.ns:
            chunks[-1] = (event.ns, chunks[-1][1] + tokens)
        else:
            chunks.append((event.ns, tokens))
    return [chunk for chunk in chunks if chunk[1] > 0], basis


def _counts(answer: Answer, tokenize: Callable[[str], int] | None) -> tuple[list[int], TokenBasis]:
    output = answer.output
    told = [event.tokens for event in output]
    if output and all(tokens is not None for tokens in told) and _adds_up(answer, told):
        return [tokens or 0 for tokens in told], TokenBasis.SERVER
    total = answer.completion_tokens
    if total is None and tokenize is not None and output:
        return retokenized([event.text for event in output], tokenize), TokenBasis.TOKENIZER
    if total is None:
        return [1] * len(output), TokenBasis.ASSUMED
    ended_itself = answer.finish_reason == "stop"  # then usage counts the end token too, which has no text
    if total == len(output) or (ended_itself and total == len(output) + 1):
        return [1] * len(output), TokenBasis.USAGE
    return share_out(total, [len(event.text) for event in output]), TokenBasis.SPLIT


def retokenized(texts: Sequence[str], tokenize: Callable[[str], int]) -> list[int]:
    """Tokens of each event's text, where their sum is that of the whole; else the whole's, shared out by them."""
    each = [tokenize(text) for text in texts]
    total = tokenize("".join(texts))
    return each if sum(each) == total else share_out(total, each)


def _adds_up(answer: Answer, told: Sequence[int | None]) -> bool:
    """Whether what was told event by event is all that was generated; an end token without text may be missing from it."""
    said = sum(tokens or 0 for tokens in told)
    return said > 0 and (answer.completion_tokens is None or said >= answer.completion_tokens - 1)


def share_out(total: int, lengths: Sequence[int]) -> list[int]:
    """`total` tokens over events by the length of their text, at least one each while there are enough; sums to `total`."""
    if not lengths:
        return []
    spare = max(0, total - len(lengths))
    whole = sum(lengths) or len(lengths)
    weights = lengths if sum(lengths) else [1] * len(lengths)
    counts, so_far, given = [], 0, 0
    for place, weight in enumerate(weights):
        so_far += weight
        upto = (spare * so_far * 2 + whole) // (whole * 2)
        counts.append((1 if place < total else 0) + upto - given)
        given = upto
    return counts
