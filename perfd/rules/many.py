"""The Points of a Series without those that re-measuring has refuted, and the way back to places among all of them."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from perfd.domain.past import Past
from perfd.domain.verdict import Change, Judgement


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


def among_all(judgement: Judgement, kept: Sequence[int]) -> Judgement:
    """The Judgement of the Points at the places `kept`, with its Changes' places counted among all Points."""
    if isinstance(kept, range):  # all of them are
        return judgement
    return replace(judgement, changes=tuple(_placed(change, kept) for change in judgement.changes))


def _placed(change: Change, kept: Sequence[int]) -> Change:
    flagged = None if change.flagged_at is None else kept[change.flagged_at]
    return replace(change, index=kept[change.index], flagged_at=flagged)
