"""Events of the detector become Changes; suspect nights that came to nothing are transients, the newest are suspects."""

import math
from statistics import median

import numpy as np
from numpy.typing import NDArray

from perfd.domain.verdict import Change, ChangeKind, ChangeStatus
from perfd.stats.shape import effect_of, relative_interval, spread_of_difference
from perfd.stats.track import Event, Replay

Floats = NDArray[np.float64]

_FAR = 2.5
"""Standard deviations that one night must be off to be logged; sums of two or three nights only make suspects."""
_SPIKE = 3
"""Nights that a spike lasts at most."""


def changes_of(found: Replay, values: Floats, row: int = 0) -> list[Change]:
    """Every Change of one Series of a Replay, by index; `values` are the Series' own."""
    events = found.tracks[row].events
    changes = [told(event) for event in events]
    taken = {event.index for event in events if event.kind != "variance"}
    changes += _spikes(found, values, row, taken)
    return sorted(changes, key=lambda change: change.index)


def standing_step(found: Replay, row: int = 0) -> int:
    """Where the current level begins."""
    return found.tracks[row].start


def told(event: Event) -> Change:
    """The Change that an event is; q is its p as long as no other Series is counted."""
    return Change(
        event.index,
        ChangeKind(event.kind),
        ChangeStatus.DETECTED,
        event.before,
        event.after,
        effect_of(event.before, event.after),
        event.interval,
        min(1.0, math.exp(-event.evidence)),
        event.flagged_at,
    )


def _spikes(found: Replay, values: Floats, row: int, taken: set[int]) -> list[Change]:
    """Suspect nights that came to nothing are transients, those that still stand at the end steps; neither is ever detected."""
    n = len(values)
    changes: list[Change] = []
    free = 0
    suspects = [int(night) for night in np.flatnonzero(found.suspect[row, :n])]
    for night in suspects:
        if night < free or any(abs(night - index) <= _SPIKE for index in taken):
            continue
        peak = max((one for one in suspects if 0 <= one - night < _SPIKE), key=lambda one: abs(float(found.distance[row, one])))
        begin, free = _run(found, values, row, peak)
        if night < begin:  # it was far off by itself before the spike came
            changes += _spike(found, values, row, night, (night, min(_run(found, values, row, night)[1], begin)))
        changes += _spike(found, values, row, peak, (begin, free))
    return changes


def _spike(found: Replay, values: Floats, row: int, night: int, span: tuple[int, int]) -> list[Change]:
    """The Change that a run of nights is, where it was short enough."""
    far = abs(float(found.distance[row, night])) >= _FAR
    short = span[1] - span[0] <= _SPIKE
    return [_seen(found, values, row, night, span)] if short and (far or span[1] == len(values)) else []


def _run(found: Replay, values: Floats, row: int, night: int) -> tuple[int, int]:
    """The nights around a suspect one that lie nearer to it than to the level, as [begin, end)."""
    level = float(found.level[row, night])
    half = (values[night] - level) / 2
    begin, end = night, night + 1
    if half == 0:  # back at the level: where noise remembers, that is what was unlikely after the night before
        return begin, end
    while begin > 0 and night - begin < _SPIKE and (values[begin - 1] - level) / half >= 1:
        begin -= 1
    while end < len(values) and end - begin <= _SPIKE and (values[end] - level) / half >= 1:
        end += 1
    return begin, end


def _seen(found: Replay, values: Floats, row: int, night: int, span: tuple[int, int]) -> Change:
    begin, end = span
    scale, phi = float(found.scale[row, night]), float(found.phi[row, night])
    before, after = float(found.level[row, night]), median(values[begin:end].tolist())
    interval = relative_interval(before, after, spread_of_difference(scale, phi, max(begin, 1), end - begin))
    kind = ChangeKind.TRANSIENT if end < len(values) else ChangeKind.STEP
    return Change(begin, kind, ChangeStatus.SUSPECT, before, after, effect_of(before, after), interval)
