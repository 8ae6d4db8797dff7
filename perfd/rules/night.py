"""One night over many Series: all are judged in one pass, and false discoveries are held together.

    judged = judge_night({series.id: Touched(points, metric, policy, stored_track) for series in ...})
    judged[series.id].judgement, judged[series.id].track   # the track is JSON: store it, and hand it over tomorrow

A Series' own bar holds its false alarms near one in 10,000 nights whatever the others do; 10,000 Series would still raise one a
night. `control` (discoveries.py) therefore gives each Change of tonight a q, the false discovery rate at which it would be told,
and tells which are told at ten per cent; the others wait for another night's proof. What is counted (counted.py) has no noise, is
exact at once, and takes no part in it.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from perfd.domain.identity import Json
from perfd.domain.metric import Metric, MetricKind
from perfd.domain.past import Past
from perfd.domain.run import Point
from perfd.domain.verdict import Change, ChangeStatus, Judgement
from perfd.rules.blame import blamed
from perfd.rules.changes import changes_of, told
from perfd.rules.comparable import Comparable, too_few
from perfd.rules.counted import judge_counted
from perfd.rules.discoveries import LEVEL, control, harmonic
from perfd.rules.level import levels_of
from perfd.rules.policy import Policy
from perfd.rules.tracks import Memory, fill, take_up, to_store, without_the_gone
from perfd.rules.verdict import Seen, conclude
from perfd.stats.noise import evidence_since
from perfd.stats.replay import tonight
from perfd.stats.track import Event, Replay

Floats = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)

_PATIENCE = 30
"""Nights for which a step that is not beyond chance is asked again."""


@dataclass(frozen=True)
class Touched:
    """A Series that has a new Point tonight."""

    points: Sequence[Point] | Past
    """In order, oldest first, the newest last; the last 200 are enough where there is a track, else all that should be seen."""
    metric: Metric
    policy: Policy = field(default_factory=Policy)
    track: Mapping[str, Json] | None = None
    """What `judge_night` gave for this Series last time."""


@dataclass(frozen=True)
class Judged:
    """The Judgement of a Series tonight, its q among all Series, and what to remember of it."""

    judgement: Judgement
    track: Mapping[str, Json] | None
    """JSON; None where there are too few Points to remember anything."""


def judge_night(touched: Mapping[Key, Touched], level: float = LEVEL) -> dict[Key, Judged]:
    """Every Series judged with tonight's Points; a Change of tonight has its q, and is only a suspect where q is above `level`.

    A step that is not told tonight is asked again every night, with the evidence that has come since, for a month.
    O(window) for a Series whose track is handed over; the others are replayed.
    """
    alike = {key: Comparable.of(one.points) for key, one in touched.items() if len(one.points)}
    judged: dict[Key, Judged] = {}
    keys = []
    for key, one in touched.items():
        short = too_few(len(one.points), len(alike[key].points) if key in alike else 0, one.policy.reference + 1)
        if key in alike and one.metric.kind is MetricKind.STATIC:
            judged[key] = Judged(judge_counted(alike[key], len(one.points), one.metric, one.policy), None)
        elif short is not None:
            judged[key] = Judged(Judgement(short), one.track)
        else:
            keys.append(key)
    if keys:
        judged |= _judge(keys, touched, alike, level)
    return {key: judged[key] for key in touched}


def _judge(
    keys: Sequence[Key], touched: Mapping[Key, Touched], alike: Mapping[Key, Comparable], level: float
) -> dict[Key, Judged]:
    memories = [take_up(touched[key].track, alike[key].points, alike[key].values) for key in keys]
    found = _found([alike[key] for key in keys], memories)
    asked = {
        (row, event.index): told(event) for row, key in enumerate(keys) for event in _asked(found, row, alike[key], memories[row])
    }
    answers: list[dict[int, Change]] = [{} for _ in keys]
    series = sum(one.metric.kind is not MetricKind.STATIC for one in touched.values())
    for (row, place), change in control(asked, series, level).items():
        answers[row][place] = change
    times = series * harmonic(series)
    levels = levels_of(found, [alike[key].values for key in keys], [touched[key].policy for key in keys])
    return {
        key: _answered(Seen(alike[key], found, row, [], levels[row]), touched[key], memories[row], answers[row], times)
        for row, key in enumerate(keys)
    }


def _found(alike: Sequence[Comparable], memories: Sequence[Memory]) -> Replay:
    """All Series judged together, each from where its memory ends."""
    lengths = np.array([len(one.values) for one in alike])
    values = np.zeros((len(alike), int(lengths.max())))
    for row, one in enumerate(alike):
        values[row, : len(one.values)] = one.values
    found = tonight(values, lengths, [memory.track for memory in memories], np.array([memory.judged for memory in memories]))
    for row, memory in enumerate(memories):
        found.tracks[row] = without_the_gone(found.tracks[row])
        fill(found, row, memory)
    return found


def _asked(found: Replay, row: int, alike: Comparable, memory: Memory) -> list[Event]:
    """The events that are asked tonight: those of tonight, and those that wait, with what has come since."""
    last = len(alike.values) - 1
    events = found.tracks[row].events
    out = []
    for event in events:
        if event.flagged_at == last:
            out.append(event)
        elif event.index in memory.waiting and last - event.index <= _PATIENCE:
            out.append(event if event.kind == "variance" else _again(event, events, found, row, alike.values))
    return out


def _again(event: Event, events: Sequence[Event], found: Replay, row: int, values: Floats) -> Event:
    """The event with the evidence that has come since for its level; a change of spread is not about levels."""
    last = len(values) - 1
    end = min((other.index for other in events if other.index > event.index), default=last + 1)
    noise = float(found.scale[row, last]), float(found.phi[row, last])
    now = evidence_since(values[:end], event.index, event.before, *noise)
    return replace(event, evidence=max(event.evidence, now))


def _answered(seen: Seen, one: Touched, memory: Memory, answers: Mapping[int, Change], times: float) -> Judged:
    """The Judgement, and the memory with what is told from tonight on.

    Where nothing was asked, q is that of its likeliest step among all Series, were it the least of them: `times` its p.
    """
    alike, track = seen.alike, seen.found.tracks[seen.row]
    last = len(alike.values) - 1
    now_told = {place for place, change in answers.items() if change.status is ChangeStatus.DETECTED}
    track.events = [replace(event, flagged_at=last) if event.index in now_told else event for event in track.events]
    waiting = frozenset((memory.waiting | answers.keys()) - now_told)
    changes = [_as_answered(change, answers, waiting, last) for change in changes_of(seen.found, alike.values, seen.row)]
    seen = Seen(alike, seen.found, seen.row, blamed(changes, alike.points, one.policy), seen.level)
    judgement = conclude(seen, one.metric, one.policy, 1.0 if answers else times)
    memory = Memory(memory.track, memory.suspects, waiting)
    return Judged(judgement, to_store(seen.found, seen.row, memory, alike.points, alike.values))


def _as_answered(change: Change, answers: Mapping[int, Change], waiting: Collection[int], last: int) -> Change:
    if change.status is ChangeStatus.SUSPECT or (change.index not in answers and change.index not in waiting):
        return change
    answer = answers.get(change.index, replace(change, status=ChangeStatus.SUSPECT, flagged_at=None))
    return replace(change, status=answer.status, q=answer.q, flagged_at=last if answer.status is ChangeStatus.DETECTED else None)
