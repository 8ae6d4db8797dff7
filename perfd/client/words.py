"""What the client answers with; everything else of a document stays JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfd.domain.metric import Better


@dataclass(frozen=True)
class Series:
    """A Series with its last Point."""

    id: int
    subject: str
    branch: str
    suite: str
    workload: str
    metric: str
    unit: str
    better: Better
    model: str
    device_class: str
    value: float
    interval: tuple[float, float] | None
    verdict: str | None
    """Outcome of the last Verdict; absent where none was given yet."""
    document: Mapping[str, Any]
    """All that the API told."""


@dataclass(frozen=True)
class Points:
    """Points of one Series in columns of one length, oldest first."""

    values: Sequence[float]
    lows: Sequence[float | None]
    highs: Sequence[float | None]
    runs: Sequence[int]
    """Their numbers, each as good as a key where a Run is asked for."""
    builds: Sequence[str]
    revisions: Sequence[str]
    decimated: bool
    """Whether only the lowest and highest of every stretch are here."""
    document: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Page:
    """A page of a list."""

    total: int
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Sent:
    """What became of results that were handed in."""

    run: str
    new: bool
    """False where the same results stood there."""


def series_of(told: Mapping[str, Any]) -> Series:
    """A line of the list of Series."""
    point, verdict = told["latest"], told["verdict"]
    interval = point["interval"]
    return Series(
        id=told["id"],
        subject=told["subject"],
        branch=told["branch"],
        suite=told["suite"],
        workload=told["workload"],
        metric=told["metric"],
        unit=told["unit"],
        better=Better(told["better"]),
        model=told["model"],
        device_class=told["device_class"],
        value=point["value"],
        interval=(interval[0], interval[1]) if interval else None,
        verdict=verdict["outcome"] if verdict else None,
        document=told,
    )


def points_of(told: Mapping[str, Any]) -> Points:
    """One Series in columns."""
    _, values, lows, highs = told["data"]
    named = told["points"]
    return Points(values, lows, highs, named["run"], named["build"], named["revision"], told["decimated"], told)
