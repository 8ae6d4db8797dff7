"""Many Series, night by night, seeing only the past: every night is examined once, O(window) each.

The state of a Series is where its current segment began, the residuals of its closed segments and its tickets (history.py); what
changes it is told by step.py and variance.py. Nights between two changes are examined together, so that both 10,000 Series of one
night and one Series of 10,000 nights are few numpy calls. Cost: docs/detection.md. Memory: three arrays of the input's shape.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perfd.stats.apart import apart_told, hardly_known
from perfd.stats.bars import BAR, SPREAD_BAR, step_bars, uneven
from perfd.stats.drift import REMEMBERS, SHOWN, drift_told
from perfd.stats.evidence import Evidence, examine
from perfd.stats.history import Histories
from perfd.stats.reconsider import in_doubt, step_after_all
from perfd.stats.step import settle as settle_steps
from perfd.stats.step import step_told
from perfd.stats.track import Replay, Track
from perfd.stats.variance import variance_told, young, young_spread_told

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_ROWS = 4096
_MOST_NIGHTS = 256


def replay(values: Floats, lengths: Ints, bar: float = BAR, spread_bar: float = SPREAD_BAR, *, settle: bool = True) -> Replay:
    """Every Event of each Series; `values` is (Series, nights), each row filled from the left with `lengths` finite values.

    With `settle`, a step's place moves as later nights come; without, it stays where it was put when it was flagged.
    """
    done = _Replayer(Histories(values, [Track() for _ in values]), lengths, (bar, spread_bar))
    done.run(np.zeros(len(values), dtype=np.intp))
    if settle:
        done.settle()
    return done.out


def tonight(values: Floats, lengths: Ints, tracks: Sequence[Track], judged: Ints | None = None, *, bar: float = BAR) -> Replay:
    """The newest value of each Series judged, the Tracks being what `replay` or `tonight` left the night before.

    `judged` says how many values of each Series the Tracks know, where that is not all but the newest. The Tracks given are
    not changed. O(window) a Series; only the new columns of the nightly arrays are filled.
    """
    done = _Replayer(Histories(values, tracks), lengths, (bar, SPREAD_BAR))
    done.run(np.maximum(lengths - 1, 0) if judged is None else np.array(judged, dtype=np.intp))
    return done.out


class _Replayer:
    """The loop of `replay`, and the arrays that it fills."""

    def __init__(self, past: Histories, lengths: Ints, bars: tuple[float, float]) -> None:
        self.past, self.lengths = past, lengths
        self.bar, self.spread_bar = bars
        shape = past.values.shape
        nights = {name: np.zeros(shape, dtype=np.float32) for name in ("distance", "level", "scale", "phi", "step")}
        self.out = Replay(past.tracks, np.zeros(shape, dtype=np.bool_), **nights)

    def run(self, cursor: Ints) -> None:
        """Examines until no Series has a night left; `cursor` is the next night of each."""
        while True:
            active = np.flatnonzero(cursor < self.lengths)
            if not len(active):
                return
            nights = int(np.clip(_ROWS // len(active), 1, _MOST_NIGHTS))
            for first in range(0, len(active), _ROWS):
                self._examine(cursor, active[first : first + _ROWS], nights)

    def settle(self) -> None:
        """Moves every step to where all nights put it."""
        for one in range(len(self.lengths)):
            settle_steps(self.past, one, int(self.lengths[one]), self.out.scale[one], self.out.phi[one])

    def _examine(self, cursor: Ints, series: Ints, nights: int) -> None:
        """Examines up to `nights` nights of each Series, and goes on after the first that changes its state."""
        night = cursor[series][:, None] + np.arange(nights)[None, :]
        due = night < self.lengths[series][:, None]
        who, when = np.broadcast_to(series[:, None], night.shape)[due], night[due]
        found = examine(*self.past.windows(who, when), self.past.memory[who])
        fresh, unsure = young(self.past, who, when), hardly_known(self.past, who, when)
        doubted = in_doubt(self.past, who, when)
        step, spread = (found.step >= step_bars(found, self.bar), uneven(found, self.spread_bar))
        self._record(who, when, found)
        cursor[series] += due.sum(axis=1)
        taken: set[int] = set()
        for row in np.flatnonzero(step | spread | fresh | unsure | doubted | ((found.phi >= REMEMBERS) & (found.step >= SHOWN))):
            one, now = int(who[row]), int(when[row])
            if one in taken:
                continue
            if (
                (unsure[row] and apart_told(self.past, one, now))
                or (step[row] and step_told(self.past, one, now, found, int(row), bar=self.bar))
                or (spread[row] and not step[row] and variance_told(self.past, one, now, found, int(row)))
                or (fresh[row] and young_spread_told(self.past, one, now))
                or (doubted[row] and step_after_all(self.past, one, now, self.bar))
            ):
                taken.add(one)
                cursor[one] = now + 1
            elif found.phi[row] >= REMEMBERS:
                drift_told(self.past, one, now, found, int(row))

    def _record(self, who: Ints, when: Ints, found: Evidence) -> None:
        self.out.suspect[who, when] = found.suspect
        distance = (self.past.values[who, when] - found.level) / found.scale
        self.out.distance[who, when] = np.clip(distance, -1e6, 1e6)
        for name in ("level", "scale", "phi", "step"):
            getattr(self.out, name)[who, when] = getattr(found, name)
