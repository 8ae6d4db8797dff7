"""The difference of two arms from interleaved pairs: floats in, floats out.

Pairs are measured in blocks of two, the first of a block A B and the second B A, every other block the other way round
(`pair_signs`). Each window (one measurement of one arm) is modelled as its block's level + half the difference + a drift that
is straight within a block + noise, and fitted by least squares with Huber's weights. Why so:

- A block's level takes away whatever the machine did between blocks; the drift takes away a slope within them, and as the
  blocks are mirrored they cancel a bend too. Neither moves the difference nor widens its interval.
- Noise is estimated from all windows: 1.5 n - 2 degrees of freedom for n pairs, where n differences alone leave n - 1.
  With noise that remembers (AR(1), positive) this errs on the safe side, because A B B A has a smaller variance than the
  mean of the contrasts that the noise is taken from. One arm three times as noisy as the other costs it: 1.5 % for 1 %.
- A disturbed window is held at 1.5 standard deviations (Huber 1964, proposal 2; standard error as in Huber and Ronchetti
  2009, equation 7.81), so that it cannot decide, nor hide, a difference.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from perfd.errors import BadInputError
from perfd.stats.student import t_quantile

Floats = npt.NDArray[np.float64]

CLIP = 1.5
"""Residuals beyond this many standard deviations are held there: Gaussian data pay 4 % more windows for it."""

_ROUNDS = 30
"""Rounds of the fit, always so many: from 10 pairs on it has settled to 0.01 standard errors with one window in 20 disturbed;
with fewer it is cut short before a tiny sample explains itself perfectly. The levels of `sequential` are calibrated with it."""

_NORMAL_INSIDE = math.erf(CLIP / math.sqrt(2.0))
_NORMAL_SQUARES = _NORMAL_INSIDE - CLIP * math.sqrt(2.0 / math.pi) * math.exp(-(CLIP**2) / 2.0) + CLIP**2 * (1.0 - _NORMAL_INSIDE)
"""Mean of a clipped standard normal's square."""


@dataclass(frozen=True)
class PairEstimate:
    """What a number of pairs say about head minus base, in the unit of the values given."""

    n: int
    """Pairs."""
    difference: float
    error: float
    """Standard error of the difference; infinite where `df` is zero."""
    df: int
    """Degrees of freedom of `error`; zero when there are too few pairs to know it."""
    spread: float
    """Standard deviation of one window within its block."""

    def interval(self, p_two_sided: float) -> tuple[float, float]:
        """The Student interval that leaves `p_two_sided` outside; the whole line without degrees of freedom."""
        reach = t_quantile(p_two_sided, float(self.df)) * self.error if self.df else math.inf
        return (self.difference - reach, self.difference + reach)


@dataclass(frozen=True)
class Design:
    """The least-squares fit of `n` pairs: all that does not depend on the values."""

    fit: Floats
    """Values to fitted values: (2n, 2n)."""
    difference: Floats
    """Values to the difference: (2n,)."""
    df: int


def pair_signs(n: int) -> tuple[int, ...]:
    """+1 where a pair is measured base first, -1 where head first: + - - + and again."""
    return tuple(1 if index % 4 in {0, 3} else -1 for index in range(n))


