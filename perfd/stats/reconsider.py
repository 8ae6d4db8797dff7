"""A wider spread that was a step after all.

Four nights of a small step after a restless week may look like a wider spread, which starts a new segment and forgets its
noise; the step then lies within the first nights of a segment whose level is hardly known, and would never be told. So the
segment that a wider spread began is held against the noise before it for some weeks: a step within it may be the better story.
"""

import numpy as np
from numpy.typing import NDArray

from perfd.stats.history import Histories
from perfd.stats.noise import Noise
from perfd.stats.residuals import marginal, residuals_of
from perfd.stats.shape import relative_interval, robust_level, spread_of_difference
from perfd.stats.track import WINDOW, Event

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_SHOWN = 8
"""Nights that a step must have lasted."""
_OLDEST = 60
"""Nights of a segment while it is asked."""
_KNOWN = 30
"""Nights before it that noise must be known from."""
_SURELY = 5.0
"""How much likelier than a wider spread the step must be."""


def in_doubt(past: Histories, who: Ints, when: Ints) -> NDArray[np.bool_]:
    """Where the current segment was begun by a change of spread, and is young."""
    start = past.start[who]
    age = when + 1 - start
    asked: NDArray[np.bool_] = (start > 0) & (past.noise_start[who] == start) & (age > _SHOWN) & (age < _OLDEST)
    return asked


def step_after_all(past: Histories, one: int, now: int, bar: float) -> bool:
    """Whether a step is told of the segment that a wider spread began; then the noise of the segment before it counts again."""
    track, start = past.tracks[one], int(past.start[one])
    began = [event for event in track.events if event.index == start]
    if [event.kind for event in began] != ["variance"] or began[0].after <= began[0].before:
        return False  # a step as well, which is told, or a spread that fell
    begin, level = track.levels[-1]
    old = past.values[one, max(begin, now + 1 - WINDOW, 0) : start]
    if len(old) < _KNOWN:
        return False
    every = np.ones((1, len(old)), dtype=np.bool_)
    left, _, scales = residuals_of(old[None, :], every, every)
    scale, new = float(scales[0]), past.values[one, start : now + 1] - level
    noise = Noise.of(left[0], scale, track.memory)
    places = np.arange(1, len(new) - _SHOWN + 1)
    after = np.array([robust_level(new[place:], scale) for place in places])
    stepped = noise.log_likelihood(new - np.where(np.arange(len(new)) >= places[:, None], after[:, None], 0.0))
    best, plain = int(np.argmax(stepped)), float(noise.log_likelihood(new[None, :])[0])
    place, rise = int(places[best]), float(after[best])
    known, shown = len(old) + place, len(new) - place
    worth = (stepped[best] - plain) * known / (known + shown)  # the level before is not known for sure, nor is the scale
    evidence = float(marginal(np.array([worth]), np.array([len(old)]))[0])
    if stepped[best] - noise.log_likelihood_of_wider(new) < _SURELY or evidence < bar:
        return False
    interval = relative_interval(level, level + rise, spread_of_difference(scale, track.memory, known, shown))
    track.events.append(Event("step", start + place, now, level, level + rise, interval, evidence))
    past.close(one, start + place, level, track.memory)
    past.remember_noise(one, max(begin, 0))
    return True
