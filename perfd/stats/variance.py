"""Whether evidence of another spread is told: the nights must be restless by themselves, and not only for a spike."""

import math

import numpy as np
from numpy.typing import NDArray

from perfd.stats.evidence import Evidence
from perfd.stats.history import Histories
from perfd.stats.nights import LASTING
from perfd.stats.track import Event

Floats = NDArray[np.float64]

_RESTLESS_RATIO = 1.6
_WIDER = 1.5
_SPIKE = 5.0
_CLIP = 6.0


def variance_told(past: Histories, one: int, now: int, found: Evidence, row: int) -> bool:
    """Whether a change of spread is told of Series `one`, which then goes on with a new segment and without its old noise."""
    split, begin = now + 1 - int(found.spread_nights[row]), past.begin(one, now)
    level, scale, evidence = (float(found.level[row]), float(found.scale[row]), float(found.spread[row]))
    old, new = (past.values[one, begin:split] - level, past.values[one, split : now + 1] - level)
    if not _shown(old, new, scale, grew=evidence > 0):
        return False
    before, after = (max(float(np.std(np.clip(part, -_CLIP * scale, _CLIP * scale))), 1e-12) for part in (old, new))
    error = 1.96 * math.sqrt(1 / len(old) + 1 / len(new))
    interval = (after / before * math.exp(-error) - 1, after / before * math.exp(error) - 1)
    past.tracks[one].events.append(Event("variance", split, now, before, after, interval, abs(evidence)))
    past.close(one, split, level, float(found.phi[row]))
    past.forget_noise(one, split)
    return True


def _shown(old: Floats, new: Floats, scale: float, *, grew: bool) -> bool:
    """Whether neighbouring nights say it too, and, where the spread grew, the nights without a spike."""
    quiet = _restlessness(old)
    ratio = _restlessness(new) / max(quiet, 1e-12)
    if grew:
        return ratio >= _RESTLESS_RATIO and not _spiked(new, scale) and _wider(_without_spike(new), old, scale)
    return quiet > 0 and ratio <= 1 / _RESTLESS_RATIO


def _spiked(distances: Floats, scale: float) -> bool:
    """Whether the only nights that are far off are two or three in a row on one side: a spike, as no wider spread makes it."""
    far = np.flatnonzero(np.abs(distances) > _SPIKE * scale)
    alone = 2 <= len(far) < LASTING and far[-1] - far[0] == len(far) - 1
    return bool(alone and abs(np.sign(distances[far]).sum()) == len(far))


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
