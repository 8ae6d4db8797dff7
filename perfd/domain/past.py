"""What the Points of one Series are judged by, in columns: Series that share their Runs share all columns but the values."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from perfd.domain.run import Point


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """Points in order, oldest first; what each column holds, says `Point`."""

    runs: Sequence[str]
    builds: Sequence[str]
    revisions: Sequence[str]
    ordinals: Sequence[int]
    occasions: Sequence[str]
    hardware: Sequence[str]
    epochs: Sequence[str]
    values: Sequence[float]

    @classmethod
    def of(cls, points: "Sequence[Point] | Past") -> "Past":
        """The same Points in columns."""
        if isinstance(points, Past):
            return points
        return cls(
            runs=[point.run for point in points],
            builds=[point.build for point in points],
            revisions=[point.revision for point in points],
            ordinals=[point.ordinal for point in points],
            occasions=[point.occasion for point in points],
            hardware=[point.hardware_hash for point in points],
            epochs=[point.epoch for point in points],
            values=[point.value for point in points],
        )

    def take(self, places: Sequence[int]) -> "Past":
        """The Points at these places, in this order."""
        if places == range(len(self)):
            return self
        columns: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        return Past(**{name: [column[place] for place in places] for name, column in columns.items()})

    def __len__(self) -> int:
        return len(self.values)
