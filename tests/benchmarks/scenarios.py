"""Synthetic Series with planted truth: 150 nights, level 100, sigma 1, the change between nights 70 and 120."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NIGHTS = 150


@dataclass(frozen=True)
class Planted:
    """Series (rows, nights) with NaN where a night is missing, and the first changed night of each row (-1: no change)."""

    values: Floats
    change: NDArray[np.intp]
    length: int = 0


def gauss(rng: np.random.Generator, rows: int, nights: int = NIGHTS) -> Floats:
    return rng.normal(size=(rows, nights))


def student(rng: np.random.Generator, rows: int, nights: int = NIGHTS) -> Floats:
    """Student's t with 3 degrees of freedom, scaled to a standard deviation of 1."""
    return rng.standard_t(3, size=(rows, nights)) / np.sqrt(3)


def outliers(rng: np.random.Generator, rows: int, nights: int = NIGHTS) -> Floats:
    """Gaussian; 5 % of the nights lie 5 to 15 sigma off, either way."""
    far = rng.uniform(5, 15, (rows, nights)) * rng.choice([-1.0, 1.0], (rows, nights))
    return gauss(rng, rows, nights) + far * (rng.random((rows, nights)) < 0.05)


def slow_outliers(rng: np.random.Generator, rows: int, nights: int = NIGHTS) -> Floats:
    """The same, always upwards."""
    far = rng.uniform(5, 15, (rows, nights))
    return gauss(rng, rows, nights) + far * (rng.random((rows, nights)) < 0.05)


def bimodal(rng: np.random.Generator, rows: int, nights: int = NIGHTS) -> Floats:
    """30 % of the nights, independently, are 4 sigma up; sigma is that of one mode."""
    return gauss(rng, rows, nights) + 4 * (rng.random((rows, nights)) < 0.3)


def autoregressive(rng: np.random.Generator, rows: int, nights: int = NIGHTS) -> Floats:
    """AR(1) with 0.6, stationary with a standard deviation of 1."""
    noise = gauss(rng, rows, nights)
    noise[:, 1:] *= 0.8
    for night in range(1, nights):
        noise[:, night] += 0.6 * noise[:, night - 1]
    return noise


def uneven(rng: np.random.Generator, rows: int, nights: int = NIGHTS) -> Floats:
    """Weekends have three times the spread, and 15 % of the nights are missing."""
    day = (np.arange(nights)[None, :] + rng.integers(0, 7, (rows, 1))) % 7
    values = gauss(rng, rows, nights) * np.where(day >= 5, 3, 1)
    values[rng.random((rows, nights)) < 0.15] = np.nan
    return values


def sticky(rng: np.random.Generator, rows: int, nights: int = NIGHTS) -> tuple[Floats, NDArray[np.intp]]:
    """Two modes 4 sigma apart with a mean dwell of 14 nights, and the mode of every night."""
    switch = rng.random((rows, nights)) < 1 / 14
    mode = (np.cumsum(switch, axis=1) + rng.integers(0, 2, (rows, 1))) % 2
    return gauss(rng, rows, nights) + 4 * mode, mode


def changes(rng: np.random.Generator, rows: int) -> NDArray[np.intp]:
    return rng.integers(70, 121, rows)


def with_step(rng: np.random.Generator, noise: Floats, size: float) -> Planted:
    change = changes(rng, len(noise))
    after = np.arange(noise.shape[1])[None, :] >= change[:, None]
    return Planted(100 + noise + size * after, change)
