"""What the judge remembers of a Series from one night to the next, as JSON: places count nights back from the newest Point.

Places that count back stay right when a stage hands over only a window of the history. A Track is taken up again only where the
Points still tell the same story: the newest Point that it knows is among them, and the values before it are what they were.
Otherwise the Series is replayed, which costs more and gives the same answer.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfd.domain.identity import Json
from perfd.domain.past import Past
from perfd.stats.track import WINDOW, Event, Replay, Track

Floats = NDArray[np.float64]

FORMAT = 3
"""Tracks of another format are not taken up: the Series is replayed."""
LEVELS = 30
"""Old levels that are remembered."""
_ALIKE = 20
"""Values that must be what they were."""
_NIGHTLY = ("distance", "level", "scale", "phi")


@dataclass(frozen=True)
class Suspect:
    """A night that was suspect when it was the newest, and how it stood then."""

    night: int
    distance: float
    level: float
    scale: float
    phi: float


@dataclass(frozen=True)
class Memory:
    """A Track, its suspect nights and the steps that wait to be told; places count the Points that were handed over."""

    track: Track
    suspects: tuple[Suspect, ...] = ()
    waiting: frozenset[int] = frozenset()
    """Where steps begin that were found, but not yet beyond chance among all Series."""
    judged: int = 0
    """How many of the Points the Track knows."""


def take_up(stored: Mapping[str, Json] | None, points: Past, values: Floats) -> Memory:
    """The Memory of what was stored for these Points; an empty one where it does not fit them, or knows them all."""
    runs = points.runs
    if stored is None or stored.get("format") != FORMAT or stored.get("newest") not in runs[:-1]:
        return Memory(Track())
    newest = runs.index(str(stored["newest"]))
    if stored.get("values") != _mark(values[: newest + 1]):
        return Memory(Track())
    return _read(dict(stored), newest)


def to_store(found: Replay, row: int, memory: Memory, points: Past, values: Floats) -> dict[str, Json]:
    """What `take_up` needs tomorrow; less than 10 kB."""
    newest = len(points) - 1
    track = found.tracks[row]
    known = {one.night: one for one in memory.suspects}
    for night in np.flatnonzero(found.suspect[row, : newest + 1]):
        if int(night) not in known:
            known[int(night)] = Suspect(int(night), *(float(getattr(found, name)[row, night]) for name in _NIGHTLY))
    return {
        "format": FORMAT,
        "newest": points.runs[newest],
        "values": _mark(values),
        "start": newest - track.start,
        "noise_start": newest - track.noise_start,
        "drifting": track.drifting,
        "slopes": track.slopes,
        "memory": track.memory if math.isfinite(track.memory) else None,
        "levels": [[newest - begin, level] for begin, level in track.levels[-LEVELS:]],
        "events": [_event(event, newest) for event in track.events if event.index > newest - 4 * WINDOW],
        "suspects": [
            [newest - one.night, one.distance, one.level, one.scale, one.phi]
            for one in known.values()
            if one.night > newest - 2 * WINDOW
        ],
        "waiting": [newest - index for index in sorted(memory.waiting)],
    }


def fill(found: Replay, row: int, memory: Memory) -> None:
    """The nightly arrays know the suspect nights that are remembered."""
    for one in memory.suspects:
        if one.night >= 0:
            found.suspect[row, one.night] = True
            for name in _NIGHTLY:
                getattr(found, name)[row, one.night] = getattr(one, name)


def _mark(values: Floats) -> str:
    return hashlib.sha256(np.ascontiguousarray(values[-_ALIKE:]).tobytes()).hexdigest()[:16]


def _event(event: Event, newest: int) -> Json:
    numbers: list[Json] = [event.before, event.after, *event.interval, event.evidence]
    return [event.kind, newest - event.index, newest - event.flagged_at, *numbers]


def _read(stored: dict[str, Any], newest: int) -> Memory:
    track = Track(
        start=max(newest - stored["start"], 0),
        noise_start=max(newest - stored["noise_start"], 0),
        drifting=stored["drifting"],
        slopes=stored["slopes"],
        memory=math.nan if stored["memory"] is None else stored["memory"],
        levels=[(newest - back, level) for back, level in stored["levels"]],
        events=[
            Event(kind, newest - back, newest - flagged, before, after, (low, high), evidence)
            for kind, back, flagged, before, after, low, high, evidence in stored["events"]
        ],
    )
    suspects = tuple(Suspect(newest - back, *rest) for back, *rest in stored["suspects"])
    return Memory(track, suspects, frozenset(newest - back for back in stored["waiting"]), newest + 1)


def without_the_gone(track: Track) -> Track:
    """The Track less the events of Points that were not handed over."""
    if all(event.index >= 0 and event.flagged_at >= 0 for event in track.events):
        return track
    return replace(track, events=[event for event in track.events if event.index >= 0 and event.flagged_at >= 0])
