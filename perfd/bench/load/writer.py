"""Texts made of single-token words, by name: equal names give equal texts, another occasion gives fresh ones."""

import hashlib

import numpy as np

from perfd.bench.load.plan import PromptPlan
from perfd.bench.load.vocabulary import Vocabulary

NONCE_TOKENS = 8


class Writer:
    """Words by name: equal names (and seed, and occasion) give equal words."""

    def __init__(self, plan: PromptPlan, vocabulary: Vocabulary) -> None:
        self._mixed = f"{plan.seed}\0{plan.occasion}\0"
        self._vocabulary = vocabulary

    def rng(self, name: str) -> np.random.Generator:
        """Random numbers of that name."""
        mixed = hashlib.sha256((self._mixed + name).encode()).digest()
        return np.random.default_rng(int.from_bytes(mixed[:16], "big"))

    def words(self, name: str, count: int) -> list[str]:
        """`count` tokens as words; the first can stand at the very start of a text."""
        if count <= 0:
            return []
        rng, vocabulary = self.rng(name), self._vocabulary
        first = vocabulary.first_words[int(rng.integers(len(vocabulary.first_words)))]
        picks = rng.integers(len(vocabulary.words), size=count - 1)
        return [first, *map(vocabulary.words.__getitem__, picks.tolist())]

    def text(self, name: str, count: int) -> str:
        """`count` tokens as one text, line ends counted."""
        return self._vocabulary.join(self.words(name, count))

    def fresh(self, name: str, count: int) -> str:
        """As `text`, with a nonce at its very start: no other text of any Run begins alike."""
        nonce = self.words(f"nonce {name}", min(count, NONCE_TOKENS))
        return self._vocabulary.join(nonce + self.words(name, count - len(nonce)))
