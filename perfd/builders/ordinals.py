"""Ordinals that never go back: after a branch is rewritten, what stands on it now still counts as newer than what stood there.

Without rewriting, a commit's ordinal is its place along the first parents. A rewritten branch shares its first commits with the
old one; from there on its ordinals go on behind the old tip's, so that nights measure the new tip and Series keep their order.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

Shifts: TypeAlias = tuple[tuple[int, int], ...]
"""(place from which it holds, what is added to the place), in rising order of places."""


def ordinal(place: int, shifts: Shifts) -> int:
    """The ordinal of the commit at a place on the branch."""
    added = 0
    for start, shift in shifts:
        if start <= place:
            added = shift
    return place + added


def after_rewrite(old: Sequence[str], new: Sequence[str], shifts: Shifts) -> Shifts:
    """The shifts that order the new branch behind the old one; both are commits, oldest first, and `new` is not empty."""
    shared = 0
    while shared < min(len(old), len(new)) and old[shared] == new[shared]:
        shared += 1
    # A branch that was set back shares all of itself; its tip, an old commit, is then the newest thing there is.
    start = min(shared, len(new) - 1)
    newest = ordinal(len(old) - 1, shifts)
    return (*(entry for entry in shifts if entry[0] < start), (start, newest + 1 - start))


def read_shifts(path: Path) -> Shifts:
    """What was written, or nothing."""
    try:
        return tuple((int(start), int(shift)) for start, shift in json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return ()


def write_shifts(path: Path, shifts: Shifts) -> None:
    """Renamed from beside, so that a kill leaves the old ones or the new ones."""
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(shifts), encoding="utf-8")
    beside.replace(path)
