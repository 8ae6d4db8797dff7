"""Steps and slopes fitted to nights by least squares, one model a row."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_CLIP = 3.0
_EVERY = 3
"""Nights between the beginnings that are tried of a slope."""


def less_step(values: Floats, places: Ints) -> Floats:
    """`values`, one row or one for each place, less their means before and after each place."""
    n = values.shape[1]
    total = np.broadcast_to(np.cumsum(values, axis=1), (len(places), n))
    sums = total[np.arange(len(places)), places - 1]
    before, after = sums / places, (total[:, -1] - sums) / (n - places)
    left: Floats = values - np.where(np.arange(n)[None, :] >= places[:, None], after[:, None], before[:, None])
    return left


def less_slope(values: Floats, slopes: Floats) -> Floats:
    """`values`, one row or one for each slope, less a level and each slope."""
    basis = slopes - slopes.mean(axis=1, keepdims=True)
    height = (basis * values).sum(axis=1) / np.maximum((basis**2).sum(axis=1), 1e-12)
    left = values - height[:, None] * slopes
    return np.asarray(left - left.mean(axis=1, keepdims=True))


def slopes_of(n: int, shortest: int) -> Floats:
    """Levels of 0 that begin to slope by 1 a night, one row for each of their beginnings."""
    slopes: Floats = np.maximum(np.arange(n)[None, :] - np.arange(0, n - shortest + 1, _EVERY)[:, None], 0).astype(np.float64)
    return slopes


def step_residuals(values: Floats, scale: float, lasting: int) -> Floats:
    """What is left of `values` by one step, a row for each of its places; both levels are means without spikes."""
    calm = _without_spikes(values, scale)
    residuals: Floats = values - calm + less_step(calm[None, :], np.arange(lasting, len(values) - lasting + 1))
    return residuals


def slope_residuals(values: Floats, scale: float, shortest: int) -> Floats:
    """What is left of `values` by a level that begins to slope, one row for each of its beginnings; it slopes to the end."""
    calm = _without_spikes(values, scale)
    left = values - calm + less_slope(calm[None, :], slopes_of(len(values), shortest))
    middle = np.median(left, axis=1, keepdims=True)
    residuals: Floats = left - middle - np.clip(left - middle, -1.5 * scale, 1.5 * scale).mean(axis=1, keepdims=True)
    return residuals


def _without_spikes(values: Floats, scale: float) -> Floats:
    """Each value clipped to within three standard deviations of the median of the seven around it."""
    padded = np.concatenate([values[3:0:-1], values, values[-2:-5:-1]])
    around = np.median(np.lib.stride_tricks.sliding_window_view(padded, 7), axis=1)
    return np.clip(values, around - _CLIP * scale, around + _CLIP * scale)
