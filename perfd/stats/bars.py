"""What evidence is held to: more where tails are heavy, where noise remembers, is restless, or is known from few nights only.

All of it was chosen on simulated noise with development seeds (docs/detection.md); none is derived.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfd.stats.evidence import Evidence

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]

BAR = 6.9
"""Log-likelihood ratio of a detected step: measured, docs/detection.md."""
SPREAD_BAR = 5.4
_CALM, _RESTLESS = 4.0, 2.0
_TAIL_COST, _TAIL_MOST = 125.0, 0.02
_CALMER = 14.0
_SPREAD_TAIL_COST, _SPREAD_TAIL_FREE, _SPREAD_TAIL_MOST = 200.0, 0.01, 0.03
_MEMORY, _MEMORY_COST = (0.0, 0.1, 0.2, 0.45, 0.6, 0.9), (0.0, 0.6, 3.0, 5.2, 3.5, 3.5)
"""By the autocorrelation that was found, what it costs: most where there may be more than a short reference shows."""
_SHORT = 60
"""Reference nights below which the bar is up to 1 higher."""


def step_bars(found: Evidence, bar: float = BAR) -> Floats:
    """The bar of a step: higher where tails are heavy, where noise remembers, and where spread alone may have grown."""
    bars: Floats = (
        bar
        + _TAIL_COST * np.minimum(found.tail, _TAIL_MOST)
        + memory_cost(found.phi, found.noise_n)
        + np.clip(_SHORT / np.maximum(found.noise_n, 1) - 1, 0, 1)
        + np.maximum(found.unrest - _CALM, 0)
    )
    return bars


def uneven(found: Evidence, bar: float = SPREAD_BAR) -> NDArray[np.bool_]:
    """Where the spread has changed; where it grew, neighbouring nights must lie further apart too, as no step makes them."""
    grown = (found.unrest >= _RESTLESS) & ~found.suspect
    bars = bar + _SPREAD_TAIL_COST * np.clip(found.heavy - _SPREAD_TAIL_FREE, 0, _SPREAD_TAIL_MOST)
    changed: NDArray[np.bool_] = ((found.spread >= bars) & grown) | (-found.spread >= bars + _CALMER)
    return changed


def memory_cost(phi: NDArray[np.floating[Any]], n: Ints) -> Floats:
    """What is added to the bar where noise remembers, or may: n reference nights do not tell it well."""
    cost: Floats = np.interp(phi, _MEMORY, _MEMORY_COST) * np.clip(60 / np.maximum(n, 1), 0.55, 1.6)
    return cost
