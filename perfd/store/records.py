"""What the store answers with, where the domain has no word of its own: work that was claimed, and rows that pages show."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from perfd.domain.bisect import BisectEnd, Place, StepKind, StepOutcome, Target, Wanted
from perfd.domain.build import BuildSpec, BuildState
from perfd.domain.environment import DeviceState, Environment
from perfd.domain.history import History
from perfd.domain.metric import Better, Metric
from perfd.domain.model import Model
from perfd.domain.occasion import Finding, Occasion, OccasionState
from perfd.domain.results import MetricSamples
from perfd.domain.run import Arm, FailureKind, Point, RunState, SeriesKey
from perfd.domain.subject import SubjectKind
from perfd.domain.suite import Workload, WorkloadClass
from perfd.domain.verdict import ChangeKind, ChangeStatus, Judgement, Outcome, RegressionState, Reproduced, Verdict


class Reduced(Protocol):
    """Samples of one Metric, reduced; `perfd.stats.reduce.Reduced` is one."""

    @property
    def value(self) -> float:
        """The median or mean."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its 95 % interval."""

    @property
    def n(self) -> int:
        """How many Samples."""


class Written(StrEnum):
    """What became of results that were handed in."""

    STORED = "stored"
    ALREADY = "already"
    """The same results stood there; nothing was changed."""
    REFUSED = "refused"
    """The results were no good: the Run is failed as nonsense, and says why."""
    STALE = "stale"
    """Another worker has claimed the Run since, or it was ended; nothing was changed."""


@dataclass(frozen=True)
class Taken:
    """What became of results that came from elsewhere."""

    run: str
    """Key digest of the Run; "" where it was refused because its key belongs to another one."""
    written: Written


@dataclass(frozen=True)
class ClaimedBuild:
    """A Build that this worker, and nobody else, is to make."""

    id: int
    token: int
    spec: BuildSpec
    kind: SubjectKind
    attempts: int


@dataclass(frozen=True)
class ClaimedRun:
    """A Run that this worker, and nobody else, is to measure."""

    id: int
    key: str
    """Digest of the Run's key."""
    token: int
    spec: BuildSpec
    kind: SubjectKind
    artifact: Path
    """The Build's folder."""
    workload: Workload
    model: Model | None
    device_class: str
    occasion: Occasion
    arm: Arm
    block: int
    attempts: int
    """Counted from 1, this one included."""


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
class SeriesList:
    """One page of the list of Series, and how many there are on all pages."""

    rows: tuple[SeriesRow, ...]
    total: int
    quiet: Mapping[WorkloadClass, int]
    """Of these, by class: those that were left out because nothing moved."""


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
    points: History
    """What was judged, oldest first; `Change.index` counts in it."""
    judgement: Judgement
    memory: Mapping[str, Any] | None = None
    """JSON that the judge wants back the next time; None leaves what is remembered as it is."""


@dataclass(frozen=True)
class SeriesPage:
    """All that the page of one Series shows."""

    info: SeriesInfo
    workload: Workload
    points: tuple[PointRow, ...]
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


@dataclass(frozen=True)
class RunRow:
    """One line of a list of Runs."""

    id: int
    key: str
    occasion: str
    subject: str
    subject_kind: SubjectKind
    revision: str
    title: str
    build: str
    suite: str
    workload: str
    workload_class: WorkloadClass
    model: str
    quantisation: str
    parallelism: str
    device_class: str
    arm: Arm
    block: int
    state: RunState
    failure: FailureKind | None
    reason: str
    attempts: int
    claimed_by: str | None
    queued_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True)
class RunPage:
    """All that the page of one Run shows."""

    run: RunRow
    workload: Workload
    spec: BuildSpec
    environment: Environment | None
    device_states: tuple[DeviceState, ...]
    samples: tuple[MetricSamples, ...]
    """Raw, in the order measured."""
    points: Mapping[str, tuple[int, Point]]
    """By Metric: the Series' id and the Point that this Run gave it; empty for comparisons."""
    log_tail: str
    harness_version: str
    definitions_version: str
    extra: Mapping[str, Any]
    tries: tuple[Mapping[str, str], ...] = ()
    """What earlier tries came to, oldest first: `at`, `by`, `failure`, `reason`."""


