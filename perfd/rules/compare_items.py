"""A/B judgement of Metrics that count: right answers per item, and log-likelihood per document. Never a bare floor.

Both arms answer the same items, so that only the items that they answer differently speak.
"""

from collections.abc import Sequence

import numpy as np

from perfd.domain.metric import Metric
from perfd.domain.numbers import signed
from perfd.domain.verdict import Outcome, Verdict
from perfd.errors import BadInputError
from perfd.rules.compare import ComparePolicy, PairDecision, direction, judge_intervals
from perfd.stats.clusters import ClusterEstimate, clustered_mean, clusters_needed
from perfd.stats.paired_items import (
    Discordance,
    difference_interval,
    discordance,
    items_needed,
    mcnemar_exact,
    running_interval,
    split_evidence,
)

ITEMS_DETECTOR = "items/1"
DOCUMENTS_DETECTOR = "documents/1"

_POWER = 0.9


def decide_items(
    base: Sequence[bool],
    head: Sequence[bool],
    metric: Metric,
    policy: ComparePolicy | None = None,
    *,
    final: bool = True,
) -> PairDecision:
    """The Verdict on right and wrong answers to the same items, in an order that has nothing to do with them.

    With `final` false more items can follow, and one may ask again after each: half of alpha and beta is spent on evidence that
    is valid at every moment, the other half on McNemar's exact test and Tango's interval once all items are answered. Effects
    are relative to the base's share of right answers.
    """
    policy = policy or ComparePolicy()
    split = discordance(base, head)
    if split.n == 0:
        return PairDecision(Verdict(Outcome.UNSURE, "no item was answered by both", ITEMS_DETECTOR, 0), more=not final)
    share = sum(base) / split.n or 1.0
    relevant = policy.bar_of(metric)
    likely = _likely(base, head, split, policy, final=final)
    differs = split_evidence(split.lost, split.won) >= 2.0 / policy.alpha
    differs |= final and mcnemar_exact(split.lost, split.won) <= policy.alpha / 2.0
    gap, wide = split.difference, difference_interval(split, 1.0 - policy.alpha)
    weighed = wide if differs else likely
    same = -relevant * share <= weighed[0] and weighed[1] <= relevant * share
    outcome = Outcome.SAME if same else direction((gap, gap), metric) if differs else Outcome.UNSURE
    shown = likely if same else wide
    interval = (shown[0] / share, shown[1] / share)
    verdict = Verdict(
        outcome,
        _items_reason(split, shown, relevant * share, outcome, policy.alpha),
        ITEMS_DETECTOR,
        split.n,
        effect=gap / share,
        interval=interval,
        bar=(shown[1] - shown[0]) / 2.0 / share,
    )
    return PairDecision(verdict, outcome is Outcome.UNSURE and not final)


def _likely(
    base: Sequence[bool], head: Sequence[bool], split: Discordance, policy: ComparePolicy, *, final: bool
) -> tuple[float, float]:
    """The interval behind *same*: Tango's once all items are there, one that holds at every moment before."""
    if final:
        return difference_interval(split, 1.0 - policy.beta / 2.0)
    gaps = np.asarray(head, dtype=np.float64) - np.asarray(base, dtype=np.float64)
    return running_interval(gaps, policy.beta / 2.0)


def _items_reason(split: Discordance, shown: tuple[float, float], bar: float, outcome: Outcome, alpha: float) -> str:
    told = (
        f"{split.won} items won and {split.lost} lost of {split.n}: {signed(100 * split.difference)} points "
        f"[{signed(100 * shown[0])}, {signed(100 * shown[1])}]"
    )
    if outcome is not Outcome.UNSURE or bar <= 0.0:
        return told
    need = items_needed(bar, max(bar, split.discordant), alpha, _POWER)
    return f"{told}; {100 * bar:.2g} points with {100 * split.discordant:.2g} % differing need about {need:,} items"


def decide_documents(
    base: Sequence[float],
    head: Sequence[float],
    tokens: Sequence[int],
    metric: Metric,
    policy: ComparePolicy | None = None,
) -> PairDecision:
    """The Verdict on a mean per token, from each document's mean in both arms and its number of tokens.

    The document is the witness: the interval is Student's over documents. Effects are relative to the base's mean per token.
    """
    policy = policy or ComparePolicy()
    if not len(base) == len(head) == len(tokens):
        raise BadInputError(
            f"{len(base)}, {len(head)} and {len(tokens)} documents: expected the same ones for base, head and tokens"
        )
    if len(base) < 3:
        reason = f"{len(base)} documents, at least 3 are needed"
        return PairDecision(Verdict(Outcome.UNSURE, reason, DOCUMENTS_DETECTOR, len(base)), more=False)
    counts = np.asarray(tokens, dtype=np.float64)
    before = np.asarray(base, dtype=np.float64)
    found = clustered_mean((np.asarray(head, dtype=np.float64) - before) * counts, counts)
    size = abs(float((before * counts).sum() / counts.sum())) or 1.0
    return PairDecision(_documents_verdict(found, size, metric, policy), more=False)


def _documents_verdict(found: ClusterEstimate, size: float, metric: Metric, policy: ComparePolicy) -> Verdict:
    relevant = policy.bar_of(metric)
    sure = _over(found.interval(1.0 - policy.alpha), size)
    likely = _over(found.interval(1.0 - policy.beta), size)
    outcome = judge_intervals(sure, likely, relevant, metric)
    shown = likely if outcome is Outcome.SAME else sure
    effect = f"{signed(100 * found.mean / size)} % [{signed(100 * shown[0])} %, {signed(100 * shown[1])} %]"
    told = f"{effect} a token over {found.clusters} documents"
    if outcome is Outcome.UNSURE and relevant > 0.0:
        spread = found.error * found.clusters**0.5
        told += f"; {100 * relevant:g} % needs about {clusters_needed(relevant * size, spread, policy.alpha, _POWER):,}"
    bar = (sure[1] - sure[0]) / 2.0
    return Verdict(outcome, told, DOCUMENTS_DETECTOR, found.clusters, found.mean / size, shown, bar)


def _over(interval: tuple[float, float], size: float) -> tuple[float, float]:
    return (interval[0] / size, interval[1] / size)
