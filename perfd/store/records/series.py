"""Series with their Points and Changes, as the judge hands them over and as pages show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfd.domain.metric import Metric
from perfd.domain.past import Past
from perfd.domain.run import Point, SeriesKey
from perfd.domain.subject import SubjectKind
from perfd.domain.suite import Workload, WorkloadClass
from perfd.domain.verdict import ChangeKind, ChangeStatus, Judgement, Outcome, Verdict


@dataclass(frozen=True)
class SeriesInfo:
    """A Series and the words for its parts."""

    id: int
    key: SeriesKey
    subject_kind: SubjectKind
    metric: Metric
    suite: str
    workload_name: str
    workload_class: WorkloadClass


@dataclass(frozen=True)
class PointRow:
    """A Point with what a page says beside it."""

    point: Point
    run_id: int
    title: str
    """The first line of the Revision's commit message."""
    host: str
    nominal_at: datetime
    """When its occasion was due."""


@dataclass(frozen=True, slots=True)
class PointLine:
    """A Point as one line of a table."""

    value: float
    interval: tuple[float, float] | None
    n: int
    measured_at: datetime
    run_id: int
    """The number of its Run, which /runs/NUMBER leads to."""
    build: str
    revision: str
    title: str
    occasion: str
    host: str


@dataclass(frozen=True)
class SeriesRow:
    """One line of the list of Series."""

    info: SeriesInfo
    latest: PointRow
    previous: PointRow | None
    verdict: Verdict | None
    """The last one; absent until the Series was judged."""
    values: tuple[float, ...]
    """The last values, oldest first, for a sparkline."""
    change_id: int | None
    """The last Change that still stands."""


@dataclass(frozen=True)
class SeriesLine:
    """A Series and how it stands, in the numbers that a list shows."""

    info: SeriesInfo
    value: float
    interval: tuple[float, float] | None
    previous: float | None
    """The Point before; absent with one Point."""
    outcome: Outcome | None
    """Of the last Verdict; absent until the Series was judged."""
    effect: float | None
    reason: str
    values: tuple[float, ...]
    """The last values, oldest first, for a sparkline."""


@dataclass(frozen=True)
class SeriesOrder:
    """The Series of a list in its order, and how many there are of each class."""

    ids: NDArray[np.int64]
    counts: Mapping[WorkloadClass, int]


@dataclass(frozen=True)
class ChangeRow:
    """A Change with its place."""

    id: int
    series_id: int
    kind: ChangeKind
    status: ChangeStatus
    before: float
    after: float
    effect: float
    interval: tuple[float, float] | None
    q: float | None
    worse: bool
    build: str
    revision: str
    title: str
    ordinal: int
    run: str
    """Key digest of the first Run at the new level: equal to `Point.run` there."""
    found_in: str
    """Name of the occasion after which it was first seen."""
    detected_at: datetime | None
    gone_at: datetime | None
    regression_id: int | None


@dataclass(frozen=True)
class SeriesJudgement:
    """What the judge has to say of one Series after an occasion."""

    series_id: int
    points: Past
    """What was judged, oldest first; `Change.index` counts in it."""
    judgement: Judgement
    memory: Mapping[str, Any] | None = None
    """JSON that the judge wants back the next time; None leaves what is remembered as it is."""


@dataclass(frozen=True)
class SeriesPage:
    """All that the page of one Series shows."""

    info: SeriesInfo
    workload: Workload
    points: tuple[PointLine, ...]
    """In order: by commit, then by occasion; the last ones, where not all were asked for."""
    total: int
    """How many Points the Series has."""
    extent: tuple[float, ...]
    """Its lowest and highest value, and one that is no whole number where there is one: what decides how numbers are shown."""
    changes: tuple[ChangeRow, ...]
    places: Mapping[int, int]
    """By Change (its id): the place of its first Point in the whole Series, from 0."""
    verdict: Verdict | None
    verdict_occasion: str | None
