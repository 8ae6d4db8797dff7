"""Words that add one token each for the model under test, so that a text has exactly the size that it should have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from perfd.bench.load.words import WORDS

Tokenize = Callable[[str], int]
"""How many tokens a text has for the model under test, without special tokens."""
WORDS_PER_LINE = 12
CHARACTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Tokens of a text where nothing is known of the tokenizer: four characters each."""
    return max(1, -(-len(text) // CHARACTERS_PER_TOKEN)) if text else 0


@dataclass(frozen=True)
class Vocabulary:
    """Words that add one token each, and whether that is known or believed."""

    words: tuple[str, ...]
    first_words: tuple[str, ...]
    """Words that are one token at the very start of a text too."""
    lines: bool
    """Whether a line end is one token more and nothing else."""
    exact: bool
    count: Tokenize = field(default=estimate_tokens, compare=False)
    """For texts that are not made of these words: tool schemas, needles, recorded messages."""

    def join(self, words: Sequence[str]) -> str:
        """One text; where a line end is one token, every twelfth word gives its place to one."""
        if not self.lines:
            return " ".join(words)
        last = len(words) - 1
        text = [
            "\n" if place % WORDS_PER_LINE == WORDS_PER_LINE - 1 and place < last else f" {word}"
            for place, word in enumerate(words)
        ]
        return "".join(text).removeprefix(" ")


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
    return Vocabulary(words, firsts, lines=tokenize(broken) == tokenize(plain) + 1, exact=tokenize(plain) == 9, count=tokenize)


def _single(tokenize: Tokenize, words: Sequence[str]) -> list[str]:
    """The words that are one token after a space, found by halving: few questions where most are."""
    if tokenize("".join(f" {word}" for word in words)) == len(words):
        return list(words)
    if len(words) == 1:
        return []
    half = len(words) // 2
    return _single(tokenize, words[:half]) + _single(tokenize, words[half:])
