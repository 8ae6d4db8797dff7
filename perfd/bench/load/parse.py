"""From an exchange's raw bytes to its Trace: decoded after the window, and given an outcome with a reason."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from perfd.bench.load.answer import Answer, count_tokens, read_answer
from perfd.bench.load.events import Reason, RequestOutcome, RequestTrace
from perfd.bench.load.exchange import Ending, Exchange
from perfd.bench.load.haystack import score
from perfd.bench.load.http import Head, MalformedHttpError, ResponseDecoder
from perfd.bench.load.sse import Event, EventDecoder

DETAIL_CHARACTERS = 300


@dataclass(frozen=True)
class Decoded:
    """What the bytes of one exchange were."""

    head: Head | None
    finished: bool
    """True when the framing says that the body is whole."""
    events: list[Event]
    comments: int
    other_lines: tuple[str, ...]
    body_start: str
    """The first bytes of the body, for the detail of a failure."""
    malformed: str = ""


def decode(exchange: Exchange) -> Decoded:
    """Head and events of the response, each event with the time of the read that completed it."""
    response, stream = ResponseDecoder(), EventDecoder()
    events: list[Event] = []
    start = bytearray()
    malformed = ""
    try:
        for ns, data in exchange.reads:
            body = response.feed(data)
            if len(start) < DETAIL_CHARACTERS:
                start += body[:DETAIL_CHARACTERS]
            events += stream.feed(ns, body)
    except MalformedHttpError as error:
        malformed = str(error)
    events += stream.close(exchange.end_ns)
    return Decoded(
        response.head,
        response.finished,
        events,
        stream.comments,
        tuple(stream.other_lines),
        start.decode("utf-8", "replace")[:DETAIL_CHARACTERS],
        malformed,
    )


def trace_of(
    exchange: Exchange, *, measured: bool, keep_text: bool = False, tokenize: Callable[[str], int] | None = None
) -> RequestTrace:
    """The Trace of one exchange; `tokenize` counts the tokens of chunks where the server tells neither them nor their sum."""
    decoded = decode(exchange)
    answer = read_answer(decoded.events)
    chunks, basis = count_tokens(answer, tokenize)
    reason, detail = verdict_on(exchange, decoded, answer)
    request = exchange.request
    return RequestTrace(
        index=request.index,
        session=request.session,
        turn=request.turn,
        intended_ns=exchange.intended_ns,
        ready_ns=exchange.ready_ns,
        sent_ns=exchange.sent_ns,
        end_ns=exchange.end_ns,
        outcome=outcome_of(reason),
        reason=reason,
        detail=detail[:DETAIL_CHARACTERS],
        status=decoded.head.status if decoded.head else None,
        body_sent_ns=exchange.body_sent_ns,
        first_byte_ns=exchange.reads[0][0] if exchange.reads else None,
        chunks=tuple(chunks),
        events=len(answer.output),
        token_basis=basis,
        finish_reason=answer.finish_reason,
        max_tokens=request.max_tokens,
        asked_prompt_tokens=request.prompt_tokens,
        prompt_tokens=answer.prompt_tokens,
        cached_tokens=answer.cached_tokens,
        computed_tokens=answer.computed_tokens,
        completion_tokens=answer.completion_tokens,
        reasoning_events=sum(event.reasoning for event in answer.output),
        tool_call_events=sum(event.tool_call for event in answer.output),
        measured=measured,
        retried=exchange.retried,
        notes=_notes(exchange, decoded, answer),
        text="".join(event.text for event in answer.output) if keep_text else None,
        parent=request.parent,
        retrieval=score(request.wanted, "".join(event.text for event in answer.output)),
    )


def said(exchange: Exchange) -> str:
    """The text of the answer, without reasoning and tool calls: what a client puts into the next turn's prompt."""
    answer = read_answer(decode(exchange).events)
    return "".join(event.text for event in answer.output if not (event.reasoning or event.tool_call))


def outcome_of(reason: Reason) -> RequestOutcome:
    """Done without a reason, cancelled when it was us, failed otherwise."""
    if reason is Reason.NONE:
        return RequestOutcome.DONE
    cancelled = reason in {Reason.WINDOW_END, Reason.INTERRUPTED}
    return RequestOutcome.CANCELLED if cancelled else RequestOutcome.FAILED


def verdict_on(exchange: Exchange, decoded: Decoded, answer: Answer) -> tuple[Reason, str]:
    """(reason, detail); the first thing that went wrong names the failure."""
    for look in (_transport, _head, _stream):
        found = look(exchange, decoded, answer)
        if found is not None:
            return found
    return _ending(exchange, decoded, answer)


