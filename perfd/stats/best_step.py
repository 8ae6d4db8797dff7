"""The likeliest step among the newest nights of many Series at once, in the density of each one's own noise.

Where noise has two states, evidence is looked up in a table that is as fine as one of them is wide: in standard deviations of all
nights the states are blurred, and half of the evidence is lost. A run of nights in one of both states looks like a step from one
to the other; a step of just that size is held to more.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfd.stats.density import WIDTH, log_density, look_up, to_bins
from perfd.stats.humps import Humps, zoom_of
from perfd.stats.nights import LASTING, NIGHTS

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

_SIZES = (5, 7, 9, 11, 14, 18, 23, 30, 38, 48)
"""Step sizes that are tried, in bins of a quarter of a standard deviation (of one state), up and down."""
_BEYOND_PULSE = 1.0
"""How much likelier a step must be than a spike of three nights."""
_ONE_STATE, _RUN = 2.5, 2.0
"""Bins within which a step is as large as the states are apart, and how much more it must say then."""


@dataclass(frozen=True)
class Ruler:
    """What whitened residuals are looked up in, a row a Series."""

    table: Singles
    """The log-density, (rows, BINS)."""
    bins: Ints
    """The bin of each residual, (rows, window)."""
    zoom: NDArray[np.float32]
    """How many times finer than in the noise's standard deviations the bins are, (rows,)."""
    apart: Floats
    """Bins between two states, infinite where there is one, (rows,)."""

    @classmethod
    def of(cls, white: NDArray[np.float32], reference: Bools, humps: Humps, plain: tuple[Ints, Singles]) -> "Ruler":
        """The ruler of residuals whose density has these humps; `plain` are bins and table in standard deviations."""
        bins, table = plain
        zoom, two = zoom_of(humps, WIDTH).astype(np.float32), np.flatnonzero(humps.clear)
        if len(two):
            bins, table = bins.copy(), table.copy()
            bins[two] = to_bins(white[two] * zoom[two][:, None])
            table[two] = log_density(bins[two], reference[two])
        return cls(table, bins, zoom, np.where(humps.clear, humps.apart * zoom, np.inf))

    def newest(self, residual: Singles) -> tuple[Ints, Ints]:
        """The bins of the newest nights, newest first, whitened and as they are."""
        recent = np.ascontiguousarray(self.bins[:, : -min(NIGHTS, self.bins.shape[1]) - 1 : -1])
        plain = (self.zoom[:, None] * residual[:, -recent.shape[1] :]).astype(np.float32)
        return recent, np.ascontiguousarray(to_bins(plain)[:, ::-1])


def best_step(ruler: Ruler, residual: Singles, reference: Bools, phi: Singles, counts: tuple[Ints, Ints]) -> tuple[Floats, Ints]:
    """The best tempered log-likelihood ratio of a step and its nights, -inf where none can be tried, each (rows,).

    `residual` is standardised and not whitened, (rows, window); `counts` are the nights that each level is known from, and how
    many of the newest may be new.
    """
    table, (level_n, held) = ruler.table, counts
    recent, plain = ruler.newest(residual)
    pulse = _best_pulse(table, recent, plain, _usual(table, ruler.bins, reference))
    rows, nights = recent.shape
    temper = _temper(level_n, nights)
    here = look_up(table, recent)
    m = np.arange(1, nights + 1)
    allowed = (m >= LASTING)[None, :] & (m[None, :] <= held[:, None])
    whitened = bool(np.any(phi > 0))
    best = np.full(rows, -np.inf, dtype=np.float32)
    best_nights = np.zeros(rows, dtype=np.intp)
    unit = 1 / np.sqrt(1 - phi**2)
    for size in (*_SIZES, *(-size for size in _SIZES)):
        first = np.rint(size * unit).astype(np.intp)[:, None]
        later = np.rint(size * unit * (1 - phi)).astype(np.intp)[:, None]
        gain = look_up(table, recent - later) - here
        total = np.cumsum(gain, axis=1)
        if whitened:
            total += look_up(table, recent - first) - here - gain
        fine = allowed & (total - pulse >= _BEYOND_PULSE)
        score = np.where(fine, total * temper, -np.inf)
        nights_now = np.argmax(score, axis=1)
        one_state = np.abs(abs(size) - ruler.apart) <= _ONE_STATE
        now = score[np.arange(rows), nights_now] - np.where(one_state, _RUN, 0)
        better = now > best
        best = np.where(better, now, best)
        best_nights = np.where(better, nights_now + 1, best_nights)
    return best.astype(np.float64), best_nights


def _best_pulse(table: Singles, recent: Ints, plain: Ints, usual: Singles) -> Singles:
    """How much likelier a spike of three nights, each of any size, makes the last m nights than noise, (rows, nights).

    `usual` is what three nights of noise gain by being free. Where noise remembers, the night after a spike is likely again as
    itself and not as the spike's echo: `plain` are the bins of the residuals that are not whitened.
    """
    here = look_up(table, recent)
    free = table.max(axis=1, keepdims=True) - here
    back = look_up(table, plain) - here
    pulse = free.copy()
    pulse[:, 1:] += free[:, :-1]
    pulse[:, 2:] += free[:, :-2]
    pulse[:, 3:] += back[:, :-3]
    best: Singles = np.maximum.accumulate(pulse, axis=1) - 3 * usual[:, None]
    return best


def _usual(table: Singles, bins: Ints, reference: Bools) -> Singles:
    """How far below its densest place a reference night's log-density is, on average."""
    gain = np.where(reference, table.max(axis=1, keepdims=True) - look_up(table, bins), 0)
    mean: Singles = gain.sum(axis=1) / np.maximum(reference.sum(axis=1), 1)
    return mean


def _temper(level_n: Ints, nights: int) -> Singles:
    """What the uncertainty of the level leaves of a log-likelihood ratio, (rows, nights)."""
    m = np.arange(1, nights + 1)
    level = np.maximum(level_n, 1)[:, None]
    temper: Singles = (level / (level + m)).astype(np.float32)
    return temper
