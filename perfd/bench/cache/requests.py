"""Requests as a cache sees them: token ids of the prompt, when they came and went, and what the server said of them."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
TEMPLATE_ID = -1
"""Stands for each token that the chat template puts before a prompt whose ids are not known."""


class Basis(StrEnum):
    """How the token ids of the prompts are known."""

    ENGINE = "engine"
    """The engine's own template and tokenizer."""
    WORDS = "words"
    """One id a word, by construction of the prompts; the chat template is taken to stand before them, equal for all."""
    ESTIMATE = "estimate"
    """One id a word, while the words are not known to be one token each."""


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
    words = Basis.WORDS if maker.vocabulary.exact else Basis.ESTIMATE
    made = [_request(trace, prompts[trace.session, trace.turn], engine_ids) for trace in known]
    return made, Basis.ENGINE if engine_ids is not None else words


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


def _request(trace: RequestTrace, prompt: Prompt, engine_ids: Callable[[Prompt], Sequence[int]] | None) -> CacheRequest:
    done = trace.outcome is RequestOutcome.DONE
    ids = word_ids(prompt, trace.prompt_tokens) if engine_ids is None else np.asarray(engine_ids(prompt), dtype=np.int32)
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


def word_ids(prompt: Prompt, prompt_tokens: int | None) -> Ids:
    """One id a word, after as many template ids as the server counted tokens beyond the words; cut where it counted fewer."""
    words = [_word_id(piece) for piece in pieces(prompt)]
    if prompt_tokens is None:
        return np.asarray(words, dtype=np.int32)
    head = [TEMPLATE_ID] * max(0, prompt_tokens - len(words))
    return np.asarray((head + words)[:prompt_tokens], dtype=np.int32)


def pieces(prompt: Prompt) -> Iterator[str]:
    """The words and line ends of all messages, in order."""
    for _, content in prompt.messages:
        yield from PIECE.findall(content)


@lru_cache(maxsize=100_000)
def _word_id(piece: str) -> int:
    return int.from_bytes(hashlib.blake2b(piece.strip(" ").encode(), digest_size=4).digest(), "big") >> 1
