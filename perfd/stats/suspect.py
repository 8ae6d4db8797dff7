"""Whether the newest one to three nights are outside what noise allows and what the Series ever showed: they may be a spike."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

SUMS = (2.62, 3.0, 3.0)
_NEVER_NEEDED, _NEVER_NEEDED_SUM, _SUSPECT_MEMORY = 2.85, 3.08, 0.06
BEYOND = 3.0
_CROWD = 0.09


def suspects(white: Singles, reference: Bools, phi: Singles) -> Bools:
    """Whether a sum of the last one, two or three nights is larger than noise allows and than the reference ever was."""
    found = np.zeros(len(white), dtype=np.bool_)
    n = np.maximum(reference.sum(axis=1), 1)
    beyond = (reference & (np.abs(white) > BEYOND)).sum(axis=1)
    heavy = beyond >= 0.02 * n
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
        ever = np.max(np.where(inside, sums, 0), axis=1)
        few = 10 / n * np.minimum(1, 40 / n) if nights == 1 else 8 / n * np.minimum(1, 70 / n)
        ever = np.where(light, np.minimum(1.05 * ever, _NEVER_NEEDED if nights == 1 else _NEVER_NEEDED_SUM), 1.05 * ever)
        shown = np.where(heavy, 2.4 * ever / 1.05 - 3, np.where(beyond > 1, 1.04, 1) * ever)
        limit = np.maximum(bar * (1 + few) * (1 + _SUSPECT_MEMORY * phi), shown)
        found |= sums[:, -1] > limit
    return found