@lru_cache(maxsize=512)
def design(signs: tuple[int, ...]) -> Design:
    """The fit for pairs measured in this order. Columns: a level for every block of two pairs, the difference, the drift."""
    n = len(signs)
    blocks = (n + 1) // 2
    columns = np.zeros((2 * n, blocks + 2))
    for index, sign in enumerate(signs):
        place = 2 * (index % 2)
        first, second = 2 * index, 2 * index + 1
        columns[[first, second], index // 2] = 1.0
        columns[[first, second], blocks] = (-sign / 2.0, sign / 2.0)
        columns[[first, second], blocks + 1] = (place - 1.5, place - 0.5)
    back = np.linalg.pinv(columns)
    return Design(columns @ back, back[blocks], 2 * n - int(np.linalg.matrix_rank(columns)))


def in_order(base: Floats, head: Floats, signs: Sequence[int]) -> Floats:
    """The windows in the order of measuring, two a pair: (…, n) and (…, n) to (…, 2n)."""
    first = np.where(np.asarray(signs) > 0, base, head)
    second = np.where(np.asarray(signs) > 0, head, base)
    return np.stack([first, second], axis=-1).reshape(*base.shape[:-1], -1)


def fit_windows(windows: Floats, plan: Design, floor: float = 0.0) -> tuple[Floats, Floats, Floats]:
    """Difference, its standard error and the spread of a window, for each row of `windows`: (…, 2n) to three times (…).

    `floor` is the smallest spread that is believed. Cost: 30 products of (rows, 2n) with (2n, 2n).
    """
    size = windows.shape[-1]
    fitted = windows @ plan.fit
    spread = _root_mean(windows - fitted, plan.df, 1.0, floor)
    for _ in range(_ROUNDS):
        held = _held(windows - fitted, spread)
        spread = _root_mean(held, plan.df, _NORMAL_SQUARES, floor)
        fitted = (fitted + held) @ plan.fit
    rest = windows - fitted
    held = _held(rest, spread)
    inside = np.maximum((np.abs(rest) <= CLIP * spread[..., None]).mean(axis=-1), 0.3)
    correction = (1.0 + (size - plan.df) / size * (1.0 - inside) / inside) / inside
    error = _root_mean(held, plan.df, 1.0, floor) * correction * math.sqrt(float(plan.difference @ plan.difference))
    return (fitted + held) @ plan.difference, error, spread


def estimate(pairs: Sequence[tuple[float, float]], signs: Sequence[int] | None = None, floor: float = 0.0) -> PairEstimate:
    """Head minus base from (base, head) pairs in the order of measuring; `signs` where some pairs of the order are missing."""
    n = len(pairs)
    order = pair_signs(n) if signs is None else tuple(signs)
    if n < 2:
        return PairEstimate(n, pairs[0][1] - pairs[0][0] if n else 0.0, math.inf, 0, math.inf)
    plan = design(order)
    values = np.asarray(pairs, dtype=np.float64)
    if plan.df < 1:
        return PairEstimate(n, float((values[:, 1] - values[:, 0]).mean()), math.inf, 0, math.inf)
    found = fit_windows(in_order(values[:, 0], values[:, 1], order), plan, floor)
    difference, error, spread = (float(part) for part in found)
    return PairEstimate(n, difference, error, plan.df, spread)


def detectable(found: PairEstimate, p_two_sided: float, power: float = 0.9) -> float:
    """The smallest difference that as many pairs with this noise would have shown with `power`, held to `p_two_sided`."""
    if found.df < 1:
        return math.inf
    return (t_quantile(p_two_sided, float(found.df)) + NormalDist().inv_cdf(power)) * found.error


def relative(pairs: Sequence[tuple[float, float]]) -> tuple[list[tuple[float, float]], bool]:
    """The pairs on a scale where differences are relative, and whether that scale is logarithmic.

    Logarithms where every value is positive. Otherwise (counts with zeros, signed values) shares of the mean size of the base, or
    the values as they are where the base is zero throughout. Raises BadInputError for values that are not finite.
    """
    values = np.asarray(pairs, dtype=np.float64).reshape(-1, 2)
    if not bool(np.isfinite(values).all()):
        place = int(np.argmin(np.isfinite(values).all(axis=1)))
        raise BadInputError(
            f"pair {place} is {tuple(pairs[place])}: expected two finite numbers; measure it again or leave it out"
        )
    logarithmic = bool(np.all(values > 0.0))
    scale = float(np.mean(np.abs(values[:, 0]))) if values.size else 0.0
    scaled = np.log(values) if logarithmic else values / (scale if scale > 0.0 else 1.0)
    return [(float(base), float(head)) for base, head in scaled], logarithmic


def _held(rest: Floats, spread: Floats) -> Floats:
    limit = CLIP * spread[..., None]
    held: Floats = np.clip(rest, -limit, limit)
    return held


def _root_mean(rest: Floats, df: int, unit: float, floor: float) -> Floats:
    """The standard deviation that residuals with `df` degrees of freedom show, never below `floor`."""
    root: Floats = np.maximum(np.sqrt((rest**2).sum(axis=-1) / (df * unit)), max(floor, 1e-15))
    return root
