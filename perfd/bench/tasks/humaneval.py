"""HumanEval: the engine completes a Python function, and the item's own tests run it in a sandbox; right where they all pass."""

import secrets
from collections.abc import Mapping

from perfd.bench.cage.run import Ended
from perfd.bench.tasks.folder import check_pinned, read_rows, taken, text_of
from perfd.bench.tasks.items import Answer, Item, Place, TaskItems
from perfd.bench.tasks.sandbox import check_sandbox, run_program
from perfd.domain.identity import Json

DATA = "HumanEval.jsonl"
STOP = ("\nclass ", "\ndef ", "\n#", "\nif ", "\nprint(", "\n```", "\nassert ")
"""Where the function has ended; the set of the paper (Chen et al. 2021), with the fence that chat models add."""


def load(parameters: Mapping[str, Json], place: Place, seed: int) -> TaskItems:  # noqa: ARG001 - every loader takes the same
    """The first items; raises BadInputError where programs cannot be kept apart from this host."""
    rows, sha256 = read_rows(place.folder, DATA, "HumanEval")
    pinned = check_pinned(str(parameters.get("data_sha256", "")), [sha256], "HumanEval")
    check_sandbox(place.work)
    items = tuple(_item(row, place) for row in taken(rows, int(parameters["items"])))
    return TaskItems(items, pinned)


def _item(row: Mapping[str, Json], place: Place) -> Item:
    name, prompt, tests, entry = (text_of(row, key, "HumanEval") for key in ("task_id", "prompt", "test", "entry_point"))
    return Item(name, prompt, lambda answer: passes(prompt, answer, tests, entry, place), chat=False, stop=STOP)


def passes(prompt: str, answer: Answer, tests: str, entry: str, place: Place) -> bool:
    """Whether the completed function passes; a program that ends before its tests do has not."""
    word = secrets.token_hex(16)
    program = f"{prompt}{answer.text}\n\n{tests}\n\ncheck({entry})\nprint({word!r})\n"
    ran = run_program(program, place.work)
    return ran.ended is Ended.WELL and ran.output.rstrip().endswith(word.encode())