@dataclass(frozen=True)
class BuildPage:
    """All that the page of one Build shows."""

    spec: BuildSpec
    kind: SubjectKind
    title: str
    state: BuildState
    seconds: float | None
    artifact: str | None
    log: str | None
    log_tail: str
    finished_at: datetime | None
    runs: tuple[RunRow, ...]


@dataclass(frozen=True)
class BuildRow:
    """What one occasion built, or found cached."""

    id: int
    digest: str
    subject: str
    subject_kind: SubjectKind
    revision: str
    title: str
    ordinal: int
    recipe: str
    state: BuildState
    cached: bool
    seconds: float | None
    log_path: str | None
    log_tail: str
    artifact: str | None


@dataclass(frozen=True)
class OccasionRow:
    """An occasion, how far it has come, and its Runs by state."""

    id: int
    occasion: Occasion
    state: OccasionState
    opened_at: datetime
    closed_at: datetime | None
    runs: Mapping[str, int]
    """Count by state: queued, claimed, done, failed, void."""
    missing: int
    """Of the failed, those that were planned and never measured."""
    report: Mapping[str, Any] | None


@dataclass(frozen=True)
class JudgedSeries:
    """A Series with the Verdict that one occasion gave it."""

    info: SeriesInfo
    verdict: Verdict
    latest: PointRow | None
    """Its Point of that occasion (the last, where there are several)."""


@dataclass(frozen=True)
class OccasionSummary:
    """The final table: what was built, measured and judged, and what is missing."""

    row: OccasionRow
    builds: tuple[BuildRow, ...]
    runs: tuple[RunRow, ...]
    verdicts: tuple[JudgedSeries, ...]
    findings: tuple[Finding, ...]
    changes: tuple[ChangeRow, ...]
    """Changes that were first seen after this occasion."""

    @property
    def verdict_counts(self) -> dict[Outcome, int]:
        """How many Series got each answer; those with none are left out."""
        outcomes = [judged.verdict.outcome for judged in self.verdicts]
        return {outcome: outcomes.count(outcome) for outcome in Outcome if outcome in outcomes}

    @property
    def missing(self) -> tuple[RunRow, ...]:
        """Runs that were planned and never measured."""
        return tuple(run for run in self.runs if run.failure is FailureKind.MISSING)


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


