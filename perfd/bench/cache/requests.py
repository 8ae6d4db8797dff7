"""Requests as a cache sees them: token ids of the prompt, when they came and went, and what the server said of them."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from perfd.bench.load import RequestOutcome, RequestTrace, metrics
from perfd.bench.load.prompts import Prompt, PromptMaker

Ids = npt.NDArray[np.int32]
PIECE = re.compile(r"\n|[^\S\n]*[^\s]+")
"""A word with the space before it, or a line end: what the prompt maker counts as one token."""
MOST_TOKENS = 20_000_000
"""Of all prompts together: beyond it the account would cost more memory and minutes than it is worth."""
TEMPLATE_ID, END_ID = -1, -2
"""Stand for each token of the chat template in a prompt whose ids are not known."""


class Basis(StrEnum):
    """How the token ids of the prompts are known."""

    ENGINE = "engine"
    """The engine's own template and tokenizer."""
    WORDS = "words"
    """One id a word, by construction of the prompts, which are one message each; the template stands before them."""
    ESTIMATE = "estimate"
    """One id a word, while the words are not known to be one token each, or the template stands between messages."""


@dataclass(frozen=True)
class CacheRequest:
    """One request that was sent."""

    index: int
    session: int
    turn: int
    ids: Ids
    """(prompt tokens), as the server sees them."""
    sent_ns: int
    end_ns: int
    output_tokens: int
    measured: bool = True
    prompt_tokens: int | None = None
    """As the server says; absent where it says nothing."""
    cached_tokens: int | None = None
    computed_tokens: int | None = None
    """Prompt tokens that the server says it computed; absent where it tells only the cached ones."""
    own_tokens: int = 0
    """Of the prompt, tokens that the load made; the rest is the chat template's."""
    ttft_s: float | None = None
    """Absent for a request that did not complete."""
    answer_ids: Ids = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    """(tokens of the answer that a later prompt may begin with); none where answers are made beforehand and never come back."""

    @property
    def held_ids(self) -> Ids:
        """What a cache may hold of it afterwards."""
        return np.concatenate([self.ids, self.answer_ids]) if len(self.answer_ids) else self.ids


def requests_of(
    traces: Sequence[RequestTrace], maker: PromptMaker, engine_ids: Callable[[Prompt], Sequence[int]] | None = None
) -> tuple[list[CacheRequest], Basis]:
    """Every request that was sent, by the time it was sent, and how its ids are known.

    `maker` makes the same prompts again (they depend on plan and vocabulary only); `engine_ids` asks the engine for a prompt's
    ids, template included. Cost: one question a request with it, else a pass over the prompts' words.
    """
    prompts = _prompts(traces, maker)
    sent = sorted((trace for trace in traces if trace.sent_ns is not None), key=lambda trace: trace.sent_ns or 0)
    known = first_within([trace for trace in sent if _is_made(trace, prompts)])
    pairs = [(trace, prompts[trace.session, trace.turn]) for trace in known]
    if engine_ids is not None:
        made = [_request(trace, _array(engine_ids(prompt))) for trace, prompt in pairs]
        basis = Basis.ENGINE if all(one.prompt_tokens in {None, len(one.ids)} for one in made) else Basis.ESTIMATE
    else:
        template = template_of(pairs)
        made = [_request(trace, word_ids(prompt, trace.prompt_tokens, template)) for trace, prompt in pairs]
        basis = Basis.WORDS if maker.vocabulary.exact and _are_plain(prompt for _, prompt in pairs) else Basis.ESTIMATE
    return (with_answers(made) if maker.plan.live else made), basis


def with_answers(requests: Sequence[CacheRequest]) -> list[CacheRequest]:
    """For live sessions: each request with its answer's ids, read off the next turn's prompt, which goes on from them.

    The last token of an answer is never computed, so no cache holds it.
    """
    by_place = {(one.session, one.turn): one for one in requests}
    made = []
    for one in requests:
        later = by_place.get((one.session, one.turn + 1))
        end = len(one.ids) + max(0, one.output_tokens - 1)
        follows = later is not None and np.array_equal(later.ids[: len(one.ids)], one.ids)
        made.append(replace(one, answer_ids=later.ids[len(one.ids) : end]) if later is not None and follows else one)
    return made


