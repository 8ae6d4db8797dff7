"""How judgements are written: all Series of a night in a few statements."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from perfd.domain.metric import Better
from perfd.domain.verdict import Verdict
from perfd.store import latest, tables
from perfd.store.changes import write_changes
from perfd.store.records import SeriesJudgement
from perfd.store.tracks import write_tracks
from perfd.store.writing import among, clean, put_all

_KEY = ("series_id", "occasion_id")


def write_judgements(connection: Connection, occasion_id: int, judged: Sequence[SeriesJudgement], now: datetime) -> None:
    """Verdicts, Changes and what is to be remembered of these Series stand; see `Judgements.write_all`."""
    ids = sorted({one.series_id for one in judged})
    if not ids:
        return
    better = _locked(connection, ids)
    _write_verdicts(connection, occasion_id, judged, now)
    write_tracks(connection, occasion_id, {one.series_id: one.memory for one in judged if one.memory is not None})
    write_changes(connection, occasion_id, judged, better, now)
    latest.judged(connection, ids, occasion_id)


def _locked(connection: Connection, ids: Sequence[int]) -> dict[int, Better]:
    """Which way is better in each Series; until the transaction ends, another judge of one of them waits."""
    series = tables.series
    asked = select(series.c.id, tables.metric.c.better).join(tables.metric).where(among(series.c.id, ids)).order_by(series.c.id)
    return {row.id: Better(row.better) for row in connection.execute(asked.with_for_update(of=series, key_share=True))}


def _write_verdicts(connection: Connection, occasion_id: int, judged: Sequence[SeriesJudgement], now: datetime) -> None:
    at = now.isoformat()
    rows = [
        {"series_id": one.series_id, "occasion_id": occasion_id, "judged_at": at} | _columns(one.judgement.verdict)
        for one in judged
    ]
    put_all(connection, tables.verdict, _KEY, rows)


def _columns(verdict: Verdict) -> dict[str, Any]:
    low, high = verdict.interval or (None, None)
    return {
        "outcome": verdict.outcome.value,
        "reason": clean(verdict.reason),
        "detector": verdict.detector,
        "n": verdict.n,
        "effect": verdict.effect,
        "low": low,
        "high": high,
        "bar": verdict.bar,
        "q": verdict.q,
        "noise": verdict.noise,
        "mde": {str(nights): effect for nights, effect in verdict.mde.items()},
    }
