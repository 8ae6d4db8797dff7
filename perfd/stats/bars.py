"""What evidence is held to: more where tails are heavy, where noise remembers, or is restless.

All of it was chosen on simulated noise with development seeds (docs/detection.md); none is derived.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfd.stats.evidence import Evidence
from perfd.stats.spread import RESTLESS

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]

BAR = 6.5
"""Log-likelihood ratio of a detected step: measured, docs/detection.md."""
SPREAD_BAR = 6.0
_CALM, _MOST_RESTLESS = 2.5, 4.0
"""Unrest that a step's bar does not mind, and the most that it adds."""
_STATES_MEMORY, _TWO_STATES = (0.0, 0.05, 0.15), (0.9, 0.1, -0.3)
"""What two states cost, by the autocorrelation that was found: most where there is none.

Most false steps look like a wider spread too and are held back for that (step.py); those of two states do not. Where states seem
to remember, whitening has blunted both humps already.
"""
_TAIL_COST, _TAIL_MOST = 80.0, 0.02
_CALMER = 14.3
_SPREAD_TAIL_COST, _SPREAD_TAIL_FREE, _SPREAD_TAIL_MOST = 280.0, 0.01, 0.03
_SPREAD_MEMORY_COST = 4.0
_FEW_NIGHTS, _FEW_COST = (30, 65), (3.4, 0.0)
"""What another spread must say more where so few nights tell of noise that they may not have shown its tails yet."""
_MEMORY, _MEMORY_COST = (0.0, 0.05, 0.1, 0.2, 0.35, 0.45, 0.6, 0.9), (0.0, 0.4, 0.6, 2.0, 4.3, 4.0, 2.0, 1.5)
"""By the autocorrelation that was found, what it costs: most where there may be more than a short reference shows."""


def step_bars(found: Evidence, bar: float = BAR) -> Floats:
    """The bar of a step: higher where tails are heavy, where noise remembers, and where spread alone may have grown."""
    bars: Floats = (
        bar
        + _TAIL_COST * np.minimum(found.tail, _TAIL_MOST)
        + np.interp(found.phi, _MEMORY, _MEMORY_COST)
        + np.where(found.two_states, np.interp(found.phi, _STATES_MEMORY, _TWO_STATES), 0)
        + np.clip(found.unrest - _CALM, 0, _MOST_RESTLESS)
    )
    return bars


def uneven(found: Evidence, bar: float = SPREAD_BAR) -> NDArray[np.bool_]:
    """Where the spread has changed; where it grew, neighbouring nights must lie further apart too, as no step makes them."""
    tails = _SPREAD_TAIL_COST * np.clip(found.heavy - _SPREAD_TAIL_FREE, 0, _SPREAD_TAIL_MOST)
    few = np.interp(found.noise_n, _FEW_NIGHTS, _FEW_COST)
    bars = bar + tails + few + _SPREAD_MEMORY_COST * found.phi
    grew = (found.spread >= bars) & (found.unrest >= RESTLESS)
    changed: NDArray[np.bool_] = grew | (-found.spread >= bars + _CALMER)
    return changed
