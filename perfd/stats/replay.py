"""Many Series, night by night, seeing only the past: every night is examined once, O(window) each.

The state of a Series is where its current segment began, the residuals of its closed segments and its tickets; nights between
two changes are examined together, so that both 10,000 Series of one night and one Series of 10,000 nights are few numpy calls.
Cost: docs/detection.md. Memory: three arrays of the input's shape.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perfd.stats.bars import BAR, SPREAD_BAR, step_bars, uneven
from perfd.stats.evidence import Evidence, autocorrelation_of, examine
from perfd.stats.nights import LASTING
from perfd.stats.shape import (
    Noise,
    place_of_step,
    relative_interval,
    robust_level,
    slope_before,
    spread_of_difference,
    step_over_drift,
)
from perfd.stats.track import WINDOW, Event, Replay, Track

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_ROWS = 4096
_MOST_NIGHTS = 256
_DRIFT_MARGIN = 4.0
_SETTLES = 20


def replay(values: Floats, lengths: Ints, bar: float = BAR, spread_bar: float = SPREAD_BAR, *, settle: bool = True) -> Replay:
    """Every Event of each Series; `values` is (Series, nights), each row filled from the left with `lengths` finite values.

    With `settle`, a step's place moves as later nights come; without, it stays where it was put when it was flagged.
    """
    done = _Replayer(values, lengths, bar, spread_bar)
    done.run()
    if settle:
        done.settle()
    return done.out


def tonight(values: Floats, lengths: Ints, tracks: Sequence[Track], judged: Ints | None = None, *, bar: float = BAR) -> Replay:
    """The newest value of each Series judged, the Tracks being what `replay` or `tonight` left the night before.

    `judged` says how many values of each Series the Tracks know, where that is not all but the newest. The Tracks given are
    not changed. O(window) a Series; only the new columns of the nightly arrays are filled.
    """
    done = _Replayer(values, lengths, bar, SPREAD_BAR)
    done.resume(tracks, np.maximum(lengths - 1, 0) if judged is None else judged)
    done.run()
    return done.out


class _Replayer:
    """The loop of `replay`, and the arrays that it fills."""

    def __init__(self, values: Floats, lengths: Ints, bar: float, spread_bar: float) -> None:
        self.values = np.ascontiguousarray(values, dtype=np.float64)
        self.lengths = lengths
        self.bar, self.spread_bar = bar, spread_bar
        self.closed = np.zeros_like(self.values)
        self.cursor = np.zeros(len(values), dtype=np.intp)
        self.start = np.zeros(len(values), dtype=np.intp)
        self.noise_start = np.zeros(len(values), dtype=np.intp)
        self.memory = np.full(len(values), np.nan)
        shape = self.values.shape
        nights = {name: np.zeros(shape, dtype=np.float32) for name in ("distance", "level", "scale", "phi", "step")}
        self.out = Replay([Track() for _ in range(shape[0])], np.zeros(shape, dtype=np.bool_), **nights)

    def resume(self, tracks: Sequence[Track], judged: Ints) -> None:
        """Goes on from what was remembered, with only the newest nights to be examined."""
        self.out.tracks = [replace(track, levels=list(track.levels), events=list(track.events)) for track in tracks]
        self.cursor = np.array(judged, dtype=np.intp)
        for one, track in enumerate(self.out.tracks):
            self.start[one], self.noise_start[one], self.memory[one] = track.start, track.noise_start, track.memory
            ends = [*(begin for begin, _ in track.levels), track.start][1:]
            for (begin, level), end in zip(track.levels, ends, strict=True):
                first = max(begin, 0)
                self.closed[one, first : max(end, 0)] = self.values[one, first : max(end, 0)] - level

    def run(self) -> None:
        """Examines until no Series has a night left."""
        while True:
            active = np.flatnonzero(self.cursor < self.lengths)
            if not len(active):
                return
            nights = int(np.clip(_ROWS // len(active), 1, _MOST_NIGHTS))
            for first in range(0, len(active), _ROWS):
                self._examine(active[first : first + _ROWS], nights)

    def settle(self) -> None:
        """Moves every step to where all nights put it."""
        for one, track in enumerate(self.out.tracks):
            self._settle(one, track)

    def _examine(self, series: Ints, nights: int) -> None:
        """Examines up to `nights` nights of each Series, and goes on after the first that changes its state."""
        night = self.cursor[series][:, None] + np.arange(nights)[None, :]
        due = night < self.lengths[series][:, None]
        who, when = np.broadcast_to(series[:, None], night.shape)[due], night[due]
        found = examine(*self._windows(who, when), self.memory[who])
        fires = (found.step >= step_bars(found, self.bar)) | uneven(found, self.spread_bar)
        self._record(who, when, found)
        stops = self.cursor[series] + due.sum(axis=1)
        self.cursor[series] = stops
        taken: set[int] = set()
        for row in np.flatnonzero(fires):
            one = int(who[row])
            if one not in taken and self._judge(one, int(when[row]), found, int(row)):
                taken.add(one)
                self.cursor[one] = when[row] + 1

    def _windows(self, who: Ints, when: Ints) -> tuple[Floats, Ints, Ints]:
        columns = when[:, None] - np.arange(WINDOW)[::-1][None, :]
        start, noise_start = self.start[who], self.noise_start[who]
        safe = np.maximum(columns, 0)
        current = columns >= start[:, None]
        window = np.where(current, self.values[who[:, None], safe], self.closed[who[:, None], safe])
        count = np.minimum(when + 1 - noise_start, WINDOW)
        segment = np.minimum(when + 1 - start, WINDOW)
        return window, count, segment

    def _record(self, who: Ints, when: Ints, found: Evidence) -> None:
        self.out.suspect[who, when] = found.suspect
        distance = (self.values[who, when] - found.level) / found.scale
        self.out.distance[who, when] = np.clip(distance, -1e6, 1e6)
        self.out.level[who, when] = found.level
        self.out.scale[who, when] = found.scale
        self.out.phi[who, when] = found.phi
        self.out.step[who, when] = found.step

    def _judge(self, one: int, now: int, found: Evidence, row: int) -> bool:
        """Whether the evidence changed the state of Series `one`, which then goes on from the next night."""
        if uneven(found, self.spread_bar)[row] and found.step[row] < step_bars(found, self.bar)[row]:
            return self._spread(one, now, found, row)
        return self._step(one, now, found, row)

    def _spread(self, one: int, now: int, found: Evidence, row: int) -> bool:
        split = now + 1 - int(found.spread_nights[row])
        begin = max(int(self.start[one]), now + 1 - WINDOW)
        values = self.values[one]
        if found.spread[row] < 0 and not _restlessness(values[begin:split]):
            return False
        ratio = _restlessness(values[split : now + 1]) / max(_restlessness(values[begin:split]), 1e-12)
        if not (ratio >= _RESTLESS_RATIO if found.spread[row] > 0 else ratio <= 1 / _RESTLESS_RATIO):
            return False
        level = float(found.level[row])
        if found.spread[row] > 0 and not _wider(
            values[split : now + 1] - level, values[begin:split] - level, float(found.scale[row])
        ):
            return False
        before, after = (
            float(np.std(np.clip(part - level, -6 * found.scale[row], 6 * found.scale[row])))
            for part in (self.values[one, begin:split], self.values[one, split : now + 1])
        )
        before = max(before, 1e-12)
        error = 1.96 * float(np.sqrt(1 / (split - begin) + 1 / (now + 1 - split)))
        interval = (after / before * math.exp(-error) - 1, after / before * math.exp(error) - 1)
        event = Event("variance", split, now, before, after, interval, abs(float(found.spread[row])))
        track = self.out.tracks[one]
        track.events.append(event)
        self._close(one, split, float(found.level[row]))
        self.memory[one] = track.memory = float(found.phi[row])
        self.noise_start[one] = split
        track.noise_start = split
        return True

    def _step(self, one: int, now: int, found: Evidence, row: int) -> bool:
        track = self.out.tracks[one]
        begin = max(int(self.start[one]), now + 1 - WINDOW)
        segment = self.values[one, begin : now + 1]
        scale, phi = float(found.scale[row]), float(found.phi[row])
        guess = len(segment) - int(found.step_nights[row])
        noise = self._noise(one, begin, guess, scale, phi)
        if not self._beyond_memory(one, (begin, now), found, row):
            return False
        margin = step_over_drift(segment, guess, noise, LASTING)
        nights = int(found.step_nights[row])
        leaning = slope_before(segment[:guess], scale, phi) * math.copysign(1, segment[-nights:].mean() - found.level[row])
        if margin < (1 - phi) * self._against_drift(track, nights, leaning=leaning >= _LEANING):
            track.waited += 1
            lean = int(margin < _FOR_DRIFT and nights >= _SLOW) - int(margin > 0)
            track.slopes = max(track.slopes + lean, 0)
            return track.slopes >= _SLOPES and self._drift(one, now, found, row, segment)
        split = place_of_step(segment, guess, noise, LASTING)
        before, after = robust_level(segment[:split], scale), robust_level(segment[split:], scale)
        spread = spread_of_difference(scale, phi, split, len(segment) - split)
        kind = "mode" if self._seen_before(one, begin + split, before, after, (scale, phi)) else "step"
        event = Event(kind, begin + split, now, before, after, relative_interval(before, after, spread), float(found.step[row]))
        track.events.append(event)
        self._close(one, begin + split, before)
        self.memory[one] = track.memory = float(found.phi[row])
        return True

    def _beyond_memory(self, one: int, span: tuple[int, int], found: Evidence, row: int) -> bool:
        """Whether the evidence stands with the autocorrelation that all nights show once the step is taken out of them.

        The evidence itself whitens by what the reference shows, which is short when a Series is young: where noise remembers
        more than that, its excursions look like steps, and show what they are themselves.
        """
        begin, now = span
        segment, nights = self.values[one, begin : now + 1], int(found.step_nights[row])
        guess, scale, before = len(segment) - nights, float(found.scale[row]), float(found.level[row])
        after = robust_level(segment[guess:], scale)
        first = max(int(self.noise_start[one]), now + 1 - WINDOW)
        old = self.closed[one, first:begin]
        left = np.concatenate([old, segment[:guess] - robust_level(segment[:guess], scale), segment[guess:] - after])
        phi = autocorrelation_of(left / scale, float(self.memory[one]))
        if phi <= found.phi[row]:
            return True
        noise = Noise.of(np.concatenate([old, segment[:guess] - before]), scale, phi)
        n, m = int(found.level_n[row]), nights
        evidence = noise.evidence(segment, guess, before, after) * n / (n + m)
        return bool(evidence >= step_bars(replace(found, phi=np.full_like(found.phi, phi)), self.bar)[row])

    def _against_drift(self, track: Track, nights: int, *, leaning: bool) -> float:
        """How much likelier than a drift a step must be: more the longer it took to show, less the longer it has lasted."""
        if leaning:
            return _SLOWEST + _DRIFT_MARGIN
        slow = float(np.clip(_SLOWNESS * (nights - _SOON), 0, _SLOWEST))
        return (_DRIFT_MARGIN if track.drifting else 0.0) + max(slow - _PATIENCE * track.waited, min(slow, _SURELY))

    def _drift(self, one: int, now: int, found: Evidence, row: int, segment: Floats) -> bool:
        track = self.out.tracks[one]
        if track.drifting:
            return False
        track.drifting = True
        scale = float(found.scale[row])
        third = len(segment) // 3
        before, after = robust_level(segment[:third], scale), robust_level(segment[-LASTING:], scale)
        spread = spread_of_difference(scale, float(found.phi[row]), third, LASTING)
        begin = now + 1 - len(segment)
        event = Event(
            "drift", begin + third, now, before, after, relative_interval(before, after, spread), float(found.step[row])
        )
        track.events.append(event)
        return False

    def _settle(self, one: int, track: Track) -> None:
        """Moves each step to where all nights up to the next one put it; its identity is the night that flagged it."""
        bounds = [event.index for event in track.events if event.kind in {"step", "mode", "variance"}]
        for place, event in enumerate(track.events):
            if event.kind not in {"step", "mode"}:
                continue
            begin = max([0, event.index - WINDOW, *(other for other in bounds if other < event.index)])
            end = min([int(self.lengths[one]), event.index + _SETTLES, *(other for other in bounds if other > event.index)])
            scale, phi = float(self.out.scale[one, event.flagged_at]), float(self.out.phi[one, event.flagged_at])
            noise = self._noise(one, begin, event.index - begin, scale, phi)
            split = place_of_step(self.values[one, begin:end], event.index - begin, noise, LASTING)
            track.events[place] = replace(event, index=begin + split)

    def _noise(self, one: int, begin: int, held: int, scale: float, phi: float) -> Noise:
        """The noise of the window's closed segments and of the current one before the change."""
        segment = self.values[one, begin : begin + held]
        first = max(int(self.noise_start[one]), begin + held - WINDOW)
        return Noise.of(np.concatenate([self.closed[one, first:begin], segment - robust_level(segment, scale)]), scale, phi)

    def _seen_before(self, one: int, split: int, before: float, after: float, noise: tuple[float, float]) -> bool:
        """Whether the Series has switched from here to there and back before: then a machine's mode did it, not a commit."""
        size, (scale, phi) = abs(after - before), noise
        levels = [level for _, level in self.out.tracks[one].levels]
        nights = LASTING if phi >= _REMEMBERS and size < _CLEAR * scale else LASTING - 1
        left_here = any(abs(level - before) <= 0.3 * size for level in levels)
        been_there = any(abs(level - after) <= 0.3 * size for level in levels)
        return (left_here and been_there) or (size >= 2.8 * scale and self._strayed_there(one, split, (before, after), nights))

    def _strayed_there(self, one: int, split: int, change: tuple[float, float], nights: int) -> bool:
        """Whether so many nights in a row of segments at other levels were near the new one."""
        before, after = change
        near = 0.3 * abs(after - before)
        levels = [*self.out.tracks[one].levels, (int(self.start[one]), before)]
        bounds = [begin for begin, _ in levels[1:]] + [split]
        for (begin, level), end in zip(levels, bounds, strict=True):
            there = np.abs(self.values[one, max(begin, 0) : max(end, 0)] - after) <= near
            held = len(there) >= nights and bool(np.any(np.convolve(there, np.ones(nights), "valid") >= nights))
            if abs(level - after) > near and held:
                return True
        return False

    def _close(self, one: int, split: int, level: float) -> None:
        """Ends the current segment before `split`: its residuals stay, its level no longer counts."""
        track = self.out.tracks[one]
        begin = int(self.start[one])
        self.closed[one, begin:split] = self.values[one, begin:split] - level
        track.levels.append((begin, level))
        track.start = split
        track.drifting = False
        track.slopes = track.waited = 0
        self.start[one] = split


_FOR_DRIFT = -0.5
_SLOW = 12
_SLOPES = 3
_REMEMBERS, _CLEAR = 0.4, 3.4
_LEANING = 3.0
_RESTLESS_RATIO = 1.6
_SPIKE = 5.0
_SOON, _SLOWNESS, _SLOWEST, _PATIENCE = 5, 0.3, 3.0, 0.25
_SURELY = 0.5


def _restlessness(values: Floats) -> float:
    """The median distance between neighbouring values, which neither a step nor a spike moves."""
    return float(np.median(np.abs(np.diff(values)))) if len(values) > 1 else 0.0


def _wider(new: Floats, old: Floats, scale: float) -> bool:
    """Whether nights are further from the level than before even without a spike of up to three of them."""
    plain = np.abs(new[np.abs(new) <= _SPIKE * scale])
    if len(new) - len(plain) > LASTING - 1:
        return True
    return bool(plain.mean() >= 1.5 * np.minimum(np.abs(old), _SPIKE * scale).mean())
