"""An answer as a file, for pipelines of two halves: one runs a fork's code and may not write, the other writes and runs nothing.

What the first half leaves is hostile: its code came from a fork. The reader takes numbers and words, never Markdown, addresses
or commands, and looks Metrics up in its own catalogue; what is shown is written and escaped by the reader.
"""

import json
import math
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from perfd.domain.answer import Answer, AnswerRow
from perfd.domain.codec import from_json, to_json
from perfd.domain.metric import METRICS
from perfd.errors import BadInputError

FORMAT = "perfd.answer/1"
LARGEST_BYTES = 2_000_000
MOST_ROWS = 2000
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def written(answer: Answer, pull: int | None) -> str:
    """The answer as JSON."""
    return json.dumps({"format": FORMAT, "pull": pull, "answer": to_json(answer)}, ensure_ascii=False)


def read_artefact(path: Path) -> tuple[Answer, int]:
    """The answer, and the pull request that it claims to be for; raises BadInputError for anything that is not one."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}") from None
    if len(text) > LARGEST_BYTES:
        raise BadInputError(f"{path}: has more than {LARGEST_BYTES:,} bytes; an answer of perfd's has a tenth of that")
    try:
        document = json.loads(text, parse_constant=_number, parse_float=_number)
        return _checked(document)
    except BadInputError as error:
        raise BadInputError(f"{path}: {error.message}") from None
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError, AttributeError) as error:
        raise BadInputError(f"{path}: is no {FORMAT} file ({type(error).__name__}); write it with `perfd ci --save`") from None


def _number(text: str) -> float:
    """A number that is one: neither NaN nor infinity, nor too large to be told from it."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _checked(document: dict[str, Any]) -> tuple[Answer, int]:
    pull = document["pull"]
    if document["format"] != FORMAT or type(pull) is not int or not 0 < pull < 2**31:
        raise BadInputError(f"expected {FORMAT} for the number of a pull request; write it with `perfd ci --save`")
    answer = from_json(Answer, document["answer"])
    if not _COMMIT.fullmatch(answer.head) or not _COMMIT.fullmatch(answer.against.commit):
        raise BadInputError("head and base must be full hashes of commits")
    if len(answer.rows) > MOST_ROWS or len(answer.unmeasured) > MOST_ROWS:
        raise BadInputError(f"more than {MOST_ROWS} rows")
    rows = tuple(_own(row) for row in answer.rows)
    command = shlex.join(["perfd", "compare", answer.against.commit, answer.head])
    return replace(answer, rows=rows, page="", plot="", reproduce=command), pull


def _own(row: AnswerRow) -> AnswerRow:
    """The row with the catalogue's Metric and without its link."""
    if row.metric.name not in METRICS:
        raise BadInputError("a metric that perfd does not know")
    return replace(row, metric=METRICS[row.metric.name], link="")
