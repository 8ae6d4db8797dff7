"""A/B judgement: which of two Builds is better, from interleaved pairs, and whether to measure on.

Sequential with one error for the whole procedure: after every pair the interval holds at once for all looks up to the cap, so
one may stop as soon as it answers. Outside zero it is *better* or *worse*, inside plus or minus the relevant effect it is
*same*.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from perfd.domain.metric import Better, Metric, MetricKind
from perfd.domain.run import Arm
from perfd.domain.verdict import Outcome, Verdict
from perfd.stats.pairs import PairEstimate, differences, estimate, pair_sign
from perfd.stats.sequential import nominal_level

DETECTOR = "pairs/1"


@dataclass(frozen=True)
class ComparePolicy:
    """How sure a comparison must be, and how long it may go on."""

    alpha: float = 0.01
    """Chance, over the whole comparison, that the interval ever excludes the truth."""
    min_pairs: int = 3
    cap: int = 40
    """Pairs after which an open question stays `unsure`."""
    relevant: float | None = None
    """Smallest relative effect that matters; absent means the Metric's own."""
    floor: float = 0.0005
    """Relative spread of a pair below which agreement is taken for coarse clocks, not for precision."""

    def shared(self, metrics: int) -> "ComparePolicy":
        """The same policy for one of `metrics` Metrics that are judged together (Bonferroni)."""
        return ComparePolicy(self.alpha / max(1, metrics), self.min_pairs, self.cap, self.relevant, self.floor)


@dataclass(frozen=True)
class PairDecision:
    """What the pairs so far say, and whether another pair could change it."""

    verdict: Verdict
    more: bool


def abba_order(blocks: int) -> tuple[Arm, ...]:
    """The arms of `blocks` blocks of four, every other block mirrored: base head head base, head base base head.

    A block cancels a straight drift, a block and its mirror also cancel a bent one.
    """
    order: list[Arm] = []
    for pair in range(2 * blocks):
        order += [Arm.BASE, Arm.HEAD] if pair_sign(pair) > 0 else [Arm.HEAD, Arm.BASE]
    return tuple(order)


def next_blocks(pairs: int, decisions: Iterable[PairDecision], policy: ComparePolicy | None = None) -> int:
    """How many blocks to measure after `pairs` pairs; zero when every Metric is decided or the cap is reached."""
    policy = policy or ComparePolicy()
    decisions = tuple(decisions)
    if pairs >= policy.cap or (decisions and not any(decision.more for decision in decisions)):
        return 0
    missing = policy.min_pairs - pairs
    return max(1, math.ceil(missing / 2))


def decide(
    pairs: Sequence[tuple[float, float]],
    metric: Metric,
    policy: ComparePolicy | None = None,
    signs: Sequence[int] | None = None,
) -> PairDecision:
    """The Verdict on (base, head) pairs of one Metric, in the order of measuring.

    `signs` tells which pairs were measured base first (+1) or head first (-1), where some of `abba_order` are missing.
    """
    policy = policy or ComparePolicy()
    relevant = metric.relevant if policy.relevant is None else policy.relevant
    if metric.kind is MetricKind.STATIC:
        return _decide_static(pairs, metric, relevant)
    diffs, logs = differences(pairs)
    found = estimate(diffs, None if signs is None else np.array(signs, dtype=np.float64), policy.floor)
    if found.n < policy.min_pairs or found.df < 1:
        return _too_few(found, policy)
    interval = found.interval(nominal_level(found.n, policy.cap, policy.alpha))
    effect, low, high = (math.expm1(x) if logs else x for x in (found.mean, *interval))
    outcome = _outcome(low, high, metric, relevant)
    reason = _reason(outcome, effect, (low, high), relevant, found.n)
    bar = (high - low) / 2.0
    verdict = Verdict(outcome, reason, DETECTOR, found.n, effect, (low, high), bar, noise=found.spread)
    return PairDecision(verdict, outcome is Outcome.UNSURE and found.n < policy.cap)


def _outcome(low: float, high: float, metric: Metric, relevant: float) -> Outcome:
    if -relevant <= low and high <= relevant:
        return Outcome.SAME
    if low > 0.0 or high < 0.0:
        return Outcome.BETTER if (low > 0.0) == (metric.better is Better.HIGHER) else Outcome.WORSE
    return Outcome.UNSURE


def _percent(x: float) -> str:
    return f"{100 * x:+.2f} %"


def _reason(outcome: Outcome, effect: float, interval: tuple[float, float], relevant: float, n: int) -> str:
    figures = f"{_percent(effect)} [{_percent(interval[0])}, {_percent(interval[1])}] over {n} pairs"
    if outcome is Outcome.UNSURE:
        return f"{figures}: neither outside zero nor within {100 * relevant:g} %"
    return f"{figures}, within {100 * relevant:g} %" if outcome is Outcome.SAME else figures


def _too_few(found: PairEstimate, policy: ComparePolicy) -> PairDecision:
    reason = f"{found.n} pairs, at least {policy.min_pairs} are needed"
    return PairDecision(Verdict(Outcome.UNSURE, reason, DETECTOR, found.n), found.n < policy.cap)


def _decide_static(pairs: Sequence[tuple[float, float]], metric: Metric, relevant: float) -> PairDecision:
    """A counted Metric has no noise: the last pair is the answer."""
    if not pairs:
        return PairDecision(Verdict(Outcome.UNSURE, "nothing was counted yet", DETECTOR, 0), more=True)
    base, head = pairs[-1]
    effect = head / base - 1.0 if base else head
    outcome = _outcome(effect, effect, metric, relevant)
    return PairDecision(
        Verdict(outcome, f"counted {base:g} and {head:g}", DETECTOR, len(pairs), effect, (effect, effect)), more=False
    )


def combine(verdicts: Mapping[Metric, Verdict]) -> Verdict:
    """One Verdict for a Build from those of its Metrics: faster and as good is better, faster and worse quality is worse."""
    quality = [v for m, v in verdicts.items() if m.kind is MetricKind.QUALITY]
    speed = [v for m, v in verdicts.items() if m.kind is not MetricKind.QUALITY]
    outcome = _combined(_worst(speed), _worst(quality))
    reason = "; ".join(f"{m.name}: {v.outcome}, {v.reason}" for m, v in verdicts.items()) or "nothing was measured"
    return Verdict(outcome, reason, DETECTOR, min((v.n for v in verdicts.values()), default=0))


_ORDER = (Outcome.NOT_COMPARABLE, Outcome.WORSE, Outcome.UNSURE, Outcome.BETTER, Outcome.SAME)


def _worst(verdicts: Sequence[Verdict]) -> Outcome | None:
    outcomes = {verdict.outcome for verdict in verdicts}
    return next((outcome for outcome in _ORDER if outcome in outcomes), None)


def _combined(speed: Outcome | None, quality: Outcome | None) -> Outcome:
    present = [outcome for outcome in (speed, quality) if outcome is not None]
    return next((outcome for outcome in _ORDER if outcome in present), Outcome.UNSURE)
