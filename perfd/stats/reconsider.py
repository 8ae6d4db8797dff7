"""A wider spread that was a step after all.

Four nights of a small step after a restless week may look like a wider spread, which starts a new segment and forgets its
noise; the step then lies within the first nights of a segment whose level is hardly known, and would never be told. So the
segment that a wider spread began is held against the noise before it for some weeks: a step within it may be the better story.
"""

import numpy as np
from numpy.typing import NDArray

from perfd.stats.history import Histories
from perfd.stats.noise import Noise
from perfd.stats.shape import relative_interval, robust_level, spread_of_difference
from perfd.stats.track import Event

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_SHOWN = 8
"""Nights that a step must have lasted."""
_OLDEST = 60
"""Nights of a segment while it is asked."""
_KNOWN = 30
"""Nights before it that noise must be known from."""
_SURELY = 5.0
"""How much likelier than a wider spread the step must be, and than none."""


def in_doubt(past: Histories, who: Ints, when: Ints) -> NDArray[np.bool_]:
    """Where the current segment was begun by a change of spread, and is young."""
    start = past.start[who]
    age = when + 1 - start
    asked: NDArray[np.bool_] = (start > 0) & (past.noise_start[who] == start) & (age >= _SHOWN) & (age < _OLDEST)
    return asked


def step_after_all(past: Histories, one: int, now: int) -> bool:
    """Whether a step is told of the segment that a change of spread began; then the noise from before it counts again."""
    track, start = past.tracks[one], int(past.start[one])
    if [event.kind for event in track.events if event.index == start] != ["variance"]:
        return False  # it began with a step as well, which is told
    begin, level = track.levels[-1]
    old = past.values[one, max(begin, 0) : start] - level
    if len(old) < _KNOWN:
        return False
    scale = max(1.4826 * float(np.median(np.abs(old))), 1e-6 * abs(level), 1e-12)
    noise = Noise.of(old, scale, track.memory)
    new = past.values[one, start : now + 1] - level
    places = np.arange(len(new) - _SHOWN + 1)
    after = np.array([robust_level(new[place:], scale) for place in places])
    stepped = new - np.where(np.arange(len(new)) >= places[:, None], after[:, None], 0.0)
    likelihood = noise.log_likelihood(stepped)
    best = int(np.argmax(likelihood))
    plain = float(noise.log_likelihood(new[None, :])[0])
    if likelihood[best] - max(noise.log_likelihood_of_wider(new), plain) < _SURELY:
        return False
    split = start + int(places[best])
    counts = (len(old) + split - start, now + 1 - split)
    interval = relative_interval(level, level + after[best], spread_of_difference(scale, track.memory, *counts))
    event = Event("step", split, now, level, level + float(after[best]), interval, float(likelihood[best] - plain))
    track.events.append(event)
    past.close(one, split, level, track.memory)
    past.remember_noise(one, max(begin, 0))
    return True
