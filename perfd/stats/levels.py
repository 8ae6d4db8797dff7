"""Levels of many Series at once: what `shape.robust_level` gives of each."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_ROWS = 2048
"""Series that are laid side by side: more would only need more memory."""


def robust_levels(values: Sequence[Floats], begins: Ints, ends: Ints, scales: Floats) -> Floats:
    """The robust level of each row's values from its `begins` up to its `ends`, at least one; O(window log window) a row."""
    levels = np.empty(len(values))
    for first in range(0, len(values), _ROWS):
        some = slice(first, first + _ROWS)
        levels[some] = _levels([one[a:b] for one, a, b in zip(values[some], begins[some], ends[some], strict=True)], scales[some])
    return levels


def _levels(values: Sequence[Floats], scales: Floats) -> Floats:
    counts = np.array([len(one) for one in values])
    rows = np.arange(len(values))
    held = np.arange(counts.max())[None, :] < counts[:, None]
    laid = np.full(held.shape, np.inf)
    laid[held] = np.concatenate(values)
    ordered = np.sort(laid, axis=1)
    middle = (ordered[rows, (counts - 1) // 2] + ordered[rows, counts // 2]) / 2
    reach = 1.5 * scales[:, None]
    apart = np.where(held, np.clip(laid - middle[:, None], -reach, reach), 0.0)
    levels: Floats = middle + apart.sum(axis=1) / counts
    return levels
