"""Whether evidence of a step is told: it must stand with all that noise may remember, and be likelier than a slow drift."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from perfd.stats.bars import step_bars
from perfd.stats.evidence import Evidence
from perfd.stats.history import Histories
from perfd.stats.mode import seen_before
from perfd.stats.nights import LASTING
from perfd.stats.noise import Noise
from perfd.stats.placing import NEAR, near, place_of_step
from perfd.stats.residuals import autocorrelation_of, marginal
from perfd.stats.shape import relative_interval, robust_level, spread_of_difference
from perfd.stats.slope import step_over_drift
from perfd.stats.track import WINDOW, Event, Track

Floats = NDArray[np.float64]

_WAITED, _AGAINST_DRIFT = (8, 11, 24, 30), (1.15, 4.15, 3.15, 0.65)
"""How much likelier than a slope a step must be, by the nights that it took: the longest are those that tell both apart."""
_COUNTS, _USUAL, _AT_MOST = 0.8, 11.0, (-6.0, 3.0)
"""In the end it counts too how clearly something has changed: a small step has shown that much by then, a drift seldom has."""
_WANDERS, _REMEMBERS = 10.0, 0.25
_FOR_DRIFT, _SLOW, _SLOPES = -1.5, 12, 3
_SETTLES = 20
_FAR = 15
"""How far a place may move where many nights tell of it."""
_CLEAR, _OVER_SPREAD = (7.0, 10.0), (4.0, 2.0)
"""How much likelier than a wider spread a step must be, by its evidence: four nights of a clear step cannot say more."""


@dataclass(frozen=True)
class _Shown:
    """The best step of one Series tonight."""

    one: int
    now: int
    begin: int
    segment: Floats
    guess: int
    nights: int
    level: float
    scale: float
    phi: float
    evidence: float

    @classmethod
    def of(cls, past: Histories, one: int, now: int, found: Evidence, row: int) -> "_Shown":
        begin, nights = past.begin(one, now), int(found.step_nights[row])
        numbers = (float(array[row]) for array in (found.level, found.scale, found.phi, found.step))
        return cls(one, now, begin, past.values[one, begin : now + 1], now + 1 - begin - nights, nights, *numbers)

    def event(self, kind: str, split: int, levels: tuple[float, float], counts: tuple[int, int]) -> Event:
        spread = spread_of_difference(self.scale, self.phi, *counts)
        interval = relative_interval(*levels, spread)
        return Event(kind, self.begin + split, self.now, *levels, interval, self.evidence)


def step_told(past: Histories, one: int, now: int, found: Evidence, row: int, *, bar: float) -> bool:
    """Whether a step is told of Series `one`, which then goes on with a new segment; a drift gets its ticket and goes on."""
    shown = _Shown.of(past, one, now, found, row)
    if not _beyond_memory(past, shown, found, row, bar):
        return False
    states = bool(found.two_states[row])
    track = past.tracks[one]
    margin, phi = step_over_drift(shown.segment, (shown.scale, shown.phi), LASTING, track.memory, two_states=states)
    if margin < _against_drift(shown, phi):
        _lean(track, shown, margin)
        return False
    noise = past.noise(one, shown.begin, shown.begin + shown.guess, shown.scale, shown.phi)
    newest = noise.level_of(shown.segment[shown.guess :])
    needed = np.interp(shown.evidence, _CLEAR, _OVER_SPREAD)
    if noise.over_wider(shown.segment, shown.guess, shown.level, newest) < needed:
        return False
    late = shown.nights > _WAITED[2]  # it may have begun before the nights that evidence looks at
    places = near(shown.guess, len(shown.segment), LASTING, _FAR if late else NEAR)
    split = place_of_step(shown.segment, places, shown.guess, (shown.scale, shown.phi))
    before, after = (robust_level(part, shown.scale) for part in (shown.segment[:split], shown.segment[split:]))
    left = (int(past.start[one]), shown.begin + split)
    mode = seen_before(past.values[one], track.levels, left, (before, after), (shown.scale, shown.phi))
    track.events.append(shown.event("mode" if mode else "step", split, (before, after), (split, len(shown.segment) - split)))
    goes_on = track.drifting and _same_way(track.events, after - before)
    past.close(one, shown.begin + split, before, shown.phi)
    track.drifting = goes_on  # a step on the way of a drift does not end it: its ticket is out
    return True


def _same_way(events: list[Event], rise: float) -> bool:
    """Whether the last drift went the way of this rise; one that is older than what is remembered went nowhere."""
    drift = next((event for event in reversed(events) if event.kind == "drift"), None)
    return drift is not None and (drift.after - drift.before) * rise > 0


def settle(past: Histories, one: int, length: int, scale: Floats, phi: Floats) -> None:
    """Moves each step to where all nights up to the next one put it; its identity is the night that flagged it.

    `scale` and `phi` are the Series' own, by night.
    """
    track = past.tracks[one]
    bounds = [event.index for event in track.events if event.kind in {"step", "mode", "variance"}]
    for place, event in enumerate(track.events):
        if event.kind not in {"step", "mode"}:
            continue
        begin = max([0, event.index - WINDOW, *(other for other in bounds if other < event.index)])
        end = min([length, event.index + _SETTLES, *(other for other in bounds if other > event.index)])
        places = near(event.index - begin, end - begin, LASTING, _FAR)
        places = places[places <= event.flagged_at + 1 - LASTING - begin]  # so many nights had shown it when it was told
        noise = float(scale[event.flagged_at]), float(phi[event.flagged_at])
        split = place_of_step(past.values[one, begin:end], places, event.index - begin, noise)
        track.events[place] = replace(event, index=begin + split)


def _beyond_memory(past: Histories, shown: _Shown, found: Evidence, row: int, bar: float) -> bool:
    """Whether the evidence stands with the autocorrelation that all nights show once the step is taken out of them.

    The evidence itself whitens by what the reference shows, which is short when a Series is young: where noise remembers
    more than that, its excursions look like steps, and show what they are themselves.
    """
    old, new = shown.segment[: shown.guess], shown.segment[shown.guess :]
    after = robust_level(new, shown.scale)
    closed = past.left(shown.one, shown.begin, shown.now + 1)
    left = np.concatenate([closed, old - robust_level(old, shown.scale), new - after])
    phi = autocorrelation_of(left / shown.scale, float(past.memory[shown.one]))
    if phi <= shown.phi:
        return True
    noise = Noise.of(np.concatenate([closed, old - shown.level]), shown.scale, phi)
    n, m = int(found.level_n[row]), shown.nights
    plain = noise.evidence(shown.segment, shown.guess, shown.level, noise.level_of(new)) * n / (n + m)
    evidence = marginal(np.array([plain]), found.noise_n[row : row + 1] + m)[0]
    return bool(evidence >= step_bars(replace(found, phi=np.full_like(found.phi, phi)), bar)[row])


def _against_drift(shown: _Shown, phi: float) -> float:
    """How much likelier than a slope a step must be: less where noise remembers, which makes slopes of its own, as no news."""
    late = float(np.interp(shown.nights, _WAITED[2:], [0, 1]))
    clearly = late * _COUNTS * float(np.clip(shown.evidence - _USUAL, *_AT_MOST))
    needed = float(np.interp(shown.nights, _WAITED, _AGAINST_DRIFT)) - clearly
    return (1 - phi) * needed - _WANDERS * max(phi - _REMEMBERS, 0.0)


def _lean(track: Track, shown: _Shown, margin: float) -> None:
    """Counts the nights on which a slope is the better story, and gives the segment its ticket on the third."""
    lean = int(margin < _FOR_DRIFT and shown.nights >= _SLOW) - int(margin > 0)
    track.slopes = max(track.slopes + lean, 0)
    if track.slopes < _SLOPES or track.drifting:
        return
    track.drifting = True
    third = len(shown.segment) // 3
    levels = (robust_level(shown.segment[:third], shown.scale), robust_level(shown.segment[-LASTING:], shown.scale))
    track.events.append(shown.event("drift", third, levels, (third, LASTING)))
