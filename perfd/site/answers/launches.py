"""Launches with their whole reports."""

from pydantic import ConfigDict, Field

from perfd.domain.occasion import Finding
from perfd.domain.verdict import Verdict
from perfd.site.answers.common import Answer, Counts, Interval, Page


class Ratio(Answer):
    """A Verdict against the first day, and on what it rests."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)
    basis: str
    outcome: str
    reason: str
    effect: float | None
    interval: Interval


class Lost(Answer):
    """What was not measured."""

    what: str
    kind: str
    reason: str


class Floor(Answer):
    """Whether quality stayed above its floor."""

    floor: str
    reason: str


class Told(Answer):
    """An outcome with its reason."""

    outcome: str
    reason: str


class MachineWords(Told):
    """Whether the machine is the same, and what changed on it."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)


class Day(Answer):
    """A Checkpoint."""

    day: int
    due_at: str
    state: str
    rehearsal: bool
    late_s: float | None
    opened_at: str | None
    closed_at: str | None
    occasion: str | None
    runs: Counts
    missing: list[Lost]
    findings: list[Finding]
    build: str | None
    revision: str | None
    title: str
    quality: Floor | None
    classes: dict[str, Told]
    machine: MachineWords | None
    comparison: str | None
    why_no_comparison: str


class Value(Answer):
    """A number of one day."""

    value: float
    interval: Interval
    n: int
    series: int
    run: str
    against: Ratio | None
    machine: Verdict | None


class Row(Answer):
    """A Metric of a Workload over the days."""

    suite: str
    workload: str
    device_class: str
    metric: str
    unit: str
    better: str
    kind: str
    days: dict[str, Value]


class Mean(Answer):
    """A geometric mean."""

    effect: float
    interval: tuple[float, float]


class ClassMean(Answer):
    """Geometric means of a Metric over named Workloads, by day."""

    metric: str
    over: list[str]
    days: dict[str, Mean]


class ClassWords(Answer):
    """A class of Workloads by itself."""

    class_: str = Field(alias="class")
    workloads: list[str]
    rows: list[Row]
    means: list[ClassMean]


class Item(Answer):
    """Something that differs."""

    what: str
    before: str
    after: str


class CommitWords(Answer):
    """A Revision."""

    revision: str
    title: str


class Between(Answer):
    """What differs between two days."""

    from_: int = Field(alias="from")
    to: int
    items: list[Item]
    commits: list[CommitWords]
    commits_total: int


class Brought(Answer):
    """A Change between two days."""

    change: int
    series: int
    workload: str
    class_: str = Field(alias="class")
    metric: str
    effect: float
    interval: Interval
    worse: bool
    status: str
    build: str
    revision: str
    title: str
    regression: int | None
    between: list[int]


class Share(Answer):
    """Shares of what the device could compute and move."""

    mfu: float | None
    mbu: float | None
    why: str


class Roofline(Answer):
    """How far a Workload is from the roofline, by day."""

    class_: str = Field(alias="class")
    workload: str
    device_class: str
    days: dict[str, Share]


class Measured(Answer):
    """What an optimisation was measured to bring."""

    outcome: str
    effect: float | None
    interval: Interval
    what: str
    series: int | None


class TodoWords(Answer):
    """An optimisation that the Launch can still use."""

    number: int
    title: str
    area: str
    owner: str
    state: str
    note: str
    opened_at: str
    moved_at: str
    change: int | None
    comparison: str | None
    measured: Measured | None


class Launch(Answer):
    """A Launch with its whole report."""

    number: int
    launch: str
    model: str
    engine: str
    at: str
    suites: list[str]
    first_day: int | None
    days: list[Day]
    alarms: list[str]
    classes: list[ClassWords]
    changed: list[Between]
    brought: list[Brought]
    roofline: list[Roofline]
    todo: list[TodoWords]
    sentence: str


class Launches(Page):
    """Launches, the newest first."""

    launches: list[Launch]
