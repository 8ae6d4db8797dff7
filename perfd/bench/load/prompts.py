"""Prompts of a wanted number of tokens, fresh in every Run, made before the window opens."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from perfd.bench.load.plan import PromptKind, PromptPlan
from perfd.bench.load.schedule import Due
from perfd.bench.load.words import WORDS

Tokenize = Callable[[str], int]
"""How many tokens a text has for the model under test, without special tokens."""
NONCE_TOKENS = 8
WORDS_PER_LINE = 12
BLOCK_TOKENS = 512
"""Tokens of one hash_id of a trace, as Mooncake publishes them."""


@dataclass(frozen=True)
class Prompt:
    """The messages of one request."""

    messages: tuple[tuple[str, str], ...]
    """(role, content)."""
    prompt_tokens: int
    max_tokens: int

    @property
    def text(self) -> str:
        """All contents as one text, for the completions endpoint; a word after a space is one token, so the sizes add up."""
        return " ".join(content for _, content in self.messages)


@dataclass(frozen=True)
class Vocabulary:
    """Words that add one token each, and whether that is known or believed."""

    words: tuple[str, ...]
    first_words: tuple[str, ...]
    """Words that are one token at the very start of a text too."""
    lines: bool
    """Whether a line end is one token more and nothing else."""
    exact: bool


ESTIMATED = Vocabulary(WORDS, WORDS, lines=False, exact=False)


def learn_vocabulary(tokenize: Tokenize | None) -> Vocabulary:
    """The words that are one token each for this model; without a tokenizer all of them, as an estimate."""
    if tokenize is None:
        return ESTIMATED
    words = tuple(_single(tokenize, WORDS))
    firsts = tuple(word for word in words[:64] if tokenize(word) == 1)
    if len(words) < 100 or len(firsts) < 4:
        return ESTIMATED
    plain, broken = " ".join((firsts[0], *words[:8])), f"{firsts[0]} {words[0]}\n {' '.join(words[1:8])}"
    return Vocabulary(words, firsts, lines=tokenize(broken) == tokenize(plain) + 1, exact=tokenize(plain) == 9)


def _single(tokenize: Tokenize, words: Sequence[str]) -> list[str]:
    """The words that are one token after a space, found by halving: few questions where most are."""
    if tokenize("".join(f" {word}" for word in words)) == len(words):
        return list(words)
    if len(words) == 1:
        return []
    half = len(words) // 2
    return _single(tokenize, words[:half]) + _single(tokenize, words[half:])


class PromptMaker:
    """Makes prompts that depend on the plan's seed and occasion and on their own number, and on nothing else."""

    def __init__(self, plan: PromptPlan, vocabulary: Vocabulary = ESTIMATED) -> None:
        self.plan = plan
        self.vocabulary = vocabulary
        self._system = self._words("system", plan.system_tokens - self._nonce_in_system)

    @property
    def _nonce_in_system(self) -> int:
        return NONCE_TOKENS if self.plan.system_tokens > NONCE_TOKENS and not self.plan.reuse_prefix else 0

    def chain(self, index: int, due: Due | None = None) -> list[Prompt]:
        """The prompts of session `index`, one a turn."""
        if self.plan.kind is PromptKind.AGENTIC:
            return self._session(index)
        size = due.prompt_tokens if due and due.prompt_tokens else self.plan.prompt_tokens
        answer = due.max_tokens if due and due.max_tokens else self.plan.max_tokens
        if due and due.blocks:
            return [self._blocks(index, due.blocks, size, answer)]
        return [Prompt(self._opening(f"prompt {index}", size), size, answer)]

    def _opening(self, name: str, size: int) -> tuple[tuple[str, str], ...]:
        """System prompt (where there is one) and first user message, `size` tokens together."""
        nonce = self._nonce(name)
        if not self.plan.system_tokens or size <= self.plan.system_tokens:
            return (("user", self._join(nonce, self._words(name, size - NONCE_TOKENS))),)
        rest = size - self.plan.system_tokens
        if self._nonce_in_system:
            return (("system", self._join(nonce, self._system)), ("user", self._join([], self._words(name, rest))))
        return (("system", self._join([], self._system)), ("user", self._join(nonce, self._words(name, rest - NONCE_TOKENS))))

    def _session(self, index: int) -> list[Prompt]:
        """Turns over one growing prefix; the assistant's part is made beforehand, so that every Build sees equal prompts."""
        plan = self.plan
        messages = list(self._opening(f"session {index}", plan.prompt_tokens))
        prompts = [Prompt(tuple(messages), plan.prompt_tokens, plan.max_tokens)]
        for turn in range(1, plan.turns):
            said = min(plan.max_tokens, plan.growth_tokens // 2)
            name = f"session {index} turn {turn}"
            messages.append(("assistant", self._join([], self._words(name + " said", said))))
            messages.append(("user", self._join([], self._words(name, plan.growth_tokens - said))))
            prompts.append(Prompt(tuple(messages), plan.prompt_tokens + turn * plan.growth_tokens, plan.max_tokens))
        return prompts

    def _blocks(self, index: int, blocks: Sequence[int], size: int, answer: int) -> Prompt:
        """A prompt of named blocks: equal names at the start of two prompts are a shared prefix, as the trace had it."""
        text = [word for block in blocks[: -(-size // BLOCK_TOKENS)] for word in self._words(f"block {block}", BLOCK_TOKENS)]
        text = text[:size] + self._words(f"prompt {index}", size - len(text))
        return Prompt((("user", self._join([], text)),), size, answer)

    def _rng(self, name: str) -> np.random.Generator:
        mixed = hashlib.sha256(f"{self.plan.seed}\0{self.plan.occasion}\0{name}".encode()).digest()
        return np.random.default_rng(int.from_bytes(mixed[:16], "big"))

    def _nonce(self, name: str) -> list[str]:
        return self._words(f"nonce {name}", NONCE_TOKENS)

    def _words(self, name: str, count: int) -> list[str]:
        """`count` tokens as words, line ends counted; the first can stand at the very start of a text."""
        if count <= 0:
            return []
        rng, vocabulary = self._rng(name), self.vocabulary
        first = vocabulary.first_words[int(rng.integers(len(vocabulary.first_words)))]
        picks = rng.integers(len(vocabulary.words), size=count - 1)
        return [first, *map(vocabulary.words.__getitem__, picks.tolist())]

    def _join(self, nonce: list[str], words: list[str]) -> str:
        """One text; where a line end is one token, every twelfth word gives its place to one."""
        parts = nonce + words
        if not self.vocabulary.lines:
            return " ".join(parts)
        text = [
            "\n" if place % WORDS_PER_LINE == WORDS_PER_LINE - 1 and place + 1 < len(parts) else f" {word}"
            for place, word in enumerate(parts)
        ]
        return "".join(text).removeprefix(" ")
