"""Series, Points and formulas."""

from pydantic import Field

from perfd.domain.verdict import Verdict
from perfd.site.answers.common import Answer, Interval, Page

Texts = list[str] | None
Numbers = list[float | None] | None


class SeriesWords(Answer):
    """What a Series is."""

    id: int
    fingerprint: str
    subject: str
    subject_kind: str
    branch: str
    suite: str
    workload: str
    workload_identity: str
    class_: str = Field(alias="class", description="Kind of load: chat, agentic, batch, kernel …")
    metric: str
    unit: str
    better: str
    """higher or lower."""
    model: str
    quantisation: str
    parallelism: str
    device_class: str


class PointWords(Answer):
    """A Point with its place."""

    value: float
    interval: Interval
    n: int
    """Samples."""
    run: str
    build: str
    revision: str
    ordinal: int
    title: str
    occasion: str
    measured_at: str
    host: str


class SeriesLine(SeriesWords):
    """A Series with its last Points and its last Verdict."""

    latest: PointWords
    previous: PointWords | None
    verdict: Verdict | None
    values: list[float]
    """The last Points, oldest first."""


class SeriesPage(Page):
    """Series."""

    series: list[SeriesLine]


class Latest(Answer):
    """Columns of one length, a place a Series, by its number; null where no Series matches."""

    id: list[int] | None
    subject: Texts
    branch: Texts
    suite: Texts
    workload: Texts
    class_: Texts = Field(alias="class")
    metric: Texts
    unit: Texts
    better: Texts
    model: Texts
    quantisation: Texts
    parallelism: Texts
    device_class: Texts
    value: Numbers
    low: Numbers
    high: Numbers
    previous: Numbers
    week_ago: Numbers
    month_ago: Numbers
    measured_at: Numbers
    """Unix seconds."""
    verdict: list[str | None] | None
    effect: Numbers
    noise: Numbers


class Display(Answer):
    """How a page writes the numbers."""

    size: float
    unit: str
    decimals: int


class PlacedChange(Answer):
    """A Change that stands, at the place of its first Point."""

    index: int
    kind: str
    status: str
    word: str
    before: float
    after: float
    effect: float
    interval: Interval
    build: str
    revision: str
    regression: int | None


class Epoch(Answer):
    """Where hardware, or driver and libraries, differ from the Point before."""

    index: int
    word: str


class PointColumns(Answer):
    """What each Point is, in columns of one length."""

    run: list[int]
    """Their numbers, each as good as a key where a Run is asked for."""
    build: list[str]
    revision: list[str]
    ordinal: list[int]
    title: list[str]
    measured_at: list[str]
    occasion: list[str]
    host: list[str]
    n: list[int]


class OneSeries(Answer):
    """One Series in columns."""

    series: SeriesWords
    total: int
    from_: int = Field(alias="from")
    to: int
    decimated: bool
    """Whether only the lowest and highest of every stretch are here."""
    changes: list[PlacedChange]
    verdict: Verdict | None
    verdict_occasion: str | None
    display: Display
    data: list[list[float | None]]
    """[[x…], [value…], [low…], [high…]]."""
    points: PointColumns
    epochs: list[Epoch]


class DrawnSeries(Answer):
    """A Series to be drawn."""

    id: int
    total: int
    from_: int = Field(alias="from")
    data: list[list[float | None]]
    """[[x…], [value…], [low…], [high…], [Unix seconds…]]."""


class Drawn(Answer):
    """Points to be drawn."""

    series: list[DrawnSeries]


class FormulaValues(Answer):
    """A formula, day by day (UTC)."""

    formula: str
    series: list[int]
    """The Series that it names."""
    days: list[str]
    values: list[float]


class Formulas(Answer):
    """Formulas over Series."""

    formulas: list[FormulaValues]
