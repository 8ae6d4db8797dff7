"""Long prompts with needles: facts hidden in a long text, and a question whose right answer names them."""

import numpy as np

from perfd.bench.load.messages import Message, Prompt
from perfd.bench.load.plan import PromptPlan
from perfd.bench.load.sizes import SessionSize
from perfd.bench.load.vocabulary import Vocabulary
from perfd.bench.load.writer import Writer

LEAST_VALUE, MOST_VALUE = 1_000_000, 9_999_999


def prompts(plan: PromptPlan, writer: Writer, vocabulary: Vocabulary, index: int, size: SessionSize) -> list[Prompt]:
    """One prompt a turn, all over the same text: the first reads it, each further one asks about other needles in it."""
    name = f"session {index}"
    rng = writer.rng(f"needles {index}")
    keys = _keys(writer, name, plan.needles)
    values = [str(value) for value in rng.choice(np.arange(LEAST_VALUE, MOST_VALUE), size=plan.needles, replace=False)]
    facts = [f" The secret number of {key} is {value}." for key, value in zip(keys, values, strict=True)]
    asked = [rng.choice(plan.needles, size=plan.asked_needles, replace=False).tolist() for _ in size.turns]
    questions = [question([keys[at] for at in ones]) for ones in asked]
    whole = size.turns[0].new_tokens
    # The first question decides how long the text is; another one may be a token longer or shorter.
    spare = whole - sum(vocabulary.count(fact) for fact in facts) - vocabulary.count(questions[0])
    text = _hidden(writer.fresh(name, max(1, spare)), facts, rng)
    return [
        Prompt(
            (Message("user", text + asking),),
            whole + vocabulary.count(asking) - vocabulary.count(questions[0]),
            turn.answer_tokens,
            think_s=turn.think_s,
            wanted=tuple(values[at] for at in ones),
        )
        for turn, ones, asking in zip(size.turns, asked, questions, strict=True)
    ]


def question(keys: list[str]) -> str:
    """What is asked after the text."""
    return f" Which secret numbers do {' and '.join(keys)} have? Answer with the numbers alone, in that order."


def _keys(writer: Writer, name: str, count: int) -> list[str]:
    """Two words each, and no two alike."""
    words = writer.words(f"{name} keys", 2 * count)
    return [f"{words[2 * at]} {words[2 * at + 1]} {at + 1}" for at in range(count)]


def _hidden(text: str, facts: list[str], rng: np.random.Generator) -> str:
    """The text with the facts in it, one in each equal part, at a place of its own; only at spaces, so that no word is cut."""
    places = [(at + rng.random()) / len(facts) for at in range(len(facts))]
    cuts = [text.find(" ", int(place * len(text))) for place in places]
    pieces, start = [], 0
    for cut, fact in zip(cuts, facts, strict=True):
        end = len(text) if cut < 0 else max(cut, start)
        pieces += [text[start:end], fact]
        start = end
    return "".join([*pieces, text[start:]])


def score(wanted: tuple[str, ...], said: str) -> float | None:
    """Share of the wanted numbers that the answer holds; absent where nothing is wanted."""
    if not wanted:
        return None
    return sum(value in said for value in wanted) / len(wanted)
