"""Evidence that only the spread of the newest nights has changed: a likelihood ratio under the noise's own density, clipped.

It is held to a bar of its own (bars.py). Growth must also show between neighbouring nights, which no step moves apart.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfd.stats.density import look_up, to_bins, widened
from perfd.stats.nights import LASTING, NIGHTS, NOISE_UNKNOWN

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

_SPREAD_NIGHTS = (5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 25, 30)
_SPREAD_FACTORS = (1.75, 2.5, 3.5, 0.6, 0.35)
_LEAST_GAIN, _MOST_GAIN = -2.5, 3.5
"""What a single night may say of a spread."""
_MOST_WIDER = 1.1
"""Standard deviations that half the nights must be off, so that outliers alone are no wider spread."""
_OWN = 2.0
"""What nights of a wider spread must say of it around their own median."""
_LIGHT, _UNSEEN_NIGHTS = 0.015, 0.7
"""Share of nights beyond three standard deviations up to which tails are light, and how many more a short reference hides."""
_STEEP = 3.2
"""A newest night that far off may be the first of a step, which a wider spread must not swallow."""
_TOO_RESTLESS, _STEEPEST = 8.0, 4.5
"""Unrest from which on such a night is none where tails are light, up to how far it is off."""
_BESIDE = 1.0
"""How far off the nights before it must be to belong to the same step."""
_CALM_NIGHTS, _CALM = 20, 0.54
"""Where a third of the spread becomes likelier than the spread itself; fewer nights cannot show that it fell."""
RESTLESS = 1.5
"""Unrest that a wider spread needs."""
_NEIGHBOURS = 1.45
"""Variance of a sum of distances between neighbours, over that of independent ones."""


def unrest_of(white: Singles, reference: Bools, held: Ints) -> Floats:
    """Half the square of the best z of the distances between neighbouring nights without the farthest, which a step moves."""
    apart = np.zeros_like(white)
    apart[:, 1:] = np.minimum(np.abs(white[:, 1:] - white[:, :-1]), 5)
    inside = reference.copy()
    inside[:, 0] = False
    mean, deviation, n = _moments(apart, inside)
    gain = (apart - mean)[:, : -min(NIGHTS, white.shape[1]) - 1 : -1] / deviation
    m = np.arange(1, gain.shape[1] + 1)
    allowed = (m > LASTING)[None, :] & (m[None, :] <= held[:, None])
    total = np.cumsum(gain, axis=1) - np.maximum(np.maximum.accumulate(gain, axis=1), 0)
    z = np.where(allowed, total / np.sqrt(_NEIGHBOURS * m * (1 + m / n)), 0)
    best: Floats = np.max(z, axis=1, initial=0).astype(np.float64) ** 2 / 2
    return best


def spread_in_question(white: Singles, unrest: Floats) -> Bools:
    """Where neighbouring nights lie far apart, or the newest twenty near the level: nothing else can be another spread."""
    calm = np.median(np.abs(white[:, -_CALM_NIGHTS:]), axis=1) < _CALM
    asked: Bools = (unrest >= RESTLESS) | calm
    return asked


def first_of_step(white: Singles, suspect: Bools, unrest: Floats, light: Bools) -> Ints:
    """How many of the newest nights, none to three, may be the first of a step: where the last is far off, all on its side."""
    newest = white[:, :-LASTING:-1]
    far = np.abs(newest[:, 0])
    beyond_doubt = (unrest >= _TOO_RESTLESS) & (far < _STEEPEST) & light
    steep = (suspect | (far >= _STEEP)) & ~beyond_doubt
    beside = np.logical_and.accumulate(newest * np.sign(newest[:, :1]) >= _BESIDE, axis=1).sum(axis=1)
    return np.where(steep, np.maximum(beside, 1), 0)


def tails_are_light(heavy: Floats, noise_n: Ints) -> Bools:
    """Whether so many reference nights, this share of them beyond three standard deviations, show that tails are light."""
    light: Bools = heavy + _UNSEEN_NIGHTS / np.maximum(noise_n, 1) <= _LIGHT
    return light


def best_spread(white: Singles, table: Singles, held: Ints, noise_n: Ints) -> tuple[Floats, Ints]:
    """The best log-likelihood ratio of a spread that grew (or shrank: negative) by a factor, and its nights.

    A step is no wider spread: around their own median the nights must say so too, if less. No single night says more than
    `_MOST_GAIN`, and half the nights must be off: outliers and spikes are none either. A spread that fell must be shown around
    the level and around the nights' own median alike.
    """
    gains = [(factor, _gain_of_spread(table, factor)) for factor in _SPREAD_FACTORS]
    best = np.zeros(len(white), dtype=np.float32)
    best_nights = np.full(len(white), _SPREAD_NIGHTS[0], dtype=np.intp)
    for m in _SPREAD_NIGHTS:
        if m > white.shape[1]:
            break
        newest = white[:, -m:]
        apart = newest - np.median(newest, axis=1, keepdims=True)
        places, own_places = to_bins(newest), to_bins(apart.astype(np.float32))
        most = np.median(np.abs(apart), axis=1) >= _MOST_WIDER
        for factor, gain in gains:
            told, own = look_up(gain, places), look_up(gain, own_places)
            total, own_total = told.sum(axis=1), own.sum(axis=1)
            fine = most & (own_total >= _OWN) if factor > 1 else own_total > 0
            if factor < 1:
                total = np.minimum(total, own_total)
            score = np.where((m <= held) & fine, total * noise_n / (noise_n + NOISE_UNKNOWN + m / 4), 0)
            better = score > np.abs(best)
            best = np.where(better, np.sign(factor - 1) * score, best)
            best_nights = np.where(better, m, best_nights)
    return best.astype(np.float64), best_nights


def _gain_of_spread(table: Singles, factor: float) -> Singles:
    """By bin, the log-likelihood ratio of noise `factor` times as wide, clipped."""
    gain: Singles = np.clip(widened(table, factor) - table, _LEAST_GAIN, _MOST_GAIN)
    return gain


def _moments(values: Singles, inside: Bools) -> tuple[Singles, Singles, Ints]:
    """Mean, standard deviation (at least 0.5) and count of each row's values that are `inside`, each (rows, 1)."""
    n = np.maximum(inside.sum(axis=1, keepdims=True), 2)
    mean = np.where(inside, values, 0).sum(axis=1, keepdims=True) / n
    deviation = np.sqrt(np.where(inside, (values - mean) ** 2, 0).sum(axis=1, keepdims=True) / (n - 1))
    return mean, np.maximum(deviation, 0.5), n
