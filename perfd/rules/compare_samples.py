"""A/B judgement by the Samples themselves, where a Metric has one a document or item: those of both arms belong together.

Interleaved pairs of Runs would ask how a *Run* varies. A Run of greedy answers hardly does, so after three pairs they would be
sure of differences that a few items made by chance. Here the items and documents are the witnesses.
"""

from collections.abc import Sequence

import numpy as np

from perfd.domain.metric import Evidence, Metric
from perfd.domain.verdict import Outcome, Verdict
from perfd.rules.compare import DETECTOR, ComparePolicy, PairDecision
from perfd.rules.compare_items import decide_documents, decide_items

Runs = Sequence[Sequence[float]]
"""An arm's Runs, each with its Samples in the order of the items or documents."""


def by_samples(metric: Metric) -> bool:
    """Whether two Builds are compared by this Metric's Samples, not by pairs of Runs."""
    return metric.evidence is not Evidence.PAIRS


def decide_samples(base: Runs, head: Runs, metric: Metric, policy: ComparePolicy | None = None) -> PairDecision:
    """The Verdict on items or documents that both arms were asked; more Runs of the same items would not change it.

    Items: the first Run of each arm, by McNemar's exact test. Documents: each one's mean over the arm's Runs, so that what
    differs from Run to Run is averaged out and the document stays one witness.
    """
    if not base or not head:
        return PairDecision(Verdict(Outcome.UNSURE, "nothing was measured by both yet", DETECTOR, 0), more=True)
    sizes = {len(run) for run in (*base, *head)}
    if len(sizes) > 1:
        reason = f"Runs of {' and '.join(map(str, sorted(sizes)))} items or documents: they are not the same ones"
        return PairDecision(Verdict(Outcome.NOT_COMPARABLE, reason, DETECTOR, 0), more=False)
    if metric.evidence is Evidence.ITEMS:
        return decide_items([value > 0.5 for value in base[0]], [value > 0.5 for value in head[0]], metric, policy)
    before, after = (np.mean(np.asarray(runs, dtype=np.float64), axis=0).tolist() for runs in (base, head))
    return decide_documents(before, after, [1] * len(before), metric, policy)
