"""A drift that hides itself: its own nights make noise look as if it remembered, so that no step is ever shown.

Noise is therefore taken from what a slope leaves, and the whole segment held against one level. Only what is far beyond doubt is
told this way; all other drifts are found where a step has been shown and a slope is the better story (step.py).
"""

import math

import numpy as np
from numpy.typing import NDArray

from perfd.stats.evidence import Evidence
from perfd.stats.fits import slope_residuals
from perfd.stats.history import Histories
from perfd.stats.nights import LASTING
from perfd.stats.noise import Noise
from perfd.stats.residuals import autocorrelation_of
from perfd.stats.shape import relative_interval, robust_level, spread_of_difference
from perfd.stats.track import Event

Floats = NDArray[np.float64]

REMEMBERS, SHOWN = 0.3, 5.0
"""Autocorrelation and evidence of a step from which on a drift is looked for."""
_SHORTEST, _NEEDED = 15, 24
_BEYOND_DOUBT = 30.0


def drift_told(past: Histories, one: int, now: int, found: Evidence, row: int) -> None:
    """Gives the segment of Series `one` its ticket where a slope explains it beyond doubt; it goes on as it is."""
    track, begin = past.tracks[one], past.begin(one, now)
    segment = past.values[one, begin : now + 1]
    if track.drifting or len(segment) < _NEEDED:
        return
    rows = slope_residuals(segment, float(found.scale[row]), _SHORTEST)
    sloped = rows[np.argmin(np.abs(rows).sum(axis=1))]
    scale = max(1.4826 * float(np.median(np.abs(sloped))), 1e-6 * abs(float(found.level[row])), 1e-12)
    phi = autocorrelation_of(sloped / scale, math.nan)
    noise = Noise.of(sloped, scale, phi)
    slope, level = noise.log_likelihood(np.stack([sloped, segment - robust_level(segment, scale)]))
    if slope - level < _BEYOND_DOUBT:
        return
    track.drifting = True
    third = len(segment) // 3
    before, after = robust_level(segment[:third], scale), robust_level(segment[-LASTING:], scale)
    interval = relative_interval(before, after, spread_of_difference(scale, phi, third, LASTING))
    track.events.append(Event("drift", begin + third, now, before, after, interval, float(slope - level)))