def first_within(traces: Sequence[RequestTrace], most_tokens: int = MOST_TOKENS) -> list[RequestTrace]:
    """The first of these requests whose prompts have at most so many tokens together."""
    sums = accumulate(trace.prompt_tokens or trace.asked_prompt_tokens for trace in traces)
    return [trace for trace, tokens in zip(traces, sums, strict=True) if tokens <= most_tokens]


def _is_made(trace: RequestTrace, prompts: dict[tuple[int, int], Prompt]) -> bool:
    """Whether the maker made this request's prompt: one that came from a trace has another size, and cannot be made again."""
    prompt = prompts.get((trace.session, trace.turn))
    return prompt is not None and prompt.prompt_tokens == trace.asked_prompt_tokens


def _prompts(traces: Sequence[RequestTrace], maker: PromptMaker) -> dict[tuple[int, int], Prompt]:
    sessions = sorted({trace.session for trace in traces})
    return {(session, turn): prompt for session in sessions for turn, prompt in enumerate(maker.chain(session))}


def _are_plain(prompts: Iterable[Prompt]) -> bool:
    """Whether words are tokens in all of them, and the template's share is the same in all: no tools, pictures or turns."""
    seen = list(prompts)
    plain = not any(prompt.tools or any(part.images for part in prompt.parts) for prompt in seen)
    return plain and len({len(prompt.parts) for prompt in seen}) <= 1


def _array(ids: Sequence[int]) -> Ids:
    return np.asarray(ids, dtype=np.int32)


def _request(trace: RequestTrace, ids: Ids) -> CacheRequest:
    done = trace.outcome is RequestOutcome.DONE
    return CacheRequest(
        index=trace.index,
        session=trace.session,
        turn=trace.turn,
        ids=ids,
        sent_ns=trace.sent_ns or 0,
        end_ns=trace.end_ns,
        output_tokens=trace.generated_tokens,
        measured=trace.measured,
        prompt_tokens=trace.prompt_tokens,
        cached_tokens=trace.cached_tokens,
        computed_tokens=trace.computed_tokens,
        own_tokens=trace.asked_prompt_tokens,
        ttft_s=metrics.ttft_s(trace) if done else None,
    )


@dataclass(frozen=True)
class Template:
    """Tokens that the chat template adds: before the first message, and before each one after it."""

    head: int = 0
    each: int = 0


def template_of(pairs: Sequence[tuple[RequestTrace, Prompt]]) -> Template:
    """By what the server counted beyond the words, in the requests with the fewest and with the most messages."""
    beyond: dict[int, int] = {}
    for trace, prompt in pairs:
        if trace.prompt_tokens is not None:
            count = len(prompt.parts)
            more = trace.prompt_tokens - sum(map(len, pieces(prompt)))
            beyond[count] = min(more, beyond.get(count, more))
    if not beyond:
        return Template()
    few, many = min(beyond), max(beyond)
    each = max(0, (beyond[many] - beyond[few]) // (many - few)) if many > few else 0
    return Template(max(0, beyond[few] - each * (few - 1)), each)


def word_ids(prompt: Prompt, prompt_tokens: int | None, template: Template) -> Ids:
    """One id a word with the template's tokens between; filled up at the end to what the server counted, or cut."""
    ids = [TEMPLATE_ID] * template.head
    for place, words in enumerate(pieces(prompt)):
        ids += [TEMPLATE_ID] * template.each if place else []
        ids += map(_word_id, words)
    if prompt_tokens is not None:
        ids = (ids + [END_ID] * max(0, prompt_tokens - len(ids)))[:prompt_tokens]
    return _array(ids)


def pieces(prompt: Prompt) -> list[list[str]]:
    """The words and line ends of each message, those of the tools before the first, as templates write them."""
    tools = [piece for tool in prompt.tools for piece in PIECE.findall(json.dumps(tool))]
    texts = [PIECE.findall(content) for _, content in prompt.messages]
    return [tools + texts[0], *texts[1:]] if texts else [tools]


@lru_cache(maxsize=100_000)
def _word_id(piece: str) -> int:
    return int.from_bytes(hashlib.blake2b(piece.strip(" ").encode(), digest_size=4).digest(), "big") >> 1
