"""A/A: a Build against itself. What a night would have called different there is a false alarm, and counted as one.

The bars are those of nights and comparisons: the Series' own noise from night to night, an error of 1 % over all Metrics of the
comparison together, and the Metric's relevant effect. A single block says little about its own spread, so that none is estimated.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from perfd.domain.metric import Better, Metric, MetricKind
from perfd.domain.numbers import percent
from perfd.domain.verdict import Outcome, Verdict
from perfd.stats.shares import share_interval

DETECTOR = "aa/1"
ALPHA = 0.01
"""Chance that an A/A comparison is called different although its noise is what the nights have shown."""
FLOOR = 0.0005
"""Relative noise below which agreement is taken for a coarse clock, not for precision."""
LONGEST_S = 45.0
"""A block of four Runs that would take longer is cut to one pair: a night has little time for its own errors."""


@dataclass(frozen=True, order=True)
class Loaded:
    """Something that A/A can be measured with: a Workload on a subject with a Model."""

    subject: str
    workload: str
    model: str


def choose(candidates: Iterable[Loaded], past: Sequence[Loaded]) -> Loaded | None:
    """The candidate whose turn it is: the one measured longest ago; `past` is in order, oldest first."""
    last = {one: place for place, one in enumerate(past)}
    return min(sorted(candidates), key=lambda one: last.get(one, -1), default=None)


def runs_of(run_s: float) -> int:
    """How many Runs an A/A comparison has when one takes so long: a block of four, or a pair."""
    return 4 if 4 * run_s <= LONGEST_S else 2


def judge_itself(pairs: Sequence[tuple[float, float]], metric: Metric, noise: float | None, metrics: int) -> Verdict:
    """The Verdict on pairs of the same Build; `noise` is the Series' own, `metrics` how many are judged together."""
    if not pairs:
        return Verdict(Outcome.UNSURE, "no pair was measured", DETECTOR, 0)
    effect = _effect(pairs)
    if metric.kind is MetricKind.STATIC:
        bar = 0.0
    elif noise is None:
        return Verdict(Outcome.UNSURE, "the Series has no noise to be held to yet", DETECTOR, len(pairs), effect)
    else:
        z = NormalDist().inv_cdf(1.0 - ALPHA / max(1, metrics) / 2.0)
        bar = max(metric.relevant, z * max(noise, FLOOR) * math.sqrt(2.0 / len(pairs)))
    reason = f"{percent(effect)} between equal Builds"
    return Verdict(_outcome(effect, bar, metric), reason, DETECTOR, len(pairs), effect, bar=bar)


def _effect(pairs: Sequence[tuple[float, float]]) -> float:
    """The mean relative difference of the arms; a plain one where the base is zero."""
    base, head = (sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1))
    return head / base - 1.0 if base else head


def _outcome(effect: float, bar: float, metric: Metric) -> Outcome:
    if abs(effect) <= bar:
        return Outcome.SAME
    return Outcome.BETTER if (effect > 0) == (metric.better is Better.HIGHER) else Outcome.WORSE


@dataclass(frozen=True)
class AlarmRate:
    """How often perfd was wrong, of how many times that it could have been."""

    wrong: int
    of: int
    rate: float | None
    """Absent where nothing was counted."""
    interval: tuple[float, float]
    """95 %, binomial."""


def alarm_rate(wrong: int, of: int) -> AlarmRate:
    """The share with its interval."""
    return AlarmRate(wrong, of, wrong / of if of else None, share_interval(wrong, of))


def called(outcomes: Iterable[Outcome]) -> Outcome:
    """What the whole comparison is called: different where any Metric is; unsure where none could be judged."""
    seen = set(outcomes)
    order = (Outcome.NOT_COMPARABLE, Outcome.WORSE, Outcome.BETTER, Outcome.SAME)
    return next((outcome for outcome in order if outcome in seen), Outcome.UNSURE)
