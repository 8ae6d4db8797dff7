"""How Changes are written: those of a whole night in a few statements, and each keeps its id while its place moves a little."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import Connection, Exists, Select, select, update

from perfd.domain.metric import Better
from perfd.domain.verdict import Change, ChangeStatus, RegressionState, Reproduced
from perfd.errors import PerfdError
from perfd.store import tables
from perfd.store.records import SeriesJudgement
from perfd.store.writing import AnyRow, add_all, among, change_all

C = tables.change.c
NEAR = 3
"""A Change whose place moves by at most so many Points (with the same direction) is the same Change.

One that measuring again has refuted stays where it is: what comes just behind it is another Change, and may be real.
"""

_Seen: TypeAlias = tuple[AnyRow | None, str, dict[str, Any]]
"""A Change: the row that it is already, the key of its Run, its values."""


@dataclass(frozen=True)
class _Night:
    """What a night has to write."""

    still: list[int] = field(default_factory=list)
    """Changes (by id) that were seen just as they stood."""
    gone: list[int] = field(default_factory=list)
    """All others that stood where was judged: first they are gone, so that two may swap places, and what was seen comes back."""
    seen: list[_Seen] = field(default_factory=list)
    """What was seen otherwise, or for the first time."""


def write_changes(
    connection: Connection, occasion_id: int, judged: Sequence[SeriesJudgement], better: Mapping[int, Better], now: datetime
) -> None:
    """The Changes of these Series stand as they were judged; see `Judgements.write_all`."""
    standing = _standing(connection, [one.series_id for one in judged])
    night = _Night()
    for one in judged:
        here = _within(standing.get(one.series_id, []), one)
        if _is_as_it_was(here, one):
            night.still.extend(row.id for row in here)
        else:
            night.gone.extend(row.id for row in here)
            night.seen.extend(_seen(one, here, better[one.series_id]))
    connection.execute(update(tables.change).where(among(C.id, night.still)).values(seen_in=occasion_id))
    connection.execute(update(tables.change).where(among(C.id, night.gone)).values(gone_at=now))
    _write(connection, night, {"seen_in": occasion_id, "gone_at": None}, now)


def _standing(connection: Connection, ids: Sequence[int]) -> dict[int, list[AnyRow]]:
    """By Series, the Changes that stand, each with the key of its Run."""
    run = tables.run.c
    asked: Select[Any] = (
        select(tables.change, run.key, _is_refuted().label("refuted"))
        .join(tables.run, run.id == C.run_id)
        .where(among(C.series_id, ids), C.gone_at.is_(None))
        .order_by(C.id)
        .with_for_update(of=tables.change)
    )
    found: dict[int, list[AnyRow]] = {}
    for row in connection.execute(asked).all():
        found.setdefault(row.series_id, []).append(row)
    return found


def _is_refuted() -> Exists:
    """Whether the Change's Regression is noise because the Builds on either side were measured again, and were the same."""
    G, member, again = tables.regression.c, tables.regression_member.c, tables.confirmation.c  # noqa: N806  # columns
    noise = (member.change_id == C.id) & (G.state == RegressionState.NOISE.value) & (again.outcome == Reproduced.NO.value)
    return (
        select(G.id)
        .join(tables.regression_member, member.regression_id == G.id)
        .join(tables.confirmation, again.regression_id == G.id)
        .where(noise)
        .correlate(tables.change)
        .exists()
    )


def _within(standing: Sequence[AnyRow], one: SeriesJudgement) -> list[AnyRow]:
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


def _seen(
    one: SeriesJudgement, standing: Sequence[AnyRow], better: Better
) -> Iterable[tuple[AnyRow | None, str, dict[str, Any]]]:
    runs, found = one.points.runs, one.judgement.changes
    kept = _match(found, standing, {run: place for place, run in enumerate(runs)} if standing else {})
    for index, change in enumerate(found):
        yield kept.get(index), runs[change.index], {"series_id": one.series_id} | _values(change, better)


def _match(found: Sequence[Change], standing: Sequence[AnyRow], place: Mapping[str, int]) -> dict[int, AnyRow]:
    """Which found Change (by position) is which that stands: nearest first, same direction, at most NEAR Points away.

    A refuted one does not move.
    """
    rows = {row.id: row for row in standing}
    pairs = sorted(
        (abs(change.index - place[row.key]), index, row.id)
        for index, change in enumerate(found)
        for row in standing
        if (change.effect > 0) == (row.effect > 0)
    )
    kept: dict[int, AnyRow] = {}
    for distance, index, change_id in pairs:
        if index in kept or change_id not in rows:
            continue
        if distance <= (0 if rows[change_id].refuted else NEAR):
            kept[index] = rows.pop(change_id)
    return kept


def _values(change: Change, better: Better) -> dict[str, Any]:
    low, high = change.interval or (None, None)
    return {
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


def _write(connection: Connection, night: _Night, common: dict[str, Any], now: datetime) -> None:
    """What was seen stands: known Changes with their id, the others with a new one."""
    runs = _runs(connection, {key for _, key, _ in night.seen})
    known, new = [], []
    for row, key, values in night.seen:
        told = common | values | runs[key]
        detected = now.isoformat() if values["status"] == ChangeStatus.DETECTED.value else None
        if row is None:
            new.append(told | {"found_in": common["seen_in"], "detected_at": detected})
        elif row.detected_at is None:
            known.append(told | {"id": row.id, "detected_at": detected})
        else:  # what was once detected is not taken back to a suspect: people may have been told
            status = ChangeStatus.DETECTED.value
            known.append(told | {"id": row.id, "detected_at": row.detected_at.isoformat(), "status": status})
    change_all(connection, tables.change, "id", known)
    add_all(connection, tables.change, new)


def _runs(connection: Connection, keys: set[str]) -> dict[str, dict[str, int]]:
    """By the key of a Run, where a Change lies that begins with it; raises PerfdError for one that is not known."""
    run = tables.run.c
    rows = connection.execute(select(run.key, run.id, run.build_id).where(run.key.in_(keys)))
    found = {row.key: {"run_id": row.id, "build_id": row.build_id} for row in rows}
    lost = sorted(keys - found.keys())
    if lost:
        raise PerfdError(f"a Change was placed at the Run {lost[0][:12]}, which the store does not know")
    return found
