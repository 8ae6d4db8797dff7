"""`perfd detect`: what changed in the Series of a file (series_file.py) becomes the answer of docs/design.md.

Missing nights are left out and counted; what a person should know before believing the answer is told in `notes`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from perfd.domain.identity import Json
from perfd.domain.verdict import Change
from perfd.rules.changes import changes_of
from perfd.rules.series_given import NEEDED, Given, given, notes_of
from perfd.rules.series_in import SeriesIn
from perfd.stats.hindsight import in_hindsight
from perfd.stats.power import bar_of, smallest_effects
from perfd.stats.replay import replay as replayed
from perfd.stats.track import Replay

Floats = NDArray[np.float64]

_HORIZONS = (4, 7, 14)
_CELLS = 1 << 20
"""Values that are replayed together: numpy's calls cost as much for one Series of ten nights as for many."""


@dataclass(frozen=True)
class Detected:
    """What was found in one Series; indices count the file's values, missing nights included."""

    name: str
    changes: tuple[Change, ...]
    noise: Json
    mde: dict[int, float]
    notes: tuple[str, ...] = ()
    values: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def measured(self) -> int:
        """Nights that have a value."""
        return int(np.count_nonzero(~np.isnan(self.values)))


def detect(series: Sequence[SeriesIn], *, online: bool = False) -> list[Detected]:
    """What changed in each Series; raises BadInputError where a value is out of all proportion to its Series.

    Every night is judged with only its past. `online` says whether that stands (True), or whether places move to where all nights
    put them, and a Series that wanders by itself keeps only the steps that hindsight sees (False).
    """
    return [one for batch in _batches([given(one) for one in series]) for one in _judged(batch, online=online)]


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


def _batches(those: Sequence[Given]) -> Iterator[list[Given]]:
    """Series that are replayed together; they are padded to the longest of them."""
    batch: list[Given] = []
    longest = 0
    for one in those:
        longest = max(longest, len(one.values))
        if batch and (len(batch) + 1) * longest > _CELLS:
            yield batch
            batch, longest = [], len(one.values)
        batch.append(one)
    yield batch


def _judged(batch: Sequence[Given], *, online: bool) -> Iterator[Detected]:
    enough = [one for one in batch if len(one.values) >= NEEDED]
    found = _replayed(enough, online=online) if enough else None
    row = 0
    for one in batch:
        if found is None or len(one.values) < NEEDED:
            yield _unsure(one)
        else:
            yield _told_of(one, found, row)
            row += 1


def _replayed(those: Sequence[Given], *, online: bool) -> Replay:
    lengths = np.array([len(one.values) for one in those])
    values = np.zeros((len(those), int(lengths.max())))
    for row, one in enumerate(those):
        values[row, : lengths[row]] = one.values
    found = replayed(values, lengths, settle=not online)
    if not online:
        for one, track in zip(those, found.tracks, strict=True):
            track.events = in_hindsight(one.values, track.events)
    return found


def _unsure(one: Given) -> Detected:
    n = len(one.values)
    told = f"unsure: {n} {'value' if n == 1 else 'values'}, {NEEDED} are needed before anything can be said"
    noise = {"relative": None, "absolute": None, "autocorrelation": None, "n": n, "level": None, "bar": None}
    return Detected(one.file.name, (), noise, dict.fromkeys(_HORIZONS, math.inf), (*notes_of(one), told), one.file.values)


def _told_of(one: Given, found: Replay, row: int) -> Detected:
    changes = tuple(_placed(change, one) for change in changes_of(found, one.values, row))
    noise, mde = _noise(found, row, one)
    return Detected(one.file.name, changes, noise, mde, notes_of(one), one.file.values)


def _noise(found: Replay, row: int, one: Given) -> tuple[Json, dict[int, float]]:
    n = len(one.values)
    level, scale, phi = (float(array[row, n - 1]) for array in (found.level, found.scale, found.phi))
    relative = scale / abs(level) if level else scale * one.unit
    old = n - found.tracks[row].start
    noise = {
        "relative": _finite(relative),
        "absolute": scale * one.unit,
        "autocorrelation": phi,
        "n": n,
        "level": level * one.unit,
        "bar": _finite(bar_of(relative, phi, old)),
    }
    return noise, smallest_effects(relative, phi, old)


def _placed(change: Change, one: Given) -> Change:
    """The Change in the file's unit and places; from a level of zero, effects are differences and have the unit, too."""
    unit = 1.0 if change.before else one.unit
    interval = None if change.interval is None else (change.interval[0] * unit, change.interval[1] * unit)
    return replace(
        change,
        index=int(one.there[change.index]),
        before=change.before * one.unit,
        after=change.after * one.unit,
        effect=change.effect * unit,
        interval=interval,
        flagged_at=None if change.flagged_at is None else int(one.there[change.flagged_at]),
    )
