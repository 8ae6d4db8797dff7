"""What is found in a Series, what is remembered of it between nights, and what a replay gives."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

WINDOW = 150
"""Nights that the noise is known from."""


@dataclass(frozen=True)
class Event:
    """Something found in one Series; indices count its values."""

    kind: str
    """step, drift, variance, mode or transient."""
    index: int
    """The first value at the new level."""
    flagged_at: int
    """The night on which it was found."""
    before: float
    after: float
    interval: tuple[float, float]
    """95 % interval of the effect."""
    evidence: float
    """The log-likelihood ratio; exp(-evidence) bounds the chance of noise doing this on one night."""


@dataclass
class Track:
    """What is remembered of one Series between nights."""

    start: int = 0
    """Where the current segment begins."""
    noise_start: int = 0
    """Older values tell nothing of today's noise: its spread changed here."""
    drifting: bool = False
    slopes: int = 0
    """Nights on which a slope explained the segment better than a step."""
    memory: float = math.nan
    """The autocorrelation that closed segments showed; NaN before the first was closed."""
    levels: list[tuple[int, float]] = field(default_factory=list)
    """Closed segments: where each began, and its level."""
    events: list[Event] = field(default_factory=list)


@dataclass
class Replay:
    """The outcome of `replay`: one Track a Series, and per night (Series, nights) whether it was a suspect and how far off."""

    tracks: list[Track]
    suspect: NDArray[np.bool_]
    distance: NDArray[np.float32]
    """The night's distance from the current level in standard deviations."""
    level: NDArray[np.float32]
    scale: NDArray[np.float32]
    phi: NDArray[np.float32]
    step: NDArray[np.float32]
