"""Two sides held against each other, over many Series."""

from collections.abc import Mapping
from dataclasses import dataclass

from perfd.domain.metric import Better
from perfd.domain.suite import WorkloadClass
from perfd.store.records.series import SeriesInfo


@dataclass(frozen=True)
class Side:
    """One side of a look at two nights or two Builds."""

    name: str
    """As an address names it: the occasion's name, or the Build's digest."""
    words: str
    occasion_id: int | None = None
    build_id: int | None = None
    part: str = ""
    """Where two engines, devices, … are compared: the part of the key in which they differ; `name` is its value."""


@dataclass(frozen=True)
class Differing:
    """A Series that both sides measured."""

    info: SeriesInfo
    base: float
    base_interval: tuple[float, float] | None
    head: float
    head_interval: tuple[float, float] | None
    effect: float | None
    """Head over base, minus one; absent where base is zero and head is not."""
    noise: float | None
    """Night-to-night relative standard deviation, from the Series' last Verdict."""
    bar: float | None
    """The relative effect beyond which its last Verdict would have called a change."""
    over_noise: float | None
    """The effect, in standard deviations of a difference of two Points."""
    word: str
    base_series: int = 0
    """The Series on the base's side: the same one, unless the sides differ in a part of the key."""


@dataclass(frozen=True)
class CommonMean:
    """The geometric mean of head over base, minus one, over all Series of one class and Metric that both sides measured."""

    workload_class: WorkloadClass
    metric: str
    better: Better
    n: int
    effect: float


@dataclass(frozen=True)
class DifferingList:
    """One page of such Series, how many there are by word, and what they come to by class and Metric."""

    rows: tuple[Differing, ...]
    counts: Mapping[str, int]
    means: tuple[CommonMean, ...] = ()
