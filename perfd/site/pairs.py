"""The blocks of a comparison by Workload and Metric: pairs, medians of both sides, and what the rule says of them."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perfd.domain.metric import METRICS, Metric, MetricKind
from perfd.domain.results import MetricSamples
from perfd.domain.run import Arm, RunState
from perfd.domain.verdict import Verdict
from perfd.rules.compare import decide
from perfd.rules.judge import reduce_samples
from perfd.store.records import ArmSamples


@dataclass(frozen=True)
class Compared:
    """One Metric of one Workload on both sides."""

    workload: str
    metric: Metric
    base: float | None
    """Median over the done blocks; absent where none is done."""
    head: float | None
    pairs: int
    verdict: Verdict | None
    """Absent without a pair."""


def compared(blocks: Sequence[ArmSamples]) -> list[Compared]:
    """Every Metric that some block measured, by Workload."""
    found = []
    for workload in sorted({one.run.workload for one in blocks}):
        done = [one for one in blocks if one.run.workload == workload and one.run.state is RunState.DONE]
        metrics = {samples.name: metric_of(samples) for one in done for samples in one.samples}
        found += [_compare(workload, metric, done) for metric in metrics.values()]
    return found


def metric_of(samples: MetricSamples) -> Metric:
    """The catalogue's definition, or what the Samples say of themselves."""
    return METRICS.get(samples.name) or Metric(samples.name, samples.unit, samples.better, MetricKind.SPEED, "")


def _compare(workload: str, metric: Metric, done: Sequence[ArmSamples]) -> Compared:
    places = {one.run.block: (one.run.arm, value) for one in done if (value := _value(one, metric)) is not None}
    pairs = list(_pairs(places))
    signs = [1 if places[first][0] is Arm.BASE else -1 for first, _ in pairs]
    values = [_base_first(places[first], places[second]) for first, second in pairs]
    return Compared(
        workload,
        metric,
        _median([value for arm, value in places.values() if arm is Arm.BASE]),
        _median([value for arm, value in places.values() if arm is Arm.HEAD]),
        len(pairs),
        decide(values, metric, signs=signs).verdict if pairs else None,
    )


def _value(one: ArmSamples, metric: Metric) -> float | None:
    values = next((samples.values for samples in one.samples if samples.name == metric.name), ())
    return reduce_samples(values, metric).value if values else None


def _pairs(places: dict[int, tuple[Arm, float]]) -> Iterator[tuple[int, int]]:
    """Blocks 2k and 2k + 1 are a pair when both are done and of both arms."""
    for first in sorted(place for place in places if place % 2 == 0):
        second = first + 1
        if second in places and places[first][0] is not places[second][0]:
            yield first, second


def _base_first(first: tuple[Arm, float], second: tuple[Arm, float]) -> tuple[float, float]:
    return (first[1], second[1]) if first[0] is Arm.BASE else (second[1], first[1])


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
