"""Worlds with a known truth for A/B comparisons: what a window measures, window by window, in the order of measuring."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perfd.stats.pairs import Floats, pair_signs

Noise = Callable[[np.random.Generator, tuple[int, int]], Floats]


def gauss(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape)


def heavy(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Student's t with 3 degrees of freedom, standard deviation 1."""
    return rng.standard_t(3, size=shape) / math.sqrt(3.0)


def outliers(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """One window in twenty is slower by 5 to 15 standard deviations."""
    struck = rng.random(shape) < 0.05
    return rng.normal(size=shape) + struck * rng.uniform(5.0, 15.0, size=shape)


def two_states(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Three windows in ten are slower by 4 standard deviations."""
    return rng.normal(size=shape) + 4.0 * (rng.random(shape) < 0.3)


def remembering(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """AR(1) with 0.6 from window to window, standard deviation 1."""
    fresh = rng.normal(size=shape)
    kept = np.empty_like(fresh)
    kept[:, 0] = fresh[:, 0]
    for place in range(1, shape[1]):
        kept[:, place] = 0.6 * kept[:, place - 1] + 0.8 * fresh[:, place]
    return kept


def straight(windows: int) -> Floats:
    """A drift of 0.2 % a window."""
    return 0.002 * np.arange(windows, dtype=np.float64)


def bent(windows: int) -> Floats:
    """A machine that warms up: 5 % slower, falling by a factor e in 10 windows."""
    slow: Floats = 0.05 * (1.0 - np.exp(-np.arange(windows) / 10.0))
    return slow


def still(windows: int) -> Floats:
    return np.zeros(windows)


@dataclass(frozen=True)
class World:
    """A kind of noise, its size in one window, a drift, and the true ratio of head to base less one."""

    name: str
    noise: Noise
    sigma: float
    truth: float
    cap: int
    drift: Callable[[int], Floats] = still

    def windows(self, rng: np.random.Generator, comparisons: int) -> Floats:
        """Logarithms of what is measured: (comparisons, 2 cap)."""
        arms = _arms(self.cap)
        noise = self.noise(rng, (comparisons, 2 * self.cap))
        return noise * self.sigma + self.drift(2 * self.cap) + math.log1p(self.truth) * arms


def _arms(pairs: int) -> npt.NDArray[np.float64]:
    """-1/2 where a window measures the base, +1/2 where it measures the head."""
    signs = np.repeat(pair_signs(pairs), 2)
    return np.where(np.arange(2 * pairs) % 2 == 0, -0.5, 0.5) * signs


def as_pairs(windows: Floats) -> list[tuple[float, float]]:
    """One comparison's windows as (base, head) values: (2n,) to n pairs."""
    pairs = np.exp(windows).reshape(-1, 2)
    return [
        (float(a), float(b)) if sign > 0 else (float(b), float(a))
        for (a, b), sign in zip(pairs, pair_signs(len(pairs)), strict=True)
    ]


KINDS = (
    ("Gaussian", gauss, still),
    ("t3", heavy, still),
    ("5 % outliers", outliers, still),
    ("two states", two_states, still),
    ("AR(0.6)", remembering, still),
    ("straight drift", gauss, straight),
    ("warming up", gauss, bent),
)


def worlds(sigma: float, truth: float, cap: int) -> list[World]:
    """Every kind of noise with one truth."""
    return [World(name, noise, sigma, truth, cap, drift) for name, noise, drift in KINDS]
