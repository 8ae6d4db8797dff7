"""Verdicts, Changes and Regressions: what was found, and how sure it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """The five answers."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNSURE = "unsure"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class Verdict:
    """An answer with its interval, the bar it was held to, and the smallest effect it could have seen.

    Effects are ratios minus one (0.05 is five per cent more), whichever way is better.
    """

    outcome: Outcome
    reason: str
    """One sentence; for `unsure` it says what is missing ("3 Points, 8 are needed")."""
    detector: str
    """Name and version of the rule that decided."""
    n: int
    """Points (or pairs) that it rests on."""
    effect: float | None = None
    """Absent when there is nothing to compare with."""
    interval: tuple[float, float] | None = None
    bar: float | None = None
    """The relative effect beyond which it would have been called a change."""
    q: float | None = None
    """False-discovery-adjusted p."""
    noise: float | None = None
    """Night-to-night relative standard deviation."""
    mde: Mapping[int, float] = field(default_factory=dict)
    """Nights after a change → smallest relative effect found with 90 % power."""


class ChangeKind(StrEnum):
    """What changed in a Series."""

    STEP = "step"
    DRIFT = "drift"
    VARIANCE = "variance"
    MODE = "mode"
    TRANSIENT = "transient"


class ChangeStatus(StrEnum):
    """`suspect` may be a spike; `detected` is shown by the Series itself."""

    SUSPECT = "suspect"
    DETECTED = "detected"


@dataclass(frozen=True)
class Change:
    """A step (or drift, …) in a Series; it belongs to the first Build at the new level."""

    index: int
    """Position of the first Point at the new level."""
    kind: ChangeKind
    status: ChangeStatus
    before: float
    after: float
    effect: float
    """after / before - 1; the difference itself where `before` is zero."""
    interval: tuple[float, float] | None = None
    q: float | None = None
    flagged_at: int | None = None
    """The Point at which it was first detected; absent while it is a suspect."""


class RegressionState(StrEnum):
    """`suspect → detected → confirmed → owned → fixed | accepted | noise | duplicate`, then `verified`."""

    SUSPECT = "suspect"
    DETECTED = "detected"
    CONFIRMED = "confirmed"
    OWNED = "owned"
    FIXED = "fixed"
    ACCEPTED = "accepted"
    NOISE = "noise"
    DUPLICATE = "duplicate"
    VERIFIED = "verified"


OPEN_STATES = frozenset({RegressionState.SUSPECT, RegressionState.DETECTED, RegressionState.CONFIRMED, RegressionState.OWNED})


class Reproduced(StrEnum):
    """What re-measuring a Regression, first bad Build against last good one, has shown."""

    YES = "reproduced"
    NO = "not reproduced"
    UNSURE = "unsure"
    IMPOSSIBLE = "impossible"
    """It could not be measured: a Build is gone and cannot be made again, or nobody measured it."""


@dataclass(frozen=True)
class Judgement:
    """What the judge says of one Series: the Verdict on its last Point, and every Change in its window."""

    verdict: Verdict
    changes: tuple[Change, ...] = ()
