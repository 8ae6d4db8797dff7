"""An oracle: it knows the noise's law, the level before and the change to come, and only has to say when and where.

Its statistic is the exact log-likelihood ratio of the best beginning; its bar is the lowest at which at most one in 10,000 nights
of noise alone alarms, which is what perfd is allowed. Where it `waits`, a change must have lasted for four nights, as only
then it can be told from a spike of three; its place is the likeliest one given the twenty nights after it, as perfd's is.
Nobody who has to learn law and levels from the Series, and to look both ways, can be much better.
"""

from dataclasses import dataclass

import numpy as np
import scenarios as worlds
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

WAITS = 4
_CALM_NIGHTS = (2000, 600)
"""Noise alone that a bar is found on: 1.2 million nights, of which 120 may alarm."""
_SETTLES = 20


def _night_before(one: Floats) -> Floats:
    return np.concatenate([np.full((len(one), 1), -np.inf), one[:, :-1]], axis=1)


def _gauss(x: Floats, mean: float = 0.0, sd: float = 1.0) -> Floats:
    return np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))


def _student(x: Floats) -> Floats:
    scaled = x * np.sqrt(3)
    return np.sqrt(3) * 2 / (np.pi * np.sqrt(3) * (1 + scaled**2 / 3) ** 2)


def _outliers(x: Floats) -> Floats:
    flat = ((np.abs(x) > 5) & (np.abs(x) < 15)) / 20
    return 0.95 * _gauss(x) + 0.05 * np.maximum(flat, 1e-4)


def _bimodal(x: Floats) -> Floats:
    return 0.7 * _gauss(x) + 0.3 * _gauss(x, 4.0)


_LAWS = {"Gaussian": _gauss, "Student t3": _student, "5 % outliers": _outliers, "bimodal": _bimodal}
_NOISE = {
    "Gaussian": worlds.gauss,
    "Student t3": worlds.student,
    "5 % outliers": worlds.outliers,
    "bimodal": worlds.bimodal,
    "AR(0.6)": worlds.autoregressive,
}


@dataclass(frozen=True)
class Ratios:
    """Log-likelihood ratios of every night, (rows, nights): of a change that begins there, of one that goes on, of a spike."""

    first: Floats
    later: Floats
    spike: Floats
    """Of a night of a spike, after the first."""
    back: Floats
    """Of the night after a spike."""

    @classmethod
    def alike(cls, ratio: Floats) -> "Ratios":
        """Where every night is independent of the night before."""
        return cls(ratio, ratio, ratio, np.zeros_like(ratio))

    def evidence(self, nights: int) -> Floats:
        """Each night's ratio of the best beginning that is at least `nights` nights ago, that night counted.

        Minus infinity where it must be told from a shorter spike, and a spike of these nights or the six before is likelier.
        """
        best = self.first.copy()
        for night in range(1, best.shape[1]):
            best[:, night] = np.maximum(best[:, night - 1] + self.later[:, night], self.first[:, night])
        for _ in range(nights - 1):
            best = _night_before(best) + self.later
        return np.where(best > self._spike(nights - 1), best, -np.inf) if nights > 1 else best

    def _spike(self, longest: int) -> Floats:
        """Each night's ratio of the best spike of at most `longest` nights, going on or not older than a week."""
        on = running = self.first
        for _ in range(longest - 1):
            running = _night_before(running) + self.spike
            on = np.maximum(on, running)
        best, ended = on, _night_before(on) + self.back
        for _ in range(6):
            best = np.maximum(best, ended)
            ended = _night_before(ended)
        return best

    def places(self, told: Ints) -> Ints:
        """The likeliest beginning of what was told on these nights, with up to twenty nights more."""
        nights = np.arange(self.first.shape[1])
        seen = nights[None, :] <= told[:, None] + _SETTLES
        after = np.cumsum(np.where(seen, self.later, 0)[:, ::-1], axis=1)[:, ::-1] - self.later
        likely = np.where(nights[None, :] <= told[:, None], self.first + after, -np.inf)
        return np.asarray(np.argmax(likely, axis=1), dtype=np.intp)


@dataclass(frozen=True)
class Found:
    """What the oracle tells of planted Series: shares, and how many nights each took (-1: never told)."""

    near: float
    wide: float
    delays: Ints
    suspect: tuple[float, float]
    """Share that is suspect on the first night, and by the third, where one night of noise in a hundred may be."""

    def within(self, nights: int) -> float:
        """Share that is told at most so many nights after the first changed one."""
        return float(np.mean((self.delays >= 0) & (self.delays <= nights)))


