"""Whether the newest one to three nights are outside what noise allows and what the Series ever showed: they may be a spike."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfd.stats.noise import WINSOR, WINSORISED

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

SUMS = (2.7, 3.06, 3.06)
_NEVER_NEEDED, _NEVER_NEEDED_SUM, _SUSPECT_MEMORY = 2.85, 3.08, 0.06
BEYOND = 3.0
_CROWD = 0.075
_HEAVY = 0.015
"""Share of the reference nights beyond three standard deviations from which on tails are heavy."""
_EVER = 1.12
"""How far beyond what was ever shown a suspect must be where tails are not light."""
_LEAST = 0.5
"""Where most nights are alike, the few others must not look farther than they are."""


def _standardised(white: Singles, reference: Bools) -> Singles:
    """`white` in standard deviations that all reference nights tell of, cut at two.

    The median distance, which they come in, is known half as well: where it was unlucky and small, a third of the nights looked
    like heavy tails, and a step of five standard deviations was no suspect.
    """
    power = np.where(reference, np.minimum(white**2, WINSOR**2), 0).sum(axis=1) / np.maximum(reference.sum(axis=1), 1)
    deviation = np.sqrt(power / WINSORISED)
    standard: Singles = white / np.maximum(deviation, _LEAST).astype(np.float32)[:, None]
    return standard


def suspects(white: Singles, reference: Bools, phi: Singles) -> Bools:
    """Whether a sum of the last one, two or three nights is larger than noise allows and than the reference ever was."""
    white = _standardised(white, reference)
    found = np.zeros(len(white), dtype=np.bool_)
    n = np.maximum(reference.sum(axis=1), 1)
    beyond = (reference & (np.abs(white) > BEYOND)).sum(axis=1)
    heavy = beyond >= _HEAVY * n
    light = (beyond <= 1) & (phi < 0.4) & ((reference & (np.abs(white) > 2)).sum(axis=1) <= _CROWD * n)
    for nights, bar in enumerate(SUMS, start=1):
        if nights > white.shape[1]:
            break
        cut = white if nights == 1 else np.clip(white, -3, 3)
        sums = cut.copy()
        inside = reference.copy()
        for back in range(1, nights):
            sums[:, back:] += cut[:, :-back]
            inside[:, back:] &= reference[:, :-back]
        sums = np.abs(sums) / np.float32(np.sqrt(nights))
        largest = np.max(np.where(inside, sums, 0), axis=1)
        few = 10 / n * np.minimum(1, 40 / n) if nights == 1 else 8 / n * np.minimum(1, 70 / n)
        ever = np.where(light, np.minimum(1.05 * largest, _NEVER_NEEDED if nights == 1 else _NEVER_NEEDED_SUM), _EVER * largest)
        shown = np.where(heavy, 2.02 * largest - 2, ever)
        limit = np.maximum(bar * (1 + few) * (1 + _SUSPECT_MEMORY * phi), shown)
        found |= sums[:, -1] > limit
    return found
