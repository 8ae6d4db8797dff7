"""A Checkpoint against the first day of its Launch: by interleaved blocks, by the same items, or by the Runs of both days.

Runs of two days differ by the software and by what the machine did in between; interleaved blocks differ by the software alone.
So the first day's Build is measured again beside the new one, and what it takes now against what it took then is the machine's.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from perfd.domain.metric import Better, Metric, MetricKind
from perfd.domain.numbers import signed
from perfd.domain.run import Point
from perfd.domain.verdict import Outcome, Verdict
from perfd.rules.compare import judge_intervals
from perfd.stats.student import t_quantile

DETECTOR = "checkpoint/1"
_OUTSIDE = 0.05
_NORMAL = 1.959964
"""Half the width of a 95 % interval, in standard deviations."""


class Basis(StrEnum):
    """What a ratio rests on."""

    INTERLEAVED = "interleaved"
    """Both Builds in turn, on one device, in one night."""
    ITEMS = "same items"
    """Answers to the same items or documents on both days."""
    RUNS = "runs of both days"
    """The two Checkpoints' own Runs: the machine is in it."""


class Floor(StrEnum):
    """Whether a Checkpoint is as good as the first day."""

    KEPT = "kept"
    LOST = "lost"
    UNSURE = "unsure"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Against:
    """A Metric of a Checkpoint against the first day, and what that rests on."""

    basis: Basis
    verdict: Verdict


def by_runs(first: Point, now: Point, metric: Metric, noise: float | None) -> Verdict:
    """Now against the first day by one Run each; `noise` is the Series' night-to-night relative standard deviation.

    The interval holds both Runs' own intervals and the noise between nights; without either there is no answer.
    """
    if first.hardware_hash != now.hardware_hash:
        reason = "the two days ran on different hardware or clock policies"
        return Verdict(Outcome.NOT_COMPARABLE, reason, DETECTOR, 2)
    if first.value <= 0.0 or now.value <= 0.0 or metric.kind is MetricKind.STATIC:
        return _counted(first.value, now.value, metric)
    own = [_half(first), _half(now)]
    between = math.sqrt(2.0) * _NORMAL * noise if noise is not None else None
    if between is None and None in own:
        reason = "a Run gives no interval, and the Series has no noise yet"
        return Verdict(Outcome.UNSURE, reason, DETECTOR, 2, effect=now.value / first.value - 1.0)
    reach = math.hypot(*(half or 0.0 for half in own), between or 0.0)
    told = "" if between is not None else "; how nights differ is not known yet, so it may be more"
    return _judged(math.log(now.value / first.value), reach, metric, 2, told)


def by_machine(first: Point, again: Sequence[float], hardware_hash: str, metric: Metric) -> Verdict:
    """What the first day's Build takes now against what it took then: the machine's part.

    The interval is where one more Run of it would lie with 95 %, from how its Runs differ now: of n of them, n - 1 degrees of
    freedom.
    """
    n = len(again)
    if first.hardware_hash != hardware_hash:
        return Verdict(Outcome.NOT_COMPARABLE, "other hardware or another clock policy than on the first day", DETECTOR, n)
    if n < 2 or first.value <= 0.0 or min(again) <= 0.0:
        return Verdict(Outcome.UNSURE, f"{n} Runs of the first day's Build, at least 2 above zero are needed", DETECTOR, n)
    logs = [math.log(value) for value in again]
    mean = math.fsum(logs) / n
    spread = math.sqrt(math.fsum((one - mean) ** 2 for one in logs) / (n - 1))
    reach = t_quantile(_OUTSIDE, float(n - 1)) * spread * math.sqrt(1.0 + 1.0 / n)
    return _judged(mean - math.log(first.value), reach, metric, n, "")


def floor_of(quality: Iterable[tuple[str, Verdict]]) -> tuple[Floor, str]:
    """Whether quality is as good as on the first day, from its Metrics by name, and the sentence that says why.

    One that is surely worse loses the floor. One that cannot tell leaves it unsure: a floor is kept by evidence, not by doubt.
    """
    known = tuple(quality)
    lost = [f"{name}: {verdict.reason}" for name, verdict in known if verdict.outcome is Outcome.WORSE]
    if lost:
        return Floor.LOST, "; ".join(lost)
    open_ = [name for name, verdict in known if verdict.outcome not in {Outcome.SAME, Outcome.BETTER}]
    if open_:
        return Floor.UNSURE, "could not tell for " + ", ".join(open_)
    if not known:
        return Floor.NOT_MEASURED, "no Metric of quality was measured on both days"
    return Floor.KEPT, "no worse in " + ", ".join(name for name, _ in known)


def geometric_mean(verdicts: Sequence[Verdict]) -> tuple[float, tuple[float, float]] | None:
    """The mean ratio of several Workloads of one class, minus one, with its interval, their errors taken as independent.

    Absent unless every one has an effect and an interval.
    """
    effects = [verdict.effect for verdict in verdicts if verdict.effect is not None and verdict.effect > -1.0]
    ends = [verdict.interval for verdict in verdicts if verdict.interval is not None and verdict.interval[0] > -1.0]
    if not verdicts or len(effects) < len(verdicts) or len(ends) < len(verdicts):
        return None
    mean = math.fsum(map(math.log1p, effects)) / len(effects)
    reach = math.hypot(*((math.log1p(high) - math.log1p(low)) / 2.0 for low, high in ends)) / len(ends)
    return math.expm1(mean), (math.expm1(mean - reach), math.expm1(mean + reach))


def _half(point: Point) -> float | None:
    """Half the width of the Point's interval, as a logarithm; absent where it has none."""
    if point.interval is None or point.interval[0] <= 0.0:
        return None
    return max(math.log(point.interval[1] / point.value), math.log(point.value / point.interval[0]))


def _judged(difference: float, reach: float, metric: Metric, n: int, told: str) -> Verdict:
    effect = math.expm1(difference)
    interval = (math.expm1(difference - reach), math.expm1(difference + reach))
    outcome = judge_intervals(interval, interval, metric.relevant, metric)
    shown = f"{signed(100 * effect)} % [{signed(100 * interval[0])} %, {signed(100 * interval[1])} %]{told}"
    return Verdict(outcome, shown, DETECTOR, n, effect, interval, bar=reach)


def _counted(first: float, now: float, metric: Metric) -> Verdict:
    """A number that may be zero has no ratio: it moved, or it did not."""
    if first == now:
        return Verdict(Outcome.SAME, f"{now:g} {metric.unit} on both days", DETECTOR, 2, 0.0, (0.0, 0.0))
    outcome = Outcome.BETTER if (now > first) == (metric.better is Better.HIGHER) else Outcome.WORSE
    effect = now / first - 1.0 if first > 0.0 else None
    if effect is not None and abs(effect) <= metric.relevant:
        outcome = Outcome.SAME
    return Verdict(outcome, f"{first:g} became {now:g} {metric.unit}", DETECTOR, 2, effect)
