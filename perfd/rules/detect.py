"""`perfd detect`: what changed in the Series of a file (series_file.py) becomes the answer of docs/design.md.

Missing nights are left out and counted; what a person should know before believing the answer is told in `notes`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perfd.domain.identity import Json
from perfd.domain.verdict import Change
from perfd.rules.changes import changes_of
from perfd.rules.series_file import SeriesIn
from perfd.stats.hindsight import in_hindsight
from perfd.stats.power import bar_of, smallest_effects
from perfd.stats.replay import replay
from perfd.stats.track import Replay

Floats = NDArray[np.float64]

NEEDED = 6
"""Values that a Series needs before anything is said of it."""
_UNIT_JUMP = (24.0, 60.0, 1000.0, 1024.0, 3600.0, 1e6, 1048576.0, 1e9)
"""Ratios of units that people confuse: hours, minutes, kilo, Ki, mega, Mi, giga."""


@dataclass(frozen=True)
class Detected:
    """What was found in one Series; indices count the file's values, missing nights included."""

    name: str
    changes: tuple[Change, ...]
    noise: Json
    mde: dict[int, float]
    notes: tuple[str, ...] = ()
    values: Floats = field(default_factory=lambda: np.zeros(0))


def detect(series: Sequence[SeriesIn], *, online: bool = False) -> list[Detected]:
    """What changed in each Series.

    Every night is judged with only its past. `online` says whether that stands (True), or whether places move to where all nights
    put them, and a Series that wanders by itself keeps only the steps that hindsight sees (False).
    """
    return [_detect(one, online=online) for one in series]


def answer(found: Sequence[Detected]) -> dict[str, Json]:
    """The JSON answer of `perfd detect --json` (docs/design.md, section 4)."""
    return {"series": {one.name: _told(one) for one in found}}


def _told(one: Detected) -> dict[str, Json]:
    return {
        "changes": [_change(change) for change in one.changes],
        "noise": one.noise,
        "mde": {str(nights): _finite(effect) for nights, effect in one.mde.items()},
        "notes": list(one.notes),
    }


def _change(change: Change) -> dict[str, Json]:
    return {
        "index": change.index,
        "kind": change.kind.value,
        "status": change.status.value,
        "flagged_at": change.flagged_at,
        "before": change.before,
        "after": change.after,
        "effect": change.effect,
        "interval": None if change.interval is None else list(change.interval),
        "q": change.q,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _detect(one: SeriesIn, *, online: bool) -> Detected:
    there = np.flatnonzero(~np.isnan(one.values))
    values = one.values[there]
    notes = list(one.notes)
    if len(values) < len(one.values):
        notes.append(f"{len(one.values) - len(values)} of {len(one.values)} nights are missing and were left out")
    notes += _doubts(values)
    if len(values) < NEEDED:
        notes.append(
            f"unsure: {len(values)} {'value' if len(values) == 1 else 'values'}, {NEEDED} are needed before anything can be said"
        )
        noise = {"relative": None, "absolute": None, "autocorrelation": None, "n": len(values)}
        return Detected(one.name, (), noise, {}, tuple(notes), one.values)
    found = replay(values[None, :], np.array([len(values)]), settle=not online)
    if not online:
        found.tracks[0].events = in_hindsight(values, found.tracks[0].events)
    changes = tuple(_placed(change, there) for change in changes_of(found, values))
    noise, mde = _noise(found, len(values))
    return Detected(one.name, changes, noise, mde, tuple(notes), one.values)


def _noise(found: Replay, n: int) -> tuple[Json, dict[int, float]]:
    level, scale, phi = (float(array[0, n - 1]) for array in (found.level, found.scale, found.phi))
    relative = scale / abs(level) if level else scale
    old = n - found.tracks[0].start
    noise = {
        "relative": _finite(relative),
        "absolute": scale,
        "autocorrelation": phi,
        "n": n,
        "level": level,
        "bar": _finite(bar_of(relative, phi, old)),
    }
    return noise, smallest_effects(relative, phi, old)


def _placed(change: Change, there: NDArray[np.intp]) -> Change:
    flagged = None if change.flagged_at is None else int(there[change.flagged_at])
    return Change(
        int(there[change.index]), change.kind, change.status, change.before, change.after, change.effect,
        change.interval, change.q, flagged,
    )  # fmt: skip


def _doubts(values: Floats) -> list[str]:
    """What a person should know before believing the answer."""
    notes = []
    if np.any(values < 0) and np.any(values > 0):
        notes.append("values change sign: effects are relative to the size of the level before, and mean little near zero")
    elif np.any(values == 0) and np.any(values != 0):
        notes.append(f"{int(np.count_nonzero(values == 0))} values are zero; from a zero level, effects are differences")
    jump = _unit_jump(values)
    if jump is not None:
        notes.append(jump)
    return notes


def _unit_jump(values: Floats) -> str | None:
    """Says so when the level jumps by the ratio of two units, as when seconds become milliseconds."""
    if len(values) < NEEDED or np.any(values <= 0):
        return None
    steps = np.log(values[1:] / values[:-1])
    place = int(np.argmax(np.abs(steps)))
    ratio = float(np.median(values[place + 1 :]) / np.median(values[: place + 1]))
    for unit in _UNIT_JUMP:
        if abs(math.log(max(ratio, 1 / ratio) / unit)) < 0.05:
            return f"the level changes by a factor of about {unit:g} at value {place + 1}: did the unit change there?"
    return None
