"""A/B judgement: which of two Builds is better, from interleaved pairs, and whether to measure on.

Sequential, with one error for the whole procedure: after every pair there is an interval that holds for all pairs up to the cap
at once, so one may stop as soon as it answers. Outside zero it is *better* or *worse*; within plus or minus the relevant effect
it is *same*, whether or not it touches zero; anything else is *unsure*, and another pair is wanted until the cap. *Same* has an
error of its own (beta), because a missed difference costs less than a false alarm.
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perfd.domain.metric import Better, Metric, MetricKind
from perfd.domain.numbers import signed
from perfd.domain.run import Arm
from perfd.domain.verdict import Outcome, Verdict
from perfd.stats.pairs import PairEstimate, detectable, estimate, pair_signs, relative
from perfd.stats.sequential import nominal_level

DETECTOR = "pairs/1"


@dataclass(frozen=True)
class ComparePolicy:
    """How sure a comparison must be, and how long it may go on."""

    alpha: float = 0.01
    """Chance, over the whole comparison, that two equal Builds are called better or worse."""
    beta: float = 0.05
    """Chance, over the whole comparison and both directions, that the narrower interval behind *same* leaves out the truth."""
    min_pairs: int = 3
    cap: int = 40
    """Pairs after which an open question stays `unsure`."""
    relevant: float | None = None
    """Smallest relative effect that matters; absent means the Metric's own."""
    floor: float = 0.0005
    """Relative spread of a window below which agreement is taken for a coarse clock, not for precision."""

    def shared(self, metrics: int) -> "ComparePolicy":
        """The policy for each of `metrics` Metrics that are judged together: the errors are divided (Bonferroni)."""
        count = max(1, metrics)
        return dataclasses.replace(self, alpha=self.alpha / count, beta=self.beta / count)

    def bar_of(self, metric: Metric) -> float:
        """The smallest relative effect of `metric` that matters."""
        return metric.relevant if self.relevant is None else self.relevant


@dataclass(frozen=True)
class PairDecision:
    """What the pairs so far say, and whether another pair could change it."""

    verdict: Verdict
    more: bool


def abba_order(blocks: int) -> tuple[Arm, ...]:
    """The arms of `blocks` blocks of four, every other one mirrored: base head head base, head base base head.

    A block cancels a straight drift; a block and its mirror also cancel a bent one.
    """
    order: list[Arm] = []
    for sign in pair_signs(2 * blocks):
        order += [Arm.BASE, Arm.HEAD] if sign > 0 else [Arm.HEAD, Arm.BASE]
    return tuple(order)


def next_blocks(pairs: int, decisions: Iterable[PairDecision], policy: ComparePolicy | None = None) -> int:
    """How many blocks to measure after `pairs` pairs; zero when every Metric is decided or the cap is reached."""
    policy = policy or ComparePolicy()
    known = tuple(decisions)
    if pairs >= policy.cap or (known and not any(decision.more for decision in known)):
        return 0
    return max(1, math.ceil((policy.min_pairs - pairs) / 2))


def decide(
    pairs: Sequence[tuple[float, float]],
    metric: Metric,
    policy: ComparePolicy | None = None,
    signs: Sequence[int] | None = None,
) -> PairDecision:
    """The Verdict on (base, head) pairs of one Metric, in the order of measuring.

    `signs` tells which pairs were measured base first (+1) or head first (-1), where some of `abba_order` are missing.
    Raises BadInputError where a value is not finite.
    """
    policy = policy or ComparePolicy()
    scaled, logarithmic = relative(pairs)
    if metric.kind is MetricKind.STATIC:
        return _decide_static(pairs, metric, policy.bar_of(metric))
    if len(pairs) >= policy.min_pairs and policy.bar_of(metric) == 0.0 and all(base == head for base, head in pairs):
        return _equal(pairs)
    found = estimate(scaled, signs, policy.floor)
    if found.n < policy.min_pairs or found.df < 1:
        return _too_few(found.n, policy)
    return _decide_interval(found, metric, policy, _scale_of(pairs, metric, logarithmic=logarithmic))


def course(
    pairs: Sequence[tuple[float, float]],
    metric: Metric,
    policy: ComparePolicy | None = None,
    signs: Sequence[int] | None = None,
) -> tuple[Verdict, ...]:
    """The Verdict after each pair, for a picture of how the comparison came to its answer."""
    return tuple(decide(pairs[:n], metric, policy, signs and signs[:n]).verdict for n in range(1, len(pairs) + 1))


def _decide_interval(found: PairEstimate, metric: Metric, policy: ComparePolicy, scale: "_Scale") -> PairDecision:
    """Same by the interval of `beta`, better or worse by the wider one of `alpha`; the Verdict shows the one it rests on."""
    relevant = policy.bar_of(metric)
    level = nominal_level(found.n, policy.cap, policy.alpha)
    sure = scale.interval(found.interval(level))
    likely = scale.interval(found.interval(nominal_level(found.n, policy.cap, policy.beta)))
    outcome = judge_intervals(sure, likely, relevant, metric)
    interval = likely if outcome is Outcome.SAME else sure
    effect = scale.effect(found.difference)
    verdict = Verdict(
        outcome,
        f"{scale.text(effect)} [{scale.text(interval[0])}, {scale.text(interval[1])}] over {found.n} pairs"
        + _addition(outcome, relevant, found.n, policy.cap),
        DETECTOR,
        found.n,
        effect=effect,
        interval=interval,
        bar=scale.effect(found.interval(level)[1] - found.difference),
        noise=found.spread,
        mde={found.n: scale.effect(detectable(found, level))},
    )
    return PairDecision(verdict, outcome is Outcome.UNSURE and found.n < policy.cap)


