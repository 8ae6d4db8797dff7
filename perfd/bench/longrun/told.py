"""Scored submissions on their way to the database: one JSON a line in a file beside the job, read while the Run goes on."""

import json
from pathlib import Path

from perfd.domain.codec import from_json, to_json
from perfd.domain.submission import Submission

FILE = "submissions.jsonl"


def tell(work: Path, submission: Submission) -> None:
    """The submission stands in the file, whole or not at all for whoever reads lines that end."""
    with (work / FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(to_json(submission), ensure_ascii=False) + "\n")


def read_new(work: Path, known: int) -> tuple[Submission, ...]:
    """Those after the first `known`; nothing where there is no file yet."""
    try:
        text = (work / FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    whole = text[: text.rfind("\n") + 1].splitlines()
    return tuple(from_json(Submission, json.loads(line)) for line in whole[known:])
