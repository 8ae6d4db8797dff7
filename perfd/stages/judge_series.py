"""The Series that an occasion touched, judged in one pass: each goes on from its track, and all are held together."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from perfd.domain.occasion import Occasion
from perfd.domain.past import Past
from perfd.domain.verdict import Judgement
from perfd.rules.comparable import among_all
from perfd.rules.many import kept_places
from perfd.rules.night import Touched, judge_night
from perfd.rules.policy import Policy
from perfd.stages.context import Context
from perfd.store.records import SeriesInfo, SeriesJudgement

WINDOW = 200
"""Points that are enough to go on from a track."""
HISTORY = 500
"""Points that a Series without a track is judged by."""
_READ_AT_ONCE = 2000


def judge_all(context: Context, occasion: Occasion, touched: Sequence[SeriesInfo], judge: str) -> list[SeriesJudgement]:
    """Every touched Series has its Verdict, its Changes and its track in the database, in one transaction.

    What a person or a re-measurement called noise is left out; what `judge` itself took back is not. Cost: O(window) a Series.
    """
    with _uncollected():
        return _judge_all(context, occasion, touched, judge)


def _judge_all(context: Context, occasion: Occasion, touched: Sequence[SeriesInfo], judge: str) -> list[SeriesJudgement]:
    judgements = context.store.judgements
    tracks = judgements.tracks(occasion, [series.id for series in touched])
    points = _points(context, touched, tracks)
    refuted = judgements.refuted(occasion, but=judge)
    kept = {series.id: kept_places(points[series.id], refuted.get(series.id, frozenset())) for series in touched}
    asked = {
        series.id: Touched(
            points[series.id].take(kept[series.id]),
            series.metric,
            Policy(dismissed=frozenset(build for build, _ in refuted.get(series.id, ()))),
            tracks.get(series.id),
        )
        for series in touched
    }
    judged = [
        SeriesJudgement(key, points[key], _among_all(one.judgement, kept[key]), one.track)
        for key, one in judge_night(asked).items()
    ]
    judgements.write_all(occasion, judged, context.now())
    return judged


@contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage is looked for in this process meanwhile.

    Nearly all of the million objects that 10,000 Series make live until the night is written. To look through them again and
    again took a quarter of the time.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _among_all(judgement: Judgement, kept: Sequence[int]) -> Judgement:
    return Judgement(judgement.verdict, among_all(judgement.changes, kept))


def _points(context: Context, touched: Sequence[SeriesInfo], tracks: Mapping[int, object]) -> dict[int, Past]:
    ids = [series.id for series in touched]
    found: dict[int, Past] = {}
    for some, last in (([key for key in ids if key in tracks], WINDOW), ([key for key in ids if key not in tracks], HISTORY)):
        for start in range(0, len(some), _READ_AT_ONCE):
            context.tell.steps("judge", len(found), len(ids), "Series read")
            found |= context.store.judgements.pasts(some[start : start + _READ_AT_ONCE], last)
    context.tell.steps("judge", len(found), len(ids), "Series read")
    return found