def judge_intervals(sure: tuple[float, float], likely: tuple[float, float], relevant: float, metric: Metric) -> Outcome:
    """Better, worse, same or unsure from the wide interval of `alpha` and the narrower one of `beta`.

    A difference that is sure is called the same only where it is just as surely irrelevant: else a true effect of the relevant
    size would be called the same whenever its estimate fell a little short.
    """
    towards = direction(sure, metric)
    weighed = likely if towards is Outcome.UNSURE else sure
    return Outcome.SAME if -relevant <= weighed[0] and weighed[1] <= relevant else towards


def direction(interval: tuple[float, float], metric: Metric) -> Outcome:
    """Better or worse where the interval leaves out zero, by the side that is better for the Metric; else unsure."""
    low, high = interval
    if low <= 0.0 <= high:
        return Outcome.UNSURE
    return Outcome.BETTER if (low > 0.0) == (metric.better is Better.HIGHER) else Outcome.WORSE


@dataclass(frozen=True)
class _Scale:
    """How differences become effects that a person reads."""

    logarithmic: bool
    unit: str
    """The unit of plain differences, where the base is zero; empty where effects are relative."""

    def effect(self, value: float) -> float:
        return math.expm1(min(value, 700.0)) if self.logarithmic else value

    def interval(self, ends: tuple[float, float]) -> tuple[float, float]:
        return (self.effect(ends[0]), self.effect(ends[1]))

    def text(self, effect: float) -> str:
        return f"{signed(effect, '+.4g')} {self.unit}" if self.unit else f"{signed(100 * effect)} %"


def _scale_of(pairs: Sequence[tuple[float, float]], metric: Metric, *, logarithmic: bool) -> _Scale:
    plain = all(base == 0.0 for base, _ in pairs)
    return _Scale(logarithmic, metric.unit if plain else "")


def _addition(outcome: Outcome, relevant: float, n: int, cap: int) -> str:
    if outcome is Outcome.SAME:
        return f", within {100 * relevant:g} %"
    if outcome is Outcome.UNSURE:
        return f": neither outside zero nor within {100 * relevant:g} %" + (f" after the cap of {cap}" if n >= cap else "")
    return ""


def _too_few(n: int, policy: ComparePolicy) -> PairDecision:
    reason = f"{n} pair{'' if n == 1 else 's'}, at least {policy.min_pairs} are needed"
    return PairDecision(Verdict(Outcome.UNSURE, reason, DETECTOR, n), n < policy.cap)


def _equal(pairs: Sequence[tuple[float, float]]) -> PairDecision:
    reason = f"equal in all {len(pairs)} pairs"
    return PairDecision(Verdict(Outcome.SAME, reason, DETECTOR, len(pairs), 0.0, (0.0, 0.0), 0.0), more=False)


def _decide_static(pairs: Sequence[tuple[float, float]], metric: Metric, relevant: float) -> PairDecision:
    """A counted Metric has no noise: the last pair is the answer."""
    if not pairs:
        return PairDecision(Verdict(Outcome.UNSURE, "nothing was counted yet", DETECTOR, 0), more=True)
    base, head = pairs[-1]
    effect = head / base - 1.0 if base else head
    outcome = Outcome.SAME if abs(effect) <= relevant else direction((effect, effect), metric)
    reason = f"{base:g} became {head:g} {metric.unit}" if base != head else f"{head:g} {metric.unit} in both"
    return PairDecision(Verdict(outcome, reason, DETECTOR, len(pairs), effect, (effect, effect), relevant), more=False)


def combine(verdicts: Mapping[Metric, Verdict] | Iterable[tuple[Metric, Verdict]]) -> Verdict:
    """One Verdict for a Build from those of its Metrics; the same Metric may come from several Workloads.

    Faster and as good is better; faster and worse in quality is worse; so is slower, whatever quality says. Unsure quality, or
    unsure speed, makes the whole unsure; an unsure resource (memory, compile time) is told and decides nothing. Effect and
    interval are those of the Metric that decided, and its sentence comes first.
    """
    known: list[tuple[Metric, Verdict]] = list(verdicts.items()) if isinstance(verdicts, Mapping) else list(verdicts)
    if not known:
        return Verdict(Outcome.UNSURE, "nothing was measured", DETECTOR, 0)
    counted = [verdict.outcome for metric, verdict in known if not _only_told(metric, verdict)] or [Outcome.UNSURE]
    outcome = next(candidate for candidate in _PRECEDENCE if candidate in counted)
    ranked = sorted(known, key=lambda pair: (pair[1].outcome is not outcome, -_weight(pair[1]), pair[0].name))
    told = [f"{metric.name} is {verdict.outcome} ({verdict.reason})" for metric, verdict in ranked]
    if not any(metric.kind is MetricKind.QUALITY for metric, _ in known):
        told.append("quality was not measured")
    lead = ranked[0][1]
    return dataclasses.replace(lead, outcome=outcome, reason="; ".join(told), n=min(v.n for _, v in known), mde={})


def _only_told(metric: Metric, verdict: Verdict) -> bool:
    return metric.kind is MetricKind.RESOURCE and verdict.outcome is Outcome.UNSURE


_PRECEDENCE = (Outcome.NOT_COMPARABLE, Outcome.WORSE, Outcome.UNSURE, Outcome.BETTER, Outcome.SAME)
"""The first of these that any Metric has is the whole's: nothing is better that might be worse in something."""


def _weight(verdict: Verdict) -> float:
    """The effect over its bar: what decided most clearly stands first."""
    return abs(verdict.effect) / verdict.bar if verdict.effect is not None and verdict.bar else 0.0