_Found = tuple[Reason, str] | None


def _transport(exchange: Exchange, decoded: Decoded, _answer: Answer) -> _Found:
    if exchange.ending is Ending.CONNECT:
        return Reason.CONNECT, exchange.detail
    if exchange.ending is Ending.TLS:
        return Reason.TLS, exchange.detail
    if decoded.malformed:
        return Reason.MALFORMED_HTTP, decoded.malformed
    return None


def _head(_exchange: Exchange, decoded: Decoded, _answer: Answer) -> _Found:
    head = decoded.head
    if head is None:
        return None
    if 300 <= head.status < 400:
        target = head.fields.get("location", "nowhere")
        return Reason.REDIRECT, f"{head.status} to {target}; redirects are not followed: give that URL"
    if head.status != 200:
        return Reason.HTTP_STATUS, f"{head.status} {head.phrase}: {_said(decoded)}"
    if head.content_type not in {"text/event-stream", ""}:
        return Reason.WRONG_CONTENT_TYPE, f"expected text/event-stream, saw {head.content_type}: {_said(decoded)}"
    return None


def _said(decoded: Decoded) -> str:
    """What an error body says: its message where it is OpenAI's JSON, else its first characters."""
    try:
        body = json.loads(decoded.body_start)
    except (json.JSONDecodeError, RecursionError):
        return " ".join(decoded.body_start.split())
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message", error) if isinstance(error, dict) else error
    return message if isinstance(message, str) else json.dumps(message)


def _stream(exchange: Exchange, _decoded: Decoded, answer: Answer) -> _Found:
    if answer.error:
        return Reason.SERVER_ERROR, answer.error
    cut = exchange.ending not in {Ending.COMPLETE, Ending.CLOSED}
    if answer.malformed and not cut:
        return Reason.MALFORMED_JSON, answer.malformed
    if answer.completion_tokens is not None and answer.completion_tokens > exchange.request.max_tokens > 0:
        detail = f"{answer.completion_tokens} tokens, {exchange.request.max_tokens} were asked"
        return Reason.IGNORED_MAX_TOKENS, detail
    return None


_CUT = {
    Ending.RESET: (Reason.RESET, "the connection was reset"),
    Ending.STALL: (Reason.STALL, "no byte came for longer than the stall limit"),
    Ending.TIMEOUT: (Reason.TIMEOUT, "it took longer than a request may"),
    Ending.WINDOW_END: (Reason.WINDOW_END, "still under way when the time to drain was over"),
    Ending.INTERRUPTED: (Reason.INTERRUPTED, "still under way when the Run was interrupted"),
    Ending.MALFORMED: (Reason.MALFORMED_HTTP, "the answer is no HTTP"),
}


def _ending(exchange: Exchange, decoded: Decoded, answer: Answer) -> tuple[Reason, str]:
    if exchange.ending is Ending.ENDLESS:
        return _endless(exchange, answer)
    if not answer.done and exchange.ending in _CUT:
        reason, usual = _CUT[exchange.ending]
        return reason, exchange.detail or usual
    if decoded.head is None:
        return Reason.TRUNCATED, "the connection was closed before an answer came"
    if not answer.done and not (decoded.finished or answer.finish_reason):
        return Reason.TRUNCATED, f"the connection was closed after {len(answer.output)} events, before the answer's end"
    if not answer.done and not answer.finish_reason:
        return Reason.TRUNCATED, f"the body ended after {len(answer.output)} events without [DONE] or a finish_reason"
    if not answer.output:
        return Reason.NO_TOKENS, f"the answer held no token (finish_reason {answer.finish_reason})"
    return Reason.NONE, ""


def _endless(exchange: Exchange, answer: Answer) -> tuple[Reason, str]:
    asked = exchange.request.max_tokens
    if asked and len(answer.output) > asked:
        return Reason.IGNORED_MAX_TOKENS, f"cut after {len(answer.output)} events with output; {asked} tokens were asked"
    return Reason.ENDLESS, exchange.detail


def _notes(exchange: Exchange, decoded: Decoded, answer: Answer) -> tuple[str, ...]:
    notes = []
    if answer.done and not decoded.finished:
        notes.append("the response did not end after [DONE]")
    if not answer.done and answer.finish_reason and answer.output:
        notes.append("no [DONE]")
    if decoded.comments:
        notes.append(f"{decoded.comments} keep-alive comments")
    if exchange.retried:
        notes.append("sent again on a new connection")
    return tuple(notes)
