"""The difference of two arms from interleaved pairs: floats in, floats out.

Pairs are measured in the order A B | B A | B A | A B and so on (`pair_sign`), so that a drift of the machine that is straight
over a block adds +g to one pair and -g to the other. The estimate takes g out before it looks at the scatter: a drift neither
moves the difference nor widens its interval. What remains is trimmed (Tukey and McLaughlin 1963; Yuen 1974): the k smallest
and k largest of n differences only count as "at least that far", so that one disturbed window cannot decide, nor hide, a
difference.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perfd.stats.student import t_quantile

Floats = npt.NDArray[np.float64]

TRIM = 0.1
"""Share of the differences that is trimmed at each end; a clean Gaussian comparison pays about 3 % more pairs for it."""


@dataclass(frozen=True)
class PairEstimate:
    """What a number of pairs say about the difference of the arms, in the unit of the differences."""

    n: int
    mean: float
    """Trimmed mean of the differences, drift taken out."""
    error: float
    """Its standard error."""
    df: int
    """Degrees of freedom of `error`; zero when there are too few pairs to know it."""
    spread: float
    """Standard deviation of one difference, outliers pulled in."""
    drift: float
    """How much being measured second adds to an arm."""

    def interval(self, p_two_sided: float) -> tuple[float, float]:
        """The Student interval that leaves `p_two_sided` outside; the whole line without degrees of freedom."""
        if self.df < 1:
            return (-math.inf, math.inf)
        reach = t_quantile(p_two_sided, self.df) * self.error
        return (self.mean - reach, self.mean + reach)


def pair_sign(index: int) -> int:
    """+1 where pair `index` is measured A first, -1 where B first: + - - + and again."""
    return 1 if index % 4 in {0, 3} else -1


def pair_signs(n: int) -> Floats:
    """The signs of the first `n` pairs: (n,)."""
    return np.array([pair_sign(index) for index in range(n)], dtype=np.float64)


def differences(pairs: Sequence[tuple[float, float]]) -> tuple[Floats, bool]:
    """Head against base, pair by pair, and whether they are log-ratios.

    Log-ratios where every value is positive. Otherwise (counts with zeros, signed values) plain differences over the mean size of
    the base, or plain differences where the base is zero throughout.
    """
    values = np.asarray(pairs, dtype=np.float64).reshape(-1, 2)
    if values.size and bool(np.all(values > 0.0)):
        return np.log(values[:, 1] / values[:, 0]), True
    scale = float(np.mean(np.abs(values[:, 0]))) if values.size else 0.0
    return (values[:, 1] - values[:, 0]) / (scale if scale > 0.0 else 1.0), False


def estimate(diffs: Floats, signs: Floats | None = None, floor: float = 0.0) -> PairEstimate:
    """The trimmed, drift-free estimate; `floor` is the smallest spread of a difference that is believed.

    Cost: O(n log n).
    """
    n = len(diffs)
    if n == 0:
        return PairEstimate(0, 0.0, math.inf, 0, math.inf, 0.0)
    signs = pair_signs(n) if signs is None else signs
    drift = _drift(diffs, signs)
    rest = np.sort(diffs - drift * signs)
    k = int(TRIM * n)
    kept = n - 2 * k
    mean = float(rest[k : n - k].mean())
    df = kept - 2
    if df < 1:
        return PairEstimate(n, mean, math.inf, 0, math.inf, drift)
    pulled = np.clip(rest, rest[k], rest[n - k - 1])
    squares = float(((pulled - pulled.mean()) ** 2).sum())
    spread = max(math.sqrt(squares / df), floor)
    return PairEstimate(n, mean, spread / math.sqrt(kept), df, spread, drift)


def _drift(diffs: Floats, signs: Floats) -> float:
    """Half the gap between pairs measured A first and B first, by their middles; zero with one order only."""
    first, second = diffs[signs > 0], diffs[signs < 0]
    if len(first) == 0 or len(second) == 0:
        return 0.0
    return float(_middle(first) - _middle(second)) / 2.0


def _middle(values: Floats) -> float:
    """The mean with a fifth trimmed at each end."""
    k = int(2 * TRIM * len(values))
    return float(np.sort(values)[k : len(values) - k].mean())
