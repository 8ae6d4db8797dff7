"""How often a step is put at the wrong night, and how often the nights that a re-measurement looks around hold the right one.

    python tests/benchmarks/places.py          # prints the table of docs/confirming.md

One Series of Gaussian noise, 45 nights before the step and 30 after, seen night by night as the judge does. A step is found early
as a suspect, on one of its first four nights, or later, when the Series shows it. Development used seed 5.
"""

import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from perfd.domain.verdict import ChangeKind, ChangeStatus
from perfd.rules.changes import changes_of
from perfd.rules.place import places
from perfd.stats.replay import replay
from perfd.stats.track import Replay

SEED = 7201
SERIES = 500
STEP_AT, NIGHTS = 45, 75
NOISE = 0.01
SIZES = (1.5, 2.0, 3.0, 5.0)
"""In standard deviations of the noise."""
EARLY = 4
NEAR = 8
"""Nights by which an upward step may be off and still be this one."""


def first_seen(found: Replay, values: NDArray[np.float64], status: ChangeStatus) -> tuple[int, tuple[int, int]] | None:
    """Where the step was put when it was first seen so, and the first and the last night around it; None where it never was."""
    nights = range(STEP_AT, STEP_AT + EARLY if status is ChangeStatus.SUSPECT else NIGHTS)
    for night in nights:
        for change in changes_of(_until(found, night), values[: night + 1]):
            now = change.flagged_at == night if status is ChangeStatus.DETECTED else change.status is status
            step = change.kind is ChangeKind.STEP and change.after > change.before and abs(change.index - STEP_AT) <= NEAR
            if now and step:
                scale = float(found.scale[0, night])
                return change.index, places(values[: night + 1].tolist(), change.index, change.before, change.after, scale)
    return None


def _until(found: Replay, night: int) -> Replay:
    """The Replay as it stood after that night."""
    track = found.tracks[0]
    known = type(track)(events=[event for event in track.events if event.flagged_at <= night])
    return type(found)([known], found.suspect[:, : night + 1], found.distance, found.level, found.scale, found.phi, found.step)


def rows() -> Iterator[str]:
    """A line of the table for each size and way of being found."""
    rng = np.random.default_rng(SEED)
    for size in SIZES:
        values = 1.0 + NOISE * rng.standard_normal((SERIES, NIGHTS))
        values[:, STEP_AT:] += NOISE * size
        replays = [replay(row[None, :], np.array([NIGHTS]), settle=False) for row in values]
        for status in (ChangeStatus.SUSPECT, ChangeStatus.DETECTED):
            seen = [first_seen(found, row, status) for found, row in zip(replays, values, strict=True)]
            known = [one for one in seen if one is not None]
            right = sum(place == STEP_AT for place, _ in known) / len(known)
            held = sum(first <= STEP_AT <= last for _, (first, last) in known) / len(known)
            wide = float(np.mean([last + 1 - first for _, (first, last) in known]))
            yield f"| {size:g} sd | {status.value} | {len(known)} | {100 * right:.1f} | {100 * held:.1f} | {wide:.1f} |"


if __name__ == "__main__":
    sys.stdout.write(f"Seed {SEED}; {SERIES} Series a size.\n\n")
    sys.stdout.write("| step | seen as | found | put at the right night % | right night around % | nights around, mean |\n")
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for row in rows():
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()
