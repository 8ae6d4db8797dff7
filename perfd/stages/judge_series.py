"""The Series that an occasion touched, judged in one pass: each goes on from its track, and all are held together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from perfd.domain.occasion import Occasion
from perfd.domain.past import Past
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
        SeriesJudgement(key, points[key], replace(one.judgement, changes=among_all(one.judgement.changes, kept[key])), one.track)
        for key, one in judge_night(asked).items()
    ]
    judgements.write_all(occasion, judged, context.now())
    return judged


def _points(context: Context, touched: Sequence[SeriesInfo], tracks: Mapping[int, object]) -> dict[int, Past]:
    ids = [series.id for series in touched]
    found: dict[int, Past] = {}
    for some, last in (([key for key in ids if key in tracks], WINDOW), ([key for key in ids if key not in tracks], HISTORY)):
        for start in range(0, len(some), _READ_AT_ONCE):
            context.tell.steps("judge", len(found), len(ids), "Series read")
            found |= context.store.judgements.pasts(some[start : start + _READ_AT_ONCE], last)
    context.tell.steps("judge", len(found), len(ids), "Series read")
    return found