@dataclass(frozen=True)
class NightSummary:
    """The last night in counts, however many Series it judged; see OccasionSummary for all of it."""

    row: OccasionRow
    verdict_counts: Mapping[Outcome, int]
    """How many Series got each answer; those with none are left out."""
    lost: tuple[RunRow, ...]
    """Runs without a result, ended ones first; the first few hundred where there are more. `row.runs` counts all."""
    failed_builds: tuple[BuildRow, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Span:
    """What came of the nights of some days."""

    days: int
    """Nights that were due."""
    nights: int
    """Nights that began."""
    runs: Mapping[RunState, int]
    changes_better: int
    """Changes that these nights were the first to see, that are detected and still stand."""
    changes_worse: int
    regressions: int
    """Regressions that were opened."""
    regressions_open: int
    """Of those, the ones that someone must still answer."""


@dataclass(frozen=True)
class Movement:
    """Series whose last Point lies beyond their bar from the Point of so many days before, and the others."""

    days: int
    better: int
    worse: int
    within: int
    """Within the bar: neither can be said."""
    unknown: int
    """Not measured lately, not so long ago, on other hardware, or never judged."""


@dataclass(frozen=True)
class WorkerRow:
    """A process that claims work."""

    name: str
    host: str
    device_class: str
    doing: str
    started_at: datetime
    seen_at: datetime


@dataclass(frozen=True)
class QueueRow:
    """Work that waits or is under way, of one device class."""

    device_class: str
    queued: int
    claimed: int
    oldest_queued_at: datetime | None


@dataclass(frozen=True)
class WaitingRow:
    """A Run that waits in the queue."""

    key: str
    subject: str
    workload: str
    device_class: str
    occasion: Occasion
    queued_at: datetime


@dataclass(frozen=True)
class UnsentRow:
    """A message that waits in the outbox."""

    kind: str
    key: str
    attempts: int
    last_error: str
    created_at: datetime
    next_at: datetime


@dataclass(frozen=True)
class Status:
    """How the service stands."""

    last_night: NightSummary | None
    """The newest night, reported or not."""
    open_occasions: tuple[OccasionRow, ...]
    queue: tuple[QueueRow, ...]
    builds_queued: int
    builds_building: int
    workers: tuple[WorkerRow, ...]
    outbox_waiting: int


@dataclass(frozen=True)
class RegressionEvent:
    """One step in a Regression's life."""

    at: datetime
    actor: str
    from_state: RegressionState | None
    to_state: RegressionState
    reason: str


@dataclass(frozen=True)
class RegressionRow:
    """A Regression with its members and its life."""

    id: int
    subject: str
    state: RegressionState
    title: str
    revision: str
    build: str
    owner: str
    occasion: str
    opened_at: datetime
    moved_at: datetime
    duplicate_of: int | None
    members: tuple[tuple[SeriesInfo, ChangeRow], ...]
    events: tuple[RegressionEvent, ...]
    cause: str | None = None
    """What it was opened for where that is no Change: a budget."""


@dataclass(frozen=True)
class ConfirmationRow:
    """A re-measurement of a Regression, and what came of it."""

    occasion: Occasion
    """The comparison; its nominal time is that of the night which asked for it."""
    state: OccasionState
    regression: int
    opened_at: datetime
    outcome: Reproduced | None
    """Absent until it is settled."""
    reason: str
    settled_at: datetime | None


@dataclass(frozen=True)
class AaRow:
    """One night's comparison of a Build with itself."""

    occasion: Occasion
    subject: str
    workload: str
    """The Workload's name."""
    model: str
    device_class: str
    outcome: Outcome | None
    """What the night was called; absent until its report."""
    different: frozenset[str]
    """Metrics whose two equal arms were called different."""
    judged: frozenset[str]
    """Metrics that were called anything but unsure."""


@dataclass(frozen=True)
class FalseAlarms:
    """What perfd has called different and was not, in a span of time."""

    aa: int
    """A/A comparisons that could be judged."""
    aa_different: int
    """Of those, the ones called different: the same Build stood in both arms."""
    remeasured: int
    """Re-measurements of suspects that came to an answer."""
    refuted: int
    """Of those, the suspects that were not reproduced."""


@dataclass(frozen=True)
class ArmSamples:
    """One block of a comparison: what it measured."""

    run: RunRow
    samples: tuple[MetricSamples, ...]
    hardware_hash: str | None


@dataclass(frozen=True)
class BisectStep:
    """One step of a bisection: a Build that is made, or two places that are compared."""

    number: int
    """Counted from 1."""
    kind: StepKind
    base: int
    head: int
    why: str
    occasion: Occasion
    opened_at: datetime
    outcome: StepOutcome | None = None
    """Absent while it is open."""
    broken: int | None = None
    """The place that could not be built or measured."""
    pairs: int = 0
    effect: float | None = None
    interval: tuple[float, float] | None = None
    final: bool = True
    """Whether more pairs could not have told more."""
    reason: str = ""
    settled_at: datetime | None = None


@dataclass(frozen=True)
class BisectEnded:
    """How a bisection ended: the difference came after `good`, at or before `bad` (places of its path)."""

    end: BisectEnd
    good: int
    bad: int
    reason: str
    at: datetime
    patch: str = ""
    """The file that takes the commit back."""
    proposal: str = ""
    """What a person can do about it."""


@dataclass(frozen=True)
class BisectRow:
    """A bisection with its steps."""

    subject: str
    kind: SubjectKind
    branch: str
    path: tuple[Place, ...]
    wanted: Wanted
    most_builds: int
    most_minutes: float
    opened_at: datetime
    regression: int | None = None
    target: Target | None = None
    """What decides; absent until the ends were compared."""
    ended: BisectEnded | None = None
    """Absent while it goes on."""
    steps: tuple[BisectStep, ...] = ()
    id: int = 0
    """0 until it is stored."""
