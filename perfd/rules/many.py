"""The Points of a Series without those that re-measuring has refuted."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from perfd.domain.past import Past


def kept_places(points: Past, refuted: AbstractSet[tuple[str, str]]) -> Sequence[int]:
    """Where the Points stand that are judged: those of refuted (Build, occasion) pairs are left out, the newest never is.

    Re-measuring has shown that such a Point was the machine's: it must not teach the judge that a Series jumps like that, or a
    real slowdown two nights later would hide behind it.
    """
    if not refuted:
        return range(len(points))
    last = len(points) - 1
    seen = enumerate(zip(points.builds, points.occasions, strict=True))
    return [place for place, one in seen if place == last or one not in refuted]
