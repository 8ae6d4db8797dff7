"""What a measurement hands to the child: Samples by Metric, and what a reader may want beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from perfd.domain.identity import Json
from perfd.domain.metric import METRICS
from perfd.domain.results import MetricSamples


@dataclass(frozen=True)
class Measured:
    """Samples, or the reason why they must not be believed."""

    samples: Mapping[str, Sequence[float]]
    """By the Metric's name, in the order they were measured."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    why_void: str = ""
    """One sentence when the measurement itself went wrong (a lagging client, a warm cache); "" when it is valid."""


def metric_samples(samples: Mapping[str, Sequence[float]]) -> tuple[MetricSamples, ...]:
    """Samples with the unit and direction of the catalogue; a Metric without values is left out."""
    return tuple(
        MetricSamples(name, METRICS[name].unit, METRICS[name].better, tuple(map(float, values)))
        for name, values in samples.items()
        if values
    )
