"""What the tables of detect.py share: the kinds of noise, the rows of steps, watching many Series, and honest intervals."""

import math
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import scenarios as worlds
from numpy.typing import NDArray

from perfd.stats.replay import replay
from perfd.stats.track import Event, Replay

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
WARM = 40
"""Nights before the first that counts."""
DETECTED = frozenset({"step", "mode", "drift", "variance"})


@dataclass(frozen=True)
class Seen:
    """A Replay of Series with missing nights, and the night of each value, (Series, values)."""

    found: Replay
    nights: Ints
    lengths: Ints
    values: Floats
    cpu_s: float

    def events(self, row: int, kinds: Iterable[str] = DETECTED) -> list[tuple[int, int, Event]]:
        """(night of the change, night of the flag, event) of one Series."""
        wanted = set(kinds)
        at = self.nights[row]
        return [(int(at[e.index]), int(at[e.flagged_at]), e) for e in self.found.tracks[row].events if e.kind in wanted]


def say(line: str = "") -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def watch(values: Floats, *, settle: bool = True) -> Seen:
    """Replays Series whose missing nights are NaN."""
    there = np.isfinite(values)
    lengths = there.sum(axis=1)
    nights = np.argsort(~there, axis=1, kind="stable")
    packed = np.take_along_axis(np.nan_to_num(values), nights, axis=1)
    began = time.process_time()
    found = replay(packed, lengths, settle=settle)
    return Seen(found, nights, lengths, packed, time.process_time() - began)


def poisson(count: int) -> tuple[float, float]:
    """The exact 95 % interval of a Poisson mean, by bisection."""

    def tail(mean: float, upto: int) -> float:
        return sum(math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(upto + 1)) if mean > 0 else 1.0

    def solve(goal: float, upto: int) -> float:
        low, high = 0.0, 10.0 * (count + 5)
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if tail(middle, upto) > goal else (low, middle)
        return low

    return (0.0 if count == 0 else solve(0.975, count - 1)), solve(0.025, count)


def wilson(hits: int, n: int) -> str:
    """A share with its 95 % interval."""
    z, p = 1.96, hits / n
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return f"{p:.3f} [{(middle - half) / (1 + z * z / n):.3f}, {(middle + half) / (1 + z * z / n):.3f}]"


def middle(delays: list[int]) -> str:
    """Median delay with its order-statistic interval, and the 90th percentile."""
    if not delays:
        return "-"
    ordered = np.sort(delays)
    n = len(ordered)
    half = 0.98 * math.sqrt(n)
    low, high = ordered[max(int(n / 2 - half), 0)], ordered[min(math.ceil(n / 2 + half), n - 1)]
    return f"{np.median(ordered):g} [{low:g}, {high:g}], {np.quantile(ordered, 0.9):g}"


NOISES: dict[str, Callable[..., Floats]] = {
    "Gaussian": worlds.gauss,
    "Student t3": worlds.student,
    "5 % outliers": worlds.outliers,
    "5 % outliers, upwards": worlds.slow_outliers,
    "bimodal": worlds.bimodal,
    "AR(0.6)": worlds.autoregressive,
    "uneven, missing": worlds.uneven,
}


@dataclass(frozen=True)
class Row:
    """A row of the step table."""

    name: str
    noise: str
    size: float
    near: float | None
    wide: float | None
    delay: float | None
    first: float | None = None
    third: float | None = None


ROWS = (
    Row("1.5 sd", "Gaussian", 1.5, None, None, None),
    Row("2 sd", "Gaussian", 2, 0.90, 0.97, 6),
    Row("3 sd", "Gaussian", 3, 0.97, None, 4, None, 0.95),
    Row("5 sd", "Gaussian", 5, 0.99, None, 3, 0.95),
    Row("3 sd in t3", "Student t3", 3, None, None, None),
    Row("3 sd in outliers", "5 % outliers", 3, None, 0.97, 5),
    Row("3 sd in bimodal", "bimodal", 3, None, 0.95, 7),
    Row("3 sd in AR(0.6)", "AR(0.6)", 3, None, 0.95, 10),
    Row("3 sd in uneven, missing", "uneven, missing", 3, None, None, None),
)
