"""A history: the Points of one Series in columns, for when there are many Series."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Self, overload

from perfd.domain.run import Point


@dataclass(frozen=True, slots=True)
class History(Sequence[Point]):
    """Points in order, oldest first; each is made when it is asked for, since of most only the value is."""

    runs: Sequence[str]
    builds: Sequence[str]
    revisions: Sequence[str]
    ordinals: Sequence[int]
    occasions: Sequence[str]
    seconds: Sequence[float]
    """When each was measured, in seconds since 1970."""
    values: Sequence[float]
    lows: Sequence[float | None]
    highs: Sequence[float | None]
    counts: Sequence[int]
    hardware: Sequence[str]
    epochs: Sequence[str]

    @classmethod
    def of(cls, points: Sequence[Point]) -> "History":
        """The same Points in columns."""
        if isinstance(points, cls):
            return points
        intervals = [point.interval or (None, None) for point in points]
        return cls(
            runs=[point.run for point in points],
            builds=[point.build for point in points],
            revisions=[point.revision for point in points],
            ordinals=[point.ordinal for point in points],
            occasions=[point.occasion for point in points],
            seconds=[point.measured_at.timestamp() for point in points],
            values=[point.value for point in points],
            lows=[low for low, _ in intervals],
            highs=[high for _, high in intervals],
            counts=[point.n for point in points],
            hardware=[point.hardware_hash for point in points],
            epochs=[point.epoch for point in points],
        )

    def take(self, places: Sequence[int]) -> Self:
        """The Points at these places, in this order."""
        if places == range(len(self)):
            return self
        columns: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        return type(self)(**{name: [column[place] for place in places] for name, column in columns.items()})

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, place: int) -> Point: ...
    @overload
    def __getitem__(self, place: slice) -> "History": ...
    def __getitem__(self, place: int | slice) -> "Point | History":
        if isinstance(place, slice):
            return self.take(range(*place.indices(len(self))))
        low, high = self.lows[place], self.highs[place]
        return Point(
            run=self.runs[place],
            build=self.builds[place],
            revision=self.revisions[place],
            ordinal=self.ordinals[place],
            occasion=self.occasions[place],
            measured_at=datetime.fromtimestamp(self.seconds[place], UTC),
            value=self.values[place],
            interval=None if low is None or high is None else (low, high),
            n=self.counts[place],
            hardware_hash=self.hardware[place],
            epoch=self.epochs[place],
        )

    def __iter__(self) -> Iterator[Point]:
        return (self[place] for place in range(len(self)))
