"""Retrieval, after RULER: a number hidden in a long text must be told again. The texts are our own, of an exact number of tokens.

With one key there is one needle; with more, needles for other keys stand around it (RULER's multi-key), so that finding any
number is not enough. The needle's depth runs evenly through the text over ten items, so that a blind spot shows as wrong items.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from perfd.bench.load.words import WORDS
from perfd.bench.tasks.items import Answer, Item, TaskItems
from perfd.domain.identity import Json
from perfd.errors import BadInputError

DEPTHS = 10
ITEMS = 60
"""Where the Workload names no number."""
PADS = (" and", " so", " then", ".", " a")
CHARACTERS_A_TOKEN = 4
OPENING = "Some numbers are hidden in this text. Remember them; you will be asked for one.\n\n"
NEEDLE = "The number of the {key} is {number}. "
QUESTION = "\n\nWhat is the number of the {key}? Answer with the number alone."
Count = Callable[[str], int]


@dataclass(frozen=True)
class Hidden:
    """What one item hides: the wanted key first, and where, as shares of the text."""

    keys: tuple[str, ...]
    numbers: tuple[str, ...]
    depths: tuple[float, ...]


def load(parameters: Mapping[str, Json], count: Count | None, seed: int) -> TaskItems:
    """The items; `count` counts a text's tokens, and where it is absent lengths are estimates and marked so."""
    tokens, keys = int(parameters["context_tokens"]), int(parameters["keys"])
    measure = count or (lambda text: len(text) // CHARACTERS_A_TOKEN)
    items, lengths = [], []
    for index in range(int(parameters["items"]) or ITEMS):
        rng = random.Random(f"{seed}/{tokens}/{keys}/{index}")  # noqa: S311 - an item is the same in every Run
        hidden = hide(rng, keys, (index % DEPTHS + 0.5) / DEPTHS)
        prompt = fitted(hidden, rng, tokens, measure)
        lengths.append(measure(prompt))
        number = hidden.numbers[0]
        items.append(Item(f"retrieval/{tokens}/{keys}/{index}", prompt, tells(number)))
    short = tokens - min(lengths)
    return TaskItems(
        tuple(items), "", {"context_tokens": tokens, "keys": keys, "tokens_short_of_it": short, "estimated": count is None}
    )


def hide(rng: random.Random, keys: int, depth: float) -> Hidden:
    """Different keys and seven-digit numbers; the wanted one at `depth`, the others anywhere."""
    names = rng.sample(WORDS, 2 * keys)
    numbers = rng.sample(range(1_000_000, 10_000_000), keys)
    pairs = tuple(f"{one} {other}" for one, other in zip(names[::2], names[1::2], strict=True))
    return Hidden(pairs, tuple(map(str, numbers)), (depth, *(rng.random() for _ in range(keys - 1))))


def fitted(hidden: Hidden, rng: random.Random, tokens: int, count: Count) -> str:
    """A prompt of exactly `tokens` tokens, or the few fewer that no padding could fill; raises BadInputError where none fits."""
    words = sentences(rng, 2 * tokens)
    low, high = 0, len(words)
    if count(written(hidden, words[:0])) > tokens:
        raise BadInputError(f"context_tokens = {tokens} does not hold the question; give more")
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(written(hidden, words[:middle])) <= tokens else (low, middle - 1)
    return padded(hidden, words[:low], tokens, count)


def padded(hidden: Hidden, words: Sequence[str], tokens: int, count: Count) -> str:
    """The text with short words at its end until it has `tokens` tokens."""
    text, pad = written(hidden, words), ""
    for _ in range(2 * len(PADS)):
        if count(text) >= tokens:
            break
        longer = ((one, written(hidden, words, pad + one)) for one in PADS)
        best = next(((one, whole) for one, whole in longer if count(text) < count(whole) <= tokens), None)
        if best is None:
            break
        pad, text = pad + best[0], best[1]
    return text


def sentences(rng: random.Random, count: int) -> list[str]:
    """`count` words in sentences of 6 to 14."""
    words: list[str] = []
    while len(words) < count:
        sentence = rng.choices(WORDS, k=rng.randint(6, 14))
        words += [sentence[0].capitalize(), *sentence[1:-1], sentence[-1] + "."]
    return words[:count]


def written(hidden: Hidden, words: Sequence[str], pad: str = "") -> str:
    """The prompt: needles stand where a sentence begins, nearest to their depths."""
    starts = [0, *(index + 1 for index, word in enumerate(words) if word.endswith("."))]
    at: dict[int, list[str]] = {}
    for key, number, depth in zip(hidden.keys, hidden.numbers, hidden.depths, strict=True):
        place = min(starts, key=lambda start: abs(start - depth * len(words)))
        at.setdefault(place, []).append(NEEDLE.format(key=key, number=number))
    parts = ["".join(at.get(index, ())) + word for index, word in enumerate(words)] + ["".join(at.get(len(words), ()))]
    return OPENING + " ".join(parts).strip() + pad + QUESTION.format(key=hidden.keys[0])


def tells(number: str) -> Callable[[Answer], bool]:
    """A check that the answer holds the number, however its digits are grouped."""
    return lambda answer: number in answer.text.replace(",", "").replace(" ", "")
