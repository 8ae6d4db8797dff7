"""What was judged: comparisons, Regressions, false alarms, spans of nights, and the report of a week."""

from pydantic import ConfigDict, Field

from perfd.domain.occasion import Finding
from perfd.domain.verdict import Verdict
from perfd.site.answers.common import Answer, Counts, Interval, Page
from perfd.site.answers.series import SeriesWords
from perfd.site.sheets.judged import ChangeLine, CommitLine, ComparisonLine, MeanLine, StepLine
from perfd.site.sheets.service import NightLine
from perfd.site.sheets.spans import SpanLine
from perfd.store.records import ChangeRow, RegressionEvent


class Differing(SeriesWords):
    """A Series that both sides measured."""

    base: float
    base_interval: Interval
    head: float
    head_interval: Interval
    effect: float | None
    """Head over base, minus one; absent where base is zero and head is not."""
    noise: float | None
    bar: float | None
    """The relative effect beyond which its last Verdict would have called a Change."""
    over_noise: float | None
    """The effect, in standard deviations of a difference of two Points."""
    word: str


class Compared(Answer):
    """A page of two sides Series by Series."""

    base: str
    head: str
    counts: Counts
    offset: int
    limit: int
    total: int
    series: list[Differing]
    means: list[MeanLine]
    """Geometric means over the Series of one class and Metric that both sides measured."""


class Member(SeriesWords):
    """A Series of a Regression with its Change."""

    change: ChangeRow


class Regression(Answer):
    """What someone must answer."""

    id: int
    subject: str
    state: str
    title: str
    revision: str
    build: str
    owner: str
    occasion: str
    opened_at: str
    moved_at: str
    duplicate_of: int | None
    cause: str | None
    """What it was opened for where that is no Change."""
    members: list[Member]
    events: list[RegressionEvent]


class RegressionPage(Page):
    """Regressions."""

    regressions: list[Regression]


class Acknowledged(Answer):
    """Somebody knows of it."""

    actor: str
    at: str
    reason: str


class OneRegression(Regression):
    """A Regression with all that its page shows."""

    due: str
    """The day by which to answer."""
    due_set: bool
    """Whether a person has set that day."""
    overdue: bool
    acknowledged: Acknowledged | None
    effect: float | None
    """Its largest effect."""
    commits: list[CommitLine]
    bisection: list[StepLine]


class Comparisons(Page):
    """Comparisons, the newest first."""

    comparisons: list[ComparisonLine]


class Asked(Answer):
    """A comparison that is queued."""

    comparison: str
    """Its name: `/api/v1/comparisons/{name}` tells how far it is."""


class Decided(Answer):
    """A Metric of a comparison with its Verdict; reports of other versions may tell more."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)
    workload: str
    metric: str
    unit: str
    better: str
    base: float | None
    head: float | None
    pairs: int
    verdict: Verdict


class ComparisonReport(Answer):
    """What a comparison came to; reports of other versions may tell more."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)
    verdict: Verdict
    rows: list[Decided]
    failures: list[str]


class Comparison(Answer):
    """How far a comparison is."""

    comparison: str
    state: str
    runs: Counts
    """By state."""
    findings: list[Finding]
    report: ComparisonReport | None
    """Absent until every Metric is decided."""


class FalseAlarms(Answer):
    """How often perfd was wrong."""

    days: int
    aa: int
    """A/A comparisons that could be judged."""
    aa_different: int
    remeasured: int
    """Suspects that were measured again and came to an answer."""
    refuted: int
    wrong: int
    of: int
    rate: float | None
    interval: Interval


class Spans(Answer):
    """What came of last night, of seven and of thirty days."""

    spans: list[SpanLine]


class ReportRegression(Answer):
    """A Regression of a week."""

    id: int
    title: str
    state: str
    owner: str
    subject: str
    revision: str
    opened_at: str
    moved_at: str


class Report(Answer):
    """The report of a week."""

    week: str
    """As ISO 8601 has it: 2026-W11."""
    start: str
    stop: str
    sentence: str
    worse: list[ChangeLine]
    better: list[ChangeLine]
    left: list[ReportRegression]
    """What must still be answered today."""
    closed: list[ReportRegression]
    """What was answered in that week."""
    nights: list[NightLine]
    false_alarms: str
    markdown: str = Field(description="The same as text, which is the body of the mail.")
