"""The Series that are replayed, and the state of each: where its segment and its noise began, and what closed segments left."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perfd.stats.noise import Noise
from perfd.stats.shape import robust_level
from perfd.stats.track import WINDOW, Track

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Histories:
    """Many Series side by side; `one` is always the row of a Series, and places count its values."""

    def __init__(self, values: Floats, tracks: Sequence[Track]) -> None:
        """`values` is (Series, nights); the Tracks given are not changed."""
        self.values = np.ascontiguousarray(values, dtype=np.float64)
        self.tracks = [replace(track, levels=list(track.levels), events=list(track.events)) for track in tracks]
        self.closed = np.zeros_like(self.values)
        """Residuals of closed segments, where there are any."""
        self.start = np.array([track.start for track in tracks], dtype=np.intp)
        self.noise_start = np.array([track.noise_start for track in tracks], dtype=np.intp)
        self.memory = np.array([track.memory for track in tracks], dtype=np.float64)
        for one, track in enumerate(self.tracks):
            ends = [*(begin for begin, _ in track.levels), track.start][1:]
            for (begin, level), end in zip(track.levels, ends, strict=True):
                first = max(begin, 0)
                self.closed[one, first : max(end, 0)] = self.values[one, first : max(end, 0)] - level

    def windows(self, who: Ints, when: Ints) -> tuple[Floats, Ints, Ints]:
        """For each pair of a Series and a night what `examine` takes: the window, how much of it is filled, and the segment."""
        columns = when[:, None] - np.arange(WINDOW)[::-1][None, :]
        start, noise_start = self.start[who], self.noise_start[who]
        safe = np.maximum(columns, 0)
        current = columns >= start[:, None]
        window = np.where(current, self.values[who[:, None], safe], self.closed[who[:, None], safe])
        count = np.minimum(when + 1 - noise_start, WINDOW)
        segment = np.minimum(when + 1 - start, WINDOW)
        return window, count, segment

    def begin(self, one: int, now: int) -> int:
        """Where the current segment begins, as far as the window reaches."""
        return max(int(self.start[one]), now + 1 - WINDOW)

    def left(self, one: int, begin: int, end: int) -> Floats:
        """The residuals that closed segments left before `begin`, as far as the window that ends with `end` reaches."""
        first = max(int(self.noise_start[one]), end - WINDOW)
        residuals: Floats = self.closed[one, first:begin]
        return residuals

    def noise(self, one: int, begin: int, end: int, scale: float, phi: float) -> Noise:
        """The noise of the window's closed segments and of the current one up to `end`."""
        segment = self.values[one, begin:end]
        return Noise.of(np.concatenate([self.left(one, begin, end), segment - robust_level(segment, scale)]), scale, phi)

    def close(self, one: int, split: int, level: float, phi: float) -> None:
        """Ends the current segment before `split`: its residuals stay, its level no longer counts."""
        track, begin = self.tracks[one], int(self.start[one])
        self.closed[one, begin:split] = self.values[one, begin:split] - level
        track.levels.append((begin, level))
        track.start = self.start[one] = split
        track.drifting, track.slopes = False, 0
        self.memory[one] = track.memory = phi

    def forget_noise(self, one: int, split: int) -> None:
        """Values before `split` tell nothing of today's noise any more."""
        self.noise_start[one] = self.tracks[one].noise_start = split

    def remember_noise(self, one: int, begin: int) -> None:
        """Values from `begin` on tell of today's noise again."""
        self.noise_start[one] = self.tracks[one].noise_start = begin
