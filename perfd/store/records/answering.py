"""Regressions, what was measured again for them, and how often perfd errs."""

from dataclasses import dataclass
from datetime import datetime

from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.verdict import Outcome, RegressionState, Reproduced
from perfd.store.records.series import ChangeRow, SeriesInfo


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
class OpenRegression:
    """A Regression that someone must answer, in a line."""

    id: int
    title: str
    state: RegressionState
    effect: float | None
    """The size of the largest effect among its Changes; absent without any."""


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
