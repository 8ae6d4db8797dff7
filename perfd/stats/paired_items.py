"""Answers to the same items by two arms: exact paired tests, intervals, stopping early, and how many items an effect needs.

Of n items only the discordant ones speak: `lost` were right with the base and wrong with the head, `won` the other way round.
A loss of one point where 4 % are discordant takes about 4,000 items; unpaired, near 85 %, it takes 25,775 a side.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from perfd.errors import BadInputError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Discordance:
    """How the paired answers split."""

    n: int
    lost: int
    won: int

    @property
    def difference(self) -> float:
        """Share of items right with the head less the share right with the base."""
        return (self.won - self.lost) / self.n if self.n else 0.0

    @property
    def discordant(self) -> float:
        """Share of items that the arms answer differently."""
        return (self.won + self.lost) / self.n if self.n else 0.0


def discordance(base: Sequence[bool], head: Sequence[bool]) -> Discordance:
    """The split of two equally long lists of right and wrong answers; raises BadInputError where the lists differ in length."""
    if len(base) != len(head):
        raise BadInputError(f"{len(base)} answers of the base and {len(head)} of the head: expected one each for the same items")
    lost = sum(1 for b, h in zip(base, head, strict=True) if b and not h)
    won = sum(1 for b, h in zip(base, head, strict=True) if h and not b)
    return Discordance(len(base), lost, won)


def mcnemar_exact(lost: int, won: int) -> float:
    """Two-sided p of so uneven a split if each discordant item fell to either side by a fair coin (McNemar 1947, exact)."""
    return min(1.0, 2.0 * _fair_tail(min(lost, won), lost + won))


def mcnemar_mid_p(lost: int, won: int) -> float:
    """The same with half the weight of the split seen: closer to its nominal level, never far above (Fagerland et al. 2013)."""
    total, few = lost + won, min(lost, won)
    if total == 0 or lost == won:
        return 1.0
    return 2.0 * _fair_tail(few, total) - _fair_point(few, total)


def _fair_point(k: int, n: int) -> float:
    return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2.0))


def _fair_tail(k: int, n: int) -> float:
    """The probability of at most `k` heads in `n` throws of a fair coin."""
    return math.fsum(_fair_point(i, n) for i in range(k + 1))


def difference_interval(split: Discordance, confidence: float) -> tuple[float, float]:
    """Tango's score interval for the difference of paired proportions (Statistics in Medicine 17, 1998); [-1, 1] without items.

    It keeps its level with few discordant items, also with none, where a Wald interval has width zero.
    """
    if split.n == 0:
        return (-1.0, 1.0)
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    at = split.difference
    low = _root(lambda delta: _score(split, delta) - z, -1.0, at)
    high = _root(lambda delta: _score(split, delta) + z, at, 1.0)
    return (low, high)


def _score(split: Discordance, delta: float) -> float:
    """Tango's statistic for the true difference `delta`, falling from positive to negative as `delta` grows."""
    n, up, down = split.n, split.won, split.lost
    b = -up - down + (2 * n - up + down) * delta
    c = -down * delta * (1.0 - delta)
    share = (math.sqrt(max(0.0, b * b - 8.0 * n * c)) - b) / (4.0 * n)
    variance = n * (2.0 * share + delta * (1.0 - delta))
    gap = up - down - n * delta
    return math.copysign(math.inf, gap) if variance <= 0.0 and gap else (gap / math.sqrt(variance) if variance > 0.0 else 0.0)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses zero between `low` and `high`, to 1e-12; an end where it does not."""
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (middle, high) if falling(middle) > 0.0 else (low, middle)
    return (low + high) / 2.0


def split_evidence(lost: int, won: int, prior: float = 1.0) -> float:
    """The e-value against a fair split, valid at every moment at once: the chance of ever seeing 1/alpha is at most alpha.

    The likelihood ratio of a coin with a Beta(prior, prior) bias against a fair one; a martingale in the discordant items, so
    that one may stop whenever one likes (Ville's inequality; Robbins 1970).
    """
    n = lost + won
    beta = math.lgamma(lost + prior) + math.lgamma(won + prior) - math.lgamma(n + 2 * prior)
    fair = 2 * math.lgamma(prior) - math.lgamma(2 * prior) - n * math.log(2.0)
    return math.exp(min(700.0, beta - fair))


def running_interval(differences: Floats, alpha: float, points: int = 2001) -> tuple[float, float]:
    """An interval for the mean of values in [-1, 1] that holds at every moment at once.

    The values come in an order that has nothing to do with them. For each mean on a grid, money is bet against it; a mean whose
    bettor has ever had 1/alpha is out (Waudby-Smith and Ramdas, JRSS B 86, 2024). Cost: O(values x points).
    """
    values = (np.asarray(differences, dtype=np.float64) + 1.0) / 2.0
    means = np.linspace(0.0, 1.0, points)
    bets = _bets(values, alpha)
    kept = np.ones(points, dtype=bool)
    up, down = np.zeros(points), np.zeros(points)
    with np.errstate(divide="ignore", invalid="ignore"):
        for value, bet in zip(values, bets, strict=True):
            up += np.log1p(np.minimum(bet, 0.75 / means) * (value - means))
            down += np.log1p(-np.minimum(bet, 0.75 / (1.0 - means)) * (value - means))
            kept &= np.logaddexp(up, down) - math.log(2.0) < math.log(1.0 / alpha)
    inside = means[kept]
    step = 1.0 / (points - 1)
    if not len(inside):
        return (2 * float(values.mean()) - 1.0,) * 2
    return (max(-1.0, 2 * (inside[0] - step) - 1.0), min(1.0, 2 * (inside[-1] + step) - 1.0))


def _bets(values: Floats, alpha: float) -> Floats:
    """The predictable plug-in bets: each knows only the values before it."""
    count = np.arange(1, len(values) + 1)
    mean = (0.5 + np.cumsum(values)) / (count + 1)
    variance = (0.25 + np.cumsum((values - mean) ** 2)) / (count + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    bets: Floats = np.sqrt(2.0 * math.log(2.0 / alpha) / (before * count * np.log1p(count)))
    return bets


def items_needed(effect: float, discordant: float, alpha: float = 0.01, power: float = 0.8, sides: int = 2) -> int:
    """Items for a difference of `effect` (0.01 is a point) where a share `discordant` differ, by McNemar's test (Connor 1987)."""
    if not 0.0 < abs(effect) <= discordant <= 1.0:
        raise BadInputError(f"effect {effect} with {discordant} discordant: expected 0 < |effect| <= discordant <= 1")
    normal = NormalDist()
    sure, strong = normal.inv_cdf(1.0 - alpha / sides), normal.inv_cdf(power)
    root = sure * math.sqrt(discordant) + strong * math.sqrt(discordant - effect**2)
    return math.ceil((root / effect) ** 2)
