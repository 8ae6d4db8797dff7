"""The noise of a Series as a density of its own residuals, tabulated, so that likelihood ratios are table look-ups.

f = (n K + n0 g) / (n + n0): K is the histogram of the n reference residuals (in units of their robust scale, bins of 0.25, the
outermost bins hold everything beyond 12), smoothed by Gaussian kernels: narrow where residuals are many, wide where one is alone,
so that the middle stays sharp while the tails stay cautious; g is Student's t with two degrees of freedom and stands for what n
residuals cannot have shown yet. A bimodal, quantised or heavy-tailed Series gets its own f, and with it its own idea of what is
unusual. Where the residuals have two clear humps (humps.py) both get the one shape that all of them together tell of.
Cost: O(n + bins^2) a row, four matrix products for all rows. Sources: Silverman, Density Estimation, 2.4, and Abramson 1982 for
kernels that widen where data are few; Good 1953 for the mass of the unseen; Basu et al. 1998 on why a bounded log-likelihood is
robust.
"""

import numpy as np
from numpy.typing import NDArray

from perfd.stats.humps import Humps, humps_of

Table = NDArray[np.float32]
Bins = NDArray[np.intp]

WIDTH = 0.25
REACH = 12.0
BINS = 2 * round(REACH / WIDTH) + 1
CENTRE = BINS // 2
UNSEEN = 3.0
"""Weight of g, in residuals."""
_NARROW, _MIDDLE, _WIDE = 0.28, 1.2, 4.0
_CROWDED, _LONELY = (0.05, 0.01), (0.35, 0.25)
"""Shares of the middle and the wide kernel where residuals are many, and where one is alone."""
_NEAR, _FEW = 0.5, 2.0
"""What counts as a neighbour, in standard deviations, and how many make a crowd by half."""


def _distances() -> Table:
    places = (np.arange(BINS) - CENTRE) * WIDTH
    return np.asarray(places[:, None] - places[None, :], dtype=np.float32)


def _kernel(width: float) -> Table:
    kernel = np.exp(-0.5 * (_distances() / width) ** 2)
    return np.asarray(kernel / kernel.sum(axis=1, keepdims=True), dtype=np.float32)


def _unseen() -> Table:
    places = (np.arange(BINS) - CENTRE) * WIDTH
    tail = (2 + places**2) ** -1.5
    return np.asarray(tail / tail.sum(), dtype=np.float32)


_KERNELS, _G = np.stack([_kernel(_NARROW), _kernel(_MIDDLE), _kernel(_WIDE)]), _unseen()
_NEIGHBOURS = (np.abs(_distances()) <= _NEAR).astype(np.float32)


def to_bins(standard: NDArray[np.float32]) -> Bins:
    """The bin of each standardised residual; whatever lies beyond the reach is in an outermost bin."""
    bins: Bins = np.clip(np.rint(standard * np.float32(1 / WIDTH)), -CENTRE, CENTRE).astype(np.intp) + CENTRE
    return bins


def histogram(bins: Bins, used: NDArray[np.bool_]) -> Table:
    """How many of the residuals that are `used` lie in each bin, (rows, BINS); both arguments are (rows, window)."""
    rows = len(bins)
    flat = (bins + BINS * np.arange(rows)[:, None])[used]
    return np.bincount(flat, minlength=rows * BINS).reshape(rows, BINS).astype(np.float32)


def log_density(bins: Bins, used: NDArray[np.bool_]) -> Table:
    """The logarithm of f for each row, (rows, BINS), from the bins of the residuals that are `used`, both (rows, window)."""
    counts = histogram(bins, used)
    total = counts.sum(axis=1, keepdims=True) + np.float32(UNSEEN)
    smooth = _smoothed(counts)
    humps = humps_of(counts)
    two = np.flatnonzero(humps.clear)
    if len(two):
        smooth[two] = _two_humps(counts[two], humps.rows(two))
    table: Table = np.log((smooth + np.float32(UNSEEN) * _G) / total).astype(np.float32)
    return table


def _smoothed(counts: Table) -> Table:
    alone = _FEW / (_FEW + np.maximum(counts @ _NEIGHBOURS - 1, 0))
    middle, wide = (counts * (few + (most - few) * alone) for few, most in zip(_CROWDED, _LONELY, strict=True))
    smooth: Table = (counts - middle - wide) @ _KERNELS[0] + middle @ _KERNELS[1] + wide @ _KERNELS[2]
    return smooth


def _two_humps(counts: Table, humps: Humps) -> Table:
    """Both humps with one shape, which all residuals together tell of, each at its own place with its own weight."""
    n = counts.sum(axis=1, keepdims=True)
    high = np.where(np.arange(BINS)[None, :] >= humps.split[:, None], counts, 0)
    shape = _smoothed(counts - high + _moved(high, -humps.apart))
    upper = humps.upper[:, None].astype(np.float32)
    both = (1 - upper) * shape + upper * _moved(shape, humps.apart)
    told: Table = both * (n / np.maximum(both.sum(axis=1, keepdims=True), 1e-9))
    return told


def _moved(rows: Table, by: Bins) -> Table:
    """Each row moved upwards by so many bins; what leaves the table is lost."""
    source = np.arange(BINS)[None, :] - by[:, None]
    moved: Table = np.where((source >= 0) & (source < BINS), np.take_along_axis(rows, np.clip(source, 0, BINS - 1), axis=1), 0)
    return moved


def look_up(table: Table, bins: Bins) -> Table:
    """The table's entry for each bin of each row."""
    offsets = (BINS * np.arange(len(table), dtype=np.intp))[:, None]
    found: Table = table.ravel()[np.clip(bins, 0, BINS - 1) + offsets]
    return found


def widened(table: Table, factor: float) -> Table:
    """The logarithm of each row's density, `factor` times as wide."""
    nearer = np.rint((np.arange(BINS) - CENTRE) / factor)
    wide = table[:, np.clip(nearer, -CENTRE, CENTRE).astype(np.intp) + CENTRE]
    normal: Table = wide - np.log(np.exp(wide).sum(axis=1, keepdims=True))
    return normal
