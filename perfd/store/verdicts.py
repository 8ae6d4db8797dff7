"""How judgements are written: all Series of a night in a few statements."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.metric import Better
from perfd.domain.verdict import Change, ChangeStatus, Verdict
from perfd.errors import PerfdError
from perfd.store import latest, tables
from perfd.store.records import SeriesJudgement
from perfd.store.tracks import write_tracks
from perfd.store.writing import AnyRow, among, clean, put_all

C = tables.change.c
NEAR = 3
"""A Change whose place moves by at most so many Points (with the same direction) is the same Change."""
_KEY = ("series_id", "occasion_id")


def write_judgements(connection: Connection, occasion_id: int, judged: Sequence[SeriesJudgement], now: datetime) -> None:
    """Verdicts, Changes and what is to be remembered of these Series stand; see `Judgements.write_all`."""
    ids = sorted({one.series_id for one in judged})
    if not ids:
        return
    better = _locked(connection, ids)
    _write_verdicts(connection, occasion_id, judged, now)
    write_tracks(connection, occasion_id, {one.series_id: one.memory for one in judged if one.memory is not None})
    standing = _standing(connection, ids)
    still: list[int] = []
    for one in judged:
        here = _among(standing.get(one.series_id, []), one)
        if _is_as_it_was(here, one):
            still += [row.id for row in here]
        else:
            seen = {"series_id": one.series_id, "seen_in": occasion_id, "gone_at": None}
            _write_changes(connection, one, here, (seen, better[one.series_id]), now)
    connection.execute(update(tables.change).where(among(C.id, still)).values(seen_in=occasion_id))
    latest.judged(connection, ids, occasion_id)


def _locked(connection: Connection, ids: Sequence[int]) -> dict[int, Better]:
    """Which way is better in each Series; until the transaction ends, another judge of one of them waits."""
    series = tables.series
    asked = select(series.c.id, tables.metric.c.better).join(tables.metric).where(among(series.c.id, ids)).order_by(series.c.id)
    return {row.id: Better(row.better) for row in connection.execute(asked.with_for_update(of=series, key_share=True))}


def _write_verdicts(connection: Connection, occasion_id: int, judged: Sequence[SeriesJudgement], now: datetime) -> None:
    rows = [{"series_id": one.series_id, "occasion_id": occasion_id} | _columns(one.judgement.verdict, now) for one in judged]
    put_all(connection, tables.verdict, _KEY, rows)


def _columns(verdict: Verdict, now: datetime) -> dict[str, Any]:
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
        "judged_at": now.isoformat(),
    }


def _standing(connection: Connection, ids: Sequence[int]) -> dict[int, list[AnyRow]]:
    """By Series, the Changes that stand, each with the key of its Run."""
    run = tables.run.c
    asked: Select[Any] = (
        select(tables.change, run.key)
        .join(tables.run, run.id == C.run_id)
        .where(among(C.series_id, ids), C.gone_at.is_(None))
        .order_by(C.id)
        .with_for_update(of=tables.change)
    )
    found: dict[int, list[AnyRow]] = {}
    for row in connection.execute(asked):
        found.setdefault(row.series_id, []).append(row)
    return found


def _among(standing: Sequence[AnyRow], one: SeriesJudgement) -> list[AnyRow]:
    """Those whose place lies in the history that was judged."""
    runs = frozenset(one.points.runs) if standing else frozenset()
    return [row for row in standing if row.key in runs]


def _is_as_it_was(standing: Sequence[AnyRow], one: SeriesJudgement) -> bool:
    """Whether every Change that stands was found again, just so, and no other."""
    runs = one.points.runs
    found = {(runs[each.index], each.kind, each.status, each.before, each.after, each.q): each for each in one.judgement.changes}
    here = {(row.key, row.kind, row.status, row.before, row.after, row.q): row for row in standing}
    return found.keys() == here.keys() and all(_as_wide(here[key], found[key]) for key in found)


def _as_wide(row: AnyRow, change: Change) -> bool:
    """Whether the interval is what it was; one that moved by a hundredth of its width says nothing new."""
    if row.low is None or change.interval is None:
        return row.low is None and change.interval is None
    low, high = change.interval
    return bool(max(abs(low - row.low), abs(high - row.high)) <= 0.01 * (high - low))


def _write_changes(
    connection: Connection, one: SeriesJudgement, standing: Sequence[AnyRow], how: tuple[dict[str, Any], Better], now: datetime
) -> None:
    place = {run: index for index, run in enumerate(one.points.runs)}
    found = one.judgement.changes
    kept = _match(found, standing, place)
    every = [row.id for row in standing]  # first all are gone, so that two may swap places; those that are seen come back below
    connection.execute(update(tables.change).where(C.id.in_(every)).values(gone_at=now))
    seen, better = how
    for index, change in enumerate(found):
        values = _values(connection, one.points.runs[change.index], change, better)
        _write_change(connection, kept.get(index), values | seen, now)


def _match(found: Sequence[Change], standing: Sequence[AnyRow], place: dict[str, int]) -> dict[int, int]:
    """Which found Change (by position) is which that stands (by id): nearest first, same direction, at most NEAR Points away."""
    pairs = sorted(
        (abs(change.index - place[row.key]), index, row.id)
        for index, change in enumerate(found)
        for row in standing
        if (change.effect > 0) == (row.effect > 0)
    )
    kept: dict[int, int] = {}
    for distance, index, change_id in pairs:
        if distance <= NEAR and index not in kept and change_id not in kept.values():
            kept[index] = change_id
    return kept


def _values(connection: Connection, key: str, change: Change, better: Better) -> dict[str, Any]:
    run = tables.run.c
    row = connection.execute(select(run.id, run.build_id).where(run.key == key)).first()
    if row is None:
        raise PerfdError(f"a Change was placed at the Run {key[:12]}, which the store does not know")
    low, high = change.interval or (None, None)
    return {
        "build_id": row.build_id,
        "run_id": row.id,
        "kind": change.kind.value,
        "status": change.status.value,
        "before": change.before,
        "after": change.after,
        "effect": change.effect,
        "low": low,
        "high": high,
        "q": change.q,
        "worse": (change.after > change.before) == (better is Better.LOWER),
    }


def _write_change(connection: Connection, change_id: int | None, values: dict[str, Any], now: datetime) -> None:
    detected = values["status"] == ChangeStatus.DETECTED.value
    if change_id is None:
        added = values | {"found_in": values["seen_in"], "detected_at": now if detected else None}
        connection.execute(insert(tables.change).values(**added))
        return
    old = connection.execute(select(C.status, C.detected_at).where(C.id == change_id)).one()
    if old.detected_at is not None:  # what was once detected is not taken back to a suspect: people may have been told
        values = values | {"status": ChangeStatus.DETECTED.value}
    elif detected:
        values = values | {"detected_at": now}
    connection.execute(update(tables.change).where(C.id == change_id).values(**values))
