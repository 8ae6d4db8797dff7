"""Points of Runs that were measured elsewhere."""

from collections.abc import Mapping

from perfd.domain.arrival import Arrival, Told
from perfd.domain.metric import METRICS, Metric, MetricKind
from perfd.domain.results import MetricSamples
from perfd.domain.run import RunState
from perfd.rules.judge import reduce_samples
from perfd.stats.reduce import Reduced


def points_of(arrival: Arrival) -> Mapping[str, Reduced | Told]:
    """By Metric value, interval and n: as its writer told them, or reduced from its Samples; nothing unless the Run is done."""
    if arrival.results.state is not RunState.DONE:
        return {}
    return {one.name: arrival.told.get(one.name) or _reduced(one) for one in arrival.results.samples if one.values}


def _reduced(one: MetricSamples) -> Reduced:
    known = METRICS.get(one.name)
    return reduce_samples(
        one.values, known or Metric(one.name, one.unit, one.better, MetricKind.SPEED, "As its file defines it.")
    )
