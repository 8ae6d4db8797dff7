"""Whether evidence of another spread is told: the nights must be restless by themselves, and not only for a spike."""

import math

import numpy as np
from numpy.typing import NDArray

from perfd.stats.evidence import Evidence
from perfd.stats.history import Histories
from perfd.stats.nights import LASTING
from perfd.stats.noise import Noise
from perfd.stats.shape import robust_level
from perfd.stats.track import Event

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_RESTLESS_RATIO = 1.5
_WIDER = 1.5
_SPIKE, _SPIKE_LEAST = 5.0, 3.0
"""How far off a spike's first and last nights are, and those between."""
_CLIP = 6.0
_OVER_STEP = -2.0
"""How much less likely than a wider spread a step must be where the spread is told."""
_REMEMBERS, _ON_ITS_WAY = 0.25, 5.0
"""Where noise remembers, a step waits for a higher bar; nights that say that much of one are not told as a spread meanwhile."""
_YOUNG, _OLDER = 8, 20
"""Nights of a segment while it is asked whether its step brought another spread along."""
_KNOWN = 40
"""Nights before it that noise must be known from for that."""
_BEYOND_SPIKE = 3.0
"""What a young segment's nights must say without the three in a row that say most."""


def variance_told(past: Histories, one: int, now: int, found: Evidence, row: int) -> bool:
    """Whether a change of spread is told of Series `one`, which then goes on with a new segment and without its old noise."""
    split, begin = now + 1 - int(found.spread_nights[row]), past.begin(one, now)
    level, scale, evidence = (float(found.level[row]), float(found.scale[row]), float(found.spread[row]))
    old, new = (past.values[one, begin:split] - level, past.values[one, split : now + 1] - level)
    if not _shown(old, new, scale, grew=evidence > 0):
        return False
    if found.phi[row] >= _REMEMBERS and found.step[row] >= _ON_ITS_WAY:
        return False
    noise = past.noise(one, begin, split, scale, float(found.phi[row]))
    if evidence > 0 and noise.over_wider(np.concatenate([old, new]), len(old), 0.0, robust_level(new, scale)) > _OVER_STEP:
        return False
    past.tracks[one].events.append(_event((split, now), (old, new), scale, abs(evidence)))
    past.close(one, split, level, float(found.phi[row]))
    past.forget_noise(one, split)
    return True


def young(past: Histories, who: Ints, when: Ints) -> NDArray[np.bool_]:
    """Where a segment is young enough to be asked whether its step brought another spread along."""
    age, start = when + 1 - past.start[who], past.start[who]
    asked: NDArray[np.bool_] = (age >= _YOUNG) & (age < _OLDER) & (start - past.noise_start[who] >= _KNOWN)
    return asked


def young_spread_told(past: Histories, one: int, now: int) -> bool:
    """Whether the nights since a step of Series `one` lie further apart than those before ever did: a step and another spread.

    A step is sometimes the first that is seen of a wider spread, and its segment is too young to hold nights out of it: the
    nights before tell what noise was.
    """
    start, track = int(past.start[one]), past.tracks[one]
    new, closed = past.values[one, start : now + 1], past.left(one, start, now + 1)
    if len(closed) < _KNOWN:
        return False
    scale = max(1.4826 * float(np.median(np.abs(closed))), 1e-6 * abs(float(np.median(new))), 1e-12)
    noise = Noise.of(closed, scale, track.memory)
    own = new - np.median(new)
    if _restlessness(new) < _RESTLESS_RATIO * _restlessness(closed) or _spiked(own, scale) or not _wider(own, closed, scale):
        return False
    gain = noise.gain_of_wider(own)
    three = np.convolve(gain, np.ones(LASTING - 1), "valid").max()
    if gain.sum() - three < _BEYOND_SPIKE:
        return False
    track.events.append(_event((start, now), (closed, own), scale, float(gain.sum())))
    past.forget_noise(one, start)
    return True


def _event(nights: tuple[int, int], parts: tuple[Floats, Floats], scale: float, evidence: float) -> Event:
    """The change of spread between `parts`, distances from their levels; `nights` are the first of the newer part and tonight."""
    before, after = (max(float(np.std(np.clip(part, -_CLIP * scale, _CLIP * scale))), 1e-12) for part in parts)
    error = 1.96 * math.sqrt(sum(1 / len(part) for part in parts))
    interval = (after / before * math.exp(-error) - 1, after / before * math.exp(error) - 1)
    return Event("variance", *nights, before, after, interval, evidence)


def _shown(old: Floats, new: Floats, scale: float, *, grew: bool) -> bool:
    """Whether neighbouring nights say it too, and, where the spread grew, the nights without a spike."""
    quiet = _restlessness(old)
    ratio = _restlessness(new) / max(quiet, 1e-12)
    if grew:
        if not np.ptp(old):  # what never varied has no spread that could have grown
            return False
        return ratio >= _RESTLESS_RATIO and not _spiked(new, scale) and _wider(_without_spike(new), old, scale)
    return quiet > 0 and ratio <= 1 / _RESTLESS_RATIO


def _spiked(distances: Floats, scale: float) -> bool:
    """Whether the only nights that are far off are two or three in a row on one side: a spike, as no wider spread makes it."""
    far = np.flatnonzero(np.abs(distances) > _SPIKE * scale)
    if not 2 <= len(far) < LASTING or far[-1] - far[0] >= LASTING - 1:
        return False
    spike = distances[far[0] : far[-1] + 1] * np.sign(distances[far[0]])
    return bool(spike.min() > _SPIKE_LEAST * scale)


def _restlessness(values: Floats) -> float:
    """The median distance between neighbouring values, which neither a step nor a spike moves."""
    return float(np.median(np.abs(np.diff(values)))) if len(values) > 1 else 0.0


def _without_spike(distances: Floats) -> Floats:
    """The distances less the three in a row that are farthest, which may be a spike."""
    far = np.convolve(np.abs(distances), np.ones(LASTING - 1), "valid")
    first = int(np.argmax(far))
    return np.delete(distances, slice(first, first + LASTING - 1))


def _wider(new: Floats, old: Floats, scale: float) -> bool:
    """Whether nights are further from the level than before even without a spike of up to three of them."""
    plain = np.abs(new[np.abs(new) <= _SPIKE * scale])
    if len(new) - len(plain) > LASTING - 1:
        return True
    return bool(plain.mean() >= _WIDER * np.minimum(np.abs(old), _SPIKE * scale).mean())
