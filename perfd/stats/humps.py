"""Whether noise has two humps (a machine that is in one of two states each night), and where: Otsu's split of a histogram.

The split is where the variance between both parts is largest (Otsu 1979). Two humps are clear where both hold an eighth of the
nights or more, and lie further apart, for their own width, than the halves of a single hump do by chance. Cost: O(bins) a row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

_FEWEST = 40
"""Nights that show humps."""
_SHARE = 1 / 8
_APART, _BY_CHANCE = 2.7, 6.0
"""Means of the halves of a Gaussian lie 2.65 of their own standard deviations apart; what n nights may add is 6 / sqrt(n): one
Gaussian Series in a hundred shows more, and one in ten of two modes four standard deviations apart shows less at 47 nights."""
_FINEST = 3.0
"""Finer than that, the table would not reach far enough."""


@dataclass(frozen=True)
class Humps:
    """One row a histogram; where `clear` is false the others mean nothing."""

    clear: Bools
    split: Ints
    """The first bin of the upper hump."""
    apart: Ints
    """Bins between both means."""
    upper: Floats
    """The share of the upper hump."""
    width: Floats
    """The standard deviation of one hump, in bins."""

    def rows(self, which: Ints) -> "Humps":
        """The same for some rows."""
        return Humps(self.clear[which], self.split[which], self.apart[which], self.upper[which], self.width[which])


def humps_of(counts: Floats) -> Humps:
    """The two humps of each row of `counts`, (rows, bins)."""
    rows, places = (np.arange(size) for size in counts.shape)
    below, moment = np.cumsum(counts, axis=1), np.cumsum(counts * places, axis=1)
    n = np.maximum(below[:, -1:], 1)
    above = n - below
    low, high = moment / np.maximum(below, 1), (moment[:, -1:] - moment) / np.maximum(above, 1)
    between = below * above * (high - low) ** 2
    last = np.argmax(between, axis=1)
    upper, apart = (part[rows, last] for part in (above / n, high - low))
    n = n[:, 0]
    mean = moment[:, -1] / n
    within = (counts @ places.astype(counts.dtype) ** 2) / n - mean**2 - between[rows, last] / n**2
    width = np.sqrt(np.maximum(within, 1 / 12))
    clear = (n >= _FEWEST) & (np.minimum(upper, 1 - upper) >= _SHARE) & (apart >= (_APART + _BY_CHANCE / np.sqrt(n)) * width)
    return Humps(clear, last + 1, np.rint(apart).astype(np.intp), upper, width)


def zoom_of(humps: Humps, bin_width: float) -> Floats:
    """How many times finer than in standard deviations of all nights two clear humps should be looked at; 1 for all others.

    One hump is then a standard deviation wide, as the noise of a single state is.
    """
    return np.where(humps.clear, np.clip(1 / (bin_width * humps.width), 1, _FINEST), 1)
