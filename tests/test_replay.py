"""A frozen history is judged again. A refactor gives the same Verdicts; a better rule shows its differences in the diff.

After a change that is meant: `python tests/replay_history.py`, and read `git diff tests/replay.json`.
"""

import json

import pytest
from replay_history import FILE, judged

FROZEN = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FROZEN)
def test_the_frozen_history_is_judged_as_it_was(name: str) -> None:
    series = FROZEN[name]

    assert series["judged"] == judged(series["metric"], json.loads(series["values"]))
