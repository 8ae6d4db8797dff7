"""Which two Builds a re-measurement compares, and which it has compared: last good ones and first bad ones, by digest.

Beside the place of each member first; then around all places where the members' steps may have begun (rules/place.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perfd.domain.occasion import Occasion
from perfd.domain.plan import PlannedBuild
from perfd.domain.run import Arm, Point
from perfd.domain.subject import brief
from perfd.domain.verdict import ChangeKind, Reproduced
from perfd.rules.confirm import Pair, Tried, narrowed
from perfd.rules.place import REACH, places
from perfd.stages.context import Context
from perfd.stages.members import remeasured
from perfd.store.records import ChangeRow, RegressionRow, SeriesInfo

JUDGE = "judge"


class ImpossibleError(Exception):
    """Why a Regression cannot be measured again, as a sentence; it ends up on the Regression."""


@dataclass(frozen=True)
class _Placed:
    """A member among the Points of its Series."""

    info: SeriesInfo
    change: ChangeRow
    points: Sequence[Point]
    at: int
    """Where its Change was put; 0 where that is not among the Points that are kept."""

    @classmethod
    def of(cls, context: Context, info: SeriesInfo, change: ChangeRow) -> "_Placed":
        points = context.store.judgements.history(info.id)
        return cls(info, change, points, next((at for at, point in enumerate(points) if point.run == change.run), 0))

    @property
    def pair(self) -> Pair:
        """The Build before the Change and the first one at the new level; of a drift, which has no such, the newest."""
        if self.at == 0:
            raise ImpossibleError("the last good Build is not among the Points that are kept")
        good, bad = self.points[self.at - 1], self.points[-1 if self.change.kind is ChangeKind.DRIFT else self.at]
        if good.build == bad.build:
            raise ImpossibleError(f"the Build is the same before and after ({good.build[:12]}); driver or libraries changed")
        return good.build, bad.build


def standing(row: RegressionRow) -> list[tuple[SeriesInfo, ChangeRow]]:
    """The members that a re-measurement is about and that are still seen, the strongest first."""
    return [(info, change) for info, change in remeasured(row) if change.gone_at is None]


def pairs_of(context: Context, row: RegressionRow, night: Occasion) -> tuple[Pair, ...]:
    """What the Regression may be re-measured by after that night, the likeliest first; raises ImpossibleError for nothing."""
    placed = [_Placed.of(context, info, change) for info, change in standing(row)]
    found: dict[Pair, None] = {}
    why = ImpossibleError("none of its Changes is seen any more")
    for one in placed:
        try:
            found[one.pair] = None
        except ImpossibleError as error:
            why = error
    if not found:
        raise why
    around = [points for one in placed if one.change.kind is ChangeKind.STEP for points in _around(context, one, night)]
    if around:
        good = min((before for before, _ in around), key=_order)
        bad = max((after for _, after in around), key=_order)
        if good.build != bad.build:
            found[good.build, bad.build] = None
    return tuple(found)


def _order(point: Point) -> tuple[int, str]:
    return point.ordinal, point.measured_at.isoformat()


def _around(context: Context, one: _Placed, night: Occasion) -> Iterator[tuple[Point, Point]]:
    """The last Point that is surely before the step and the first one that is surely behind it; none where that is not known.

    Where a night shortly before was refuted, too, the step may be older than both: a slow Build that was lucky on its first night
    would have each of its successors refuted in turn.
    """
    begin, end = _bounds(context, one)
    noise = context.store.judgements.noise(night).get(one.info.id)
    if noise is None or one.at == 0:
        return
    here = one.points[one.at]
    refuted = context.store.judgements.refuted(night, but=JUDGE).get(one.info.id, frozenset())
    alike = [point for point in one.points[begin:end] if point.hardware_hash == here.hardware_hash]
    told = [point for point in alike if point is here or (point.build, point.occasion) not in refuted]
    at = told.index(here)
    if at == 0:
        return
    scale = noise * (abs(one.change.before) or 1.0)
    first, last = places([point.value for point in told], at, one.change.before, one.change.after, scale)
    before = alike[: alike.index(here)][-REACH:]
    if any(point not in told for point in before):
        first = min(first, max(1, at - REACH))
    yield told[first - 1], told[last]


def _bounds(context: Context, one: _Placed) -> tuple[int, int]:
    """From the Change before this one in its Series to the one behind it, as places among its Points."""
    known = {point.run: at for at, point in enumerate(one.points)}
    others = [known[change.run] for change in context.store.judgements.changes(one.info.id) if change.run in known]
    before = max((at for at in others if at < one.at), default=0)
    return before, min((at for at in others if at > one.at), default=len(one.points))


def planned(context: Context, build: str) -> PlannedBuild:
    """The Build as it was planned last; raises ImpossibleError where it is forgotten."""
    found = context.store.builds.planned(build)
    if found is None:
        raise ImpossibleError(f"nothing is known of the Build {build[:12]} any more")
    return found


def compared(context: Context, occasion: Occasion) -> Pair | None:
    """The two Builds of a comparison; absent where it had none."""
    builds = {one.run.arm: one.run.build for one in context.store.pages.blocks(occasion)}
    return (builds[Arm.BASE], builds[Arm.HEAD]) if {Arm.BASE, Arm.HEAD} <= builds.keys() else None


def tried(context: Context, regression: int) -> list[Tried]:
    """What the Regression's re-measurements that are settled have shown of which Builds, oldest first."""
    rows = context.store.confirmations.of_regressions(regression)[regression]
    settled = [(one.outcome, compared(context, one.occasion)) for one in rows if one.outcome is not None]
    return [Tried(pair, outcome) for outcome, pair in settled if pair is not None]


def confirmed_pair(context: Context, regression: int) -> Pair | None:
    """The last good and the first bad Build as far as re-measuring has told; absent where it has confirmed nothing."""
    known = tried(context, regression)
    found = [one.pair for one in known if one.outcome is Reproduced.YES]
    return narrowed(found[-1], known) if found else None


@dataclass(frozen=True)
class Blamed:
    """From when on it is worse, as far as measuring again has told."""

    build: str
    """The first Build that is known to be worse."""
    since: str
    """Its commit, and that it may be one before where other Builds were measured in between."""
    alone: bool
    """Whether no other Build was."""


def blamed(context: Context, pair: Pair, points: Sequence[Point]) -> Blamed:
    """What is blamed where these two Builds differ, `points` being a Series that shows it."""
    base, head = (planned(context, build).revision for build in pair)
    told = f"{brief(head.name)} {head.title}".strip()
    alone = not any(base.ordinal < point.ordinal < head.ordinal for point in points)
    return Blamed(pair[1], told if alone else f"{told}, or a Build before it and after {brief(base.name)}", alone)
