"""An oracle that must learn what oracle_drift.py is told: level, size and slope are unknown; only the law of the noise is known.

    python tests/benchmarks/oracle_learns.py --seed 1 --rows 3000

Gaussian noise of width 1. A step may be anywhere but in the first and last nights, a slope of at least 32 nights may
begin anywhere, sizes are normal around zero; each story is worth its mean likelihood (Kass and Raftery 1995). A step
is told on the first night on which its best place is beyond a bar and steps are likelier than slopes by one fixed
margin. Printed for some margins: the share of 2 sd steps that are told and how near, and how many drifting Series
have a step alarm. It shows what of the gap to the informed oracle learning costs. A few seconds.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import scenarios as worlds
from detect_watch import WARM, say
from numpy.typing import NDArray
from oracle_drift import MOST, SIZE, SLOPE

from perfd.stats.nights import LASTING

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_STEP, _SLOPE = 3.0, 0.1
"""The usual size of a step, and of a slope a night."""
_RAMP, _OLDEST_STEP, _OLDEST_SLOPE = 32, 80, 120
_FALSE = 0.3e-4
"""Share of nights of noise alone whose evidence passes the bar for the first time."""
_MARGINS = np.arange(-1.0, 4.1, 0.5)


@dataclass(frozen=True)
class Told:
    """By Series and night, (rows, nights): evidence of the best step, its place, and how much likelier than a slope steps are."""

    step: Floats
    place: Ints
    margin: Floats

    @classmethod
    def of(cls, values: Floats) -> "Told":
        nights = values.shape[1]
        told = cls(np.full(values.shape, -np.inf), np.zeros(values.shape, dtype=np.intp), np.full(values.shape, -np.inf))
        total = np.cumsum(values, axis=1)
        for night in range(WARM, nights):
            n = night + 1
            places = np.arange(max(LASTING, n - _OLDEST_STEP), n - LASTING + 1)
            before, all_nights = total[:, places - 1], total[:, night : night + 1]
            energy = places * (n - places) / n
            step = _worth((all_nights - before) / (n - places) - before / places, energy, _STEP)
            slopes = np.clip(np.arange(n) - np.arange(max(0, n - _OLDEST_SLOPE), n - _RAMP + 1)[:, None], 0, None).astype(float)
            slopes -= slopes.mean(axis=1, keepdims=True)
            squares = (slopes**2).sum(axis=1)
            slope = _worth(values[:, :n] @ slopes.T / squares, squares, _SLOPE)
            told.step[:, night] = step.max(axis=1)
            told.place[:, night] = places[step.argmax(axis=1)]
            told.margin[:, night] = _mean(step) - _mean(slope)
        return told

    def first(self, bar: float, margin: float) -> tuple[Ints, Ints]:
        """The night on which each Series is told of a step, or -1, and the step's place."""
        beyond = (self.step >= bar) & (self.margin >= margin)
        night = np.where(beyond.any(axis=1), beyond.argmax(axis=1), -1)
        return night, self.place[np.arange(len(night)), night]


def _worth(size: Floats, energy: Floats, usual: float) -> Floats:
    """The log of the Bayes factor of a shape of unknown size against none; `size` is the best one, (rows, shapes)."""
    told = usual**2 * energy
    worth: Floats = size**2 * energy / 2 * told / (1 + told) - np.log1p(told) / 2
    return worth


def _mean(worth: Floats) -> Floats:
    """The logarithm of the mean of what each row holds the logarithms of."""
    best = worth.max(axis=1)
    mean: Floats = best + np.log(np.exp(worth - best[:, None]).mean(axis=1))
    return mean


def main() -> None:
    """Prints one line for each margin."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=3000)
    options = parser.parse_args()
    rng, rows = np.random.default_rng(options.seed), options.rows
    noise = np.sort(Told.of(worlds.gauss(rng, rows)).step.max(axis=1))[::-1]
    bar = float(noise[int(rows * (worlds.NIGHTS - WARM) * _FALSE)])
    planted = worlds.with_step(rng, worlds.gauss(rng, rows), SIZE)
    stepped = Told.of(planted.values - 100)
    begin = rng.integers(20, 51, rows)
    drift = np.clip((np.arange(worlds.NIGHTS)[None, :] - begin[:, None]) * SLOPE, 0, MOST)
    drifting = Told.of(worlds.gauss(rng, rows) + drift)
    say(f"Seed {options.seed}, {rows} Series a row; bar {bar:.2f}.\n")
    say("| margin | 2 sd within ±2 | within ±5 | median delay, p90 | drifting Series with a step alarm, in 1,000 nights |")
    say("|---|---|---|---|---|")
    for margin in _MARGINS:
        night, place = stepped.first(bar, margin)
        told, off = night >= planted.change, np.abs(place - planted.change)
        delay = (night - planted.change)[told & (off <= 5)]
        alarms = float(np.mean(drifting.first(bar, margin)[0] >= 0)) / (worlds.NIGHTS - WARM) * 1e3
        shares = " | ".join(f"{np.mean(told & (off <= near)):.3f}" for near in (2, 5))
        say(f"| {margin:+.1f} | {shares} | {np.median(delay):g}, {np.quantile(delay, 0.9):g} | {alarms:.2f} |")


if __name__ == "__main__":
    main()