def ratios_of_step(name: str, values: Floats, size: float) -> Ratios:
    """Of a step of `size`; AR(1) shows it fully on its first night, and by 0.4 later."""
    if name == "AR(0.6)":
        white = values.copy()
        white[:, 1:] -= 0.6 * values[:, :-1]
        first, later, back = ((white * shift - shift**2 / 2) / 0.64 for shift in (size, 0.4 * size, -0.6 * size))
        return Ratios(first, later, later, back)
    law = _LAWS[name]
    return Ratios.alike(np.log(law(values - size) / law(values)))


def bar_of(calm: Ratios, nights: int, share: float = 1e-4) -> float:
    """The lowest bar that at most this share of nights passes upwards."""
    evidence = calm.evidence(nights)[:, 20:]
    before, now = evidence[:, :-1], evidence[:, 1:]
    for bar in np.arange(-2.0, 15.0, 0.1):
        if np.count_nonzero((now >= bar) & (before < bar)) <= now.size * share and bar > np.median(now):
            return float(bar)
    return 15.0


def find(planted: Ratios, calm: Ratios, change: Ints, waits: int = WAITS) -> Found:
    """What the oracle tells of changes, its bars being those that noise alone asks for."""
    rows = np.arange(len(change))
    reached = planted.evidence(waits) >= bar_of(calm, waits)
    reached &= np.arange(reached.shape[1])[None, :] >= change[:, None]
    told = np.argmax(reached, axis=1)
    there = reached[rows, told]
    away = np.where(there, np.abs(planted.places(told) - change), planted.first.shape[1])
    first, third = _suspects(planted, calm, change)
    return Found(float(np.mean(away <= 2)), float(np.mean(away <= 5)), np.where(there, told - change, -1), (first, third))


def _newest(one: Ratios) -> Floats:
    """Each night's best ratio of a change that began on it or on the two before."""
    best, sums = one.first.copy(), one.first
    for _ in range(2):
        sums = _night_before(sums) + one.later
        best = np.maximum(best, sums)
    return best


def _suspects(planted: Ratios, calm: Ratios, change: Ints) -> tuple[float, float]:
    limit = np.quantile(_newest(calm)[:, 20:], 0.99)
    shown = np.take_along_axis(_newest(planted), change[:, None] + np.arange(3)[None, :], axis=1) > limit
    return float(shown[:, 0].mean()), float(shown.any(axis=1).mean())


def knows_noise(name: str) -> bool:
    """Whether the oracle is told the law of this noise."""
    return name in _NOISE


def find_step(rng: np.random.Generator, name: str, size: float, rows: int, waits: int = WAITS) -> Found:
    """Steps of `size` planted in this noise as the table plants them."""
    planted = worlds.with_step(rng, _NOISE[name](rng, rows), size)
    calm = _NOISE[name](rng, *_CALM_NIGHTS)
    return find(ratios_of_step(name, planted.values - 100, size), ratios_of_step(name, calm, size), planted.change, waits)


def find_spread(rng: np.random.Generator, factor: float, rows: int) -> Found:
    """A spread that grows by `factor`, both spreads known."""
    change = worlds.changes(rng, rows)
    after = np.arange(worlds.NIGHTS)[None, :] >= change[:, None]
    calm = worlds.gauss(rng, *_CALM_NIGHTS)
    planted, alone = (_ratios_of_spread(x, factor) for x in (worlds.gauss(rng, rows) * np.where(after, factor, 1), calm))
    return find(planted, alone, change)


def _ratios_of_spread(values: Floats, factor: float) -> Ratios:
    """Three nights anywhere may be a spike of any size, so what they gain by being free is held against the spread."""
    ratio = np.log(_gauss(values, sd=factor) / _gauss(values))
    return Ratios(ratio, ratio, values**2 / 2, np.zeros_like(ratio))


def find_tick(rng: np.random.Generator, tick: float, rows: int) -> Found:
    """One tick up in Gaussian noise that is rounded to ticks, the chance of every tick known."""
    change = worlds.changes(rng, rows)
    after = np.arange(worlds.NIGHTS)[None, :] >= change[:, None]
    many = np.rint(worlds.gauss(rng, 1, 4_000_000)[0] / tick)
    chance = np.array([max(float(np.mean(many == place)), 1e-9) for place in range(-4, 5)])
    planted = np.rint((worlds.gauss(rng, rows) + tick * after) / tick)
    calm = np.rint(worlds.gauss(rng, *_CALM_NIGHTS) / tick)
    told, alone = (_ratios_of_tick(x.astype(np.intp), chance) for x in (planted, calm))
    return find(told, alone, change)


def _ratios_of_tick(ticks: Ints, chance: Floats) -> Ratios:
    here, lower = (chance[np.clip(ticks - less, -4, 4) + 4] for less in (0, 1))
    return Ratios.alike(np.log(lower / here))
