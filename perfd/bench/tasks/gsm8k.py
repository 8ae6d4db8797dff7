"""GSM8K: grade-school word problems, answered after worked examples; right where the final number is the gold one.

The number after "####" counts, as the examples show it; where there is none, the last number of the answer. (lm-eval calls the
first strict-match and the second flexible-extract; a model is not to be failed for its format.)
"""

import re
from collections.abc import Callable, Mapping

from perfd.bench.tasks.folder import check_pinned, read_rows, taken, text_of
from perfd.bench.tasks.items import Answer, Item, Place, TaskItems
from perfd.domain.identity import Json
from perfd.errors import BadInputError

TEST, EXAMPLES = "gsm8k_test.jsonl", "gsm8k_train_first400.jsonl"
STOP = ("Question:", "</s>", "<|im_end|>")
MARKED = re.compile(r"####\s*\$?\s*(-?[\d,]*\.?\d+)")
NUMBER = re.compile(r"-?\$?\d[\d,]*(?:\.\d+)?")


def load(parameters: Mapping[str, Json], place: Place, seed: int) -> TaskItems:  # noqa: ARG001 - every loader takes the same
    """The first items of the test set, each after the first `shots` worked examples."""
    rows, sha256 = read_rows(place.folder, TEST, "GSM8K")
    shots, hashes = int(parameters["shots"]), [sha256]
    shown = ""
    if shots:
        worked, examples_sha256 = read_rows(place.folder, EXAMPLES, "GSM8K")
        hashes.append(examples_sha256)
        shown = "".join(f"Question: {text_of(one, 'question', 'GSM8K')}\nAnswer: {one['answer']}\n\n" for one in worked[:shots])
    pinned = check_pinned(str(parameters.get("data_sha256", "")), hashes, "GSM8K")
    chosen = taken(rows, int(parameters["items"]))
    items = tuple(_item(index, row, shown) for index, row in enumerate(chosen))
    return TaskItems(items, pinned, {"shots": shots})


def _item(index: int, row: Mapping[str, Json], shown: str) -> Item:
    gold = final_number(text_of(row, "answer", "GSM8K"))
    if gold is None:
        raise BadInputError(f"item {index} of GSM8K has no number in its answer")
    prompt = f"{shown}Question: {text_of(row, 'question', 'GSM8K')}\nAnswer:"
    return Item(f"gsm8k/{index}", prompt, _is(gold), chat=False, stop=STOP)


def _is(gold: float) -> Callable[[Answer], bool]:
    return lambda answer: final_number(answer.text) == gold


def final_number(text: str) -> float | None:
    """The marked number, or the last one; absent where there is none."""
    marked, plain = MARKED.findall(text), NUMBER.findall(text)
    found = marked[-1:] or plain[-1:]
    digits = found[0].replace(",", "").replace("$", "") if found else ""
    return float(digits) if digits else None
