"""What the API's answers look like: schemas for the OpenAPI document, which tests hold against real answers."""

from typing import Any

from pydantic import BaseModel, Field

Document = dict[str, Any]
Columns = dict[str, list[Any]]


class Trouble(BaseModel):
    """An answer that is none."""

    error: str = Field(description="What was seen and what was expected.")
    remedy: str = Field(description="What to do.")


class SeriesWords(BaseModel):
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
    better: str = Field(description="higher or lower")
    model: str
    quantisation: str
    parallelism: str
    device_class: str


class PointWords(BaseModel):
    """A Point with its place."""

    value: float
    interval: tuple[float, float] | None = Field(description="95 % interval of the value.")
    n: int
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
    verdict: Document | None
    values: list[float] = Field(description="The last Points, oldest first.")


class Page(BaseModel):
    """A page of a list."""

    total: int = Field(description="How many match, before paging.")
    offset: int
    limit: int


class SeriesPage(Page):
    """Series."""

    series: list[SeriesLine]


class Latest(BaseModel):
    """Columns of one length, a place a Series."""

    model_config = {"extra": "allow"}


class Display(BaseModel):
    """How a page writes the numbers."""

    size: float
    unit: str
    decimals: int


class OneSeries(BaseModel):
    """One Series in columns."""

    series: SeriesWords
    total: int
    from_: int = Field(alias="from")
    to: int
    decimated: bool
    changes: list[Document]
    verdict: Document | None
    verdict_occasion: str | None
    display: Display
    data: list[list[float | None]] = Field(description="[[x…], [value…], [low…], [high…]]")
    points: Columns
    epochs: list[Any]


class Drawn(BaseModel):
    """Points to be drawn."""

    series: list[Document]


class Compared(BaseModel):
    """A page of two sides Series by Series."""

    base: str
    head: str
    counts: dict[str, int]
    offset: int
    limit: int
    series: list[Document]


class Reproduce(BaseModel):
    """How a Run is measured again."""

    command: str = Field(description="Empty for a Run that was imported.")
    sentence: str
    made_of: Document


class OneRun(BaseModel):
    """One Run with its raw Samples."""

    run: Document
    workload: Document
    build: Document
    environment: Document | None
    device_states: list[Document]
    samples: list[Document]
    points: dict[str, Document]
    log_tail: str
    harness_version: str
    definitions_version: str
    extra: Document
    reproduce: Reproduce


class RunPage(Page):
    """Runs, the one that was planned last first."""

    runs: list[Document]


class OneBuild(BaseModel):
    """One Build with its Runs."""

    build: Document
    state: str
    kind: str
    title: str
    seconds: float | None
    finished_at: str | None
    log_tail: str
    runs: list[Document]


class Devices(BaseModel):
    """Devices."""

    devices: list[Document]


class Regression(BaseModel):
    """What someone must answer."""

    id: int
    subject: str
    state: str
    title: str
    revision: str
    build: str
    owner: str
    opened_at: str
    moved_at: str
    members: list[Document]
    events: list[Document]


class RegressionPage(Page):
    """Regressions."""

    regressions: list[Regression]


class Status(BaseModel):
    """Last night and next night, queue, workers."""

    now: str
    sentence: str
    last_night: Document | None
    next_night: str
    queue: Document
    workers: list[Document]
    regressions_open: int


class Taken(BaseModel):
    """What became of results that were handed in."""

    run: str
    address: str
    written: str = Field(description="stored or already")


def told(model: type[BaseModel], *others: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: its answer, and the errors that it can give besides those that every route can."""
    return {200: {"model": model}, **{status: {"model": Trouble} for status in others}}
