"""`perfd detect`: the text of a CSV or JSON file becomes Series, and what changed in them becomes the answer of docs/design.md.

Treatments that are no errors are told in `notes`: missing nights (empty, null, NaN) are left out and counted; nights that are out
of order are sorted by their time; several values of one night become their median; infinities are refused with their place.
"""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from perfd.domain.identity import Json
from perfd.domain.verdict import Change
from perfd.errors import BadInputError
from perfd.rules.changes import changes_of
from perfd.stats.hindsight import in_hindsight
from perfd.stats.power import bar_of, smallest_effects
from perfd.stats.replay import replay
from perfd.stats.track import Replay

Floats = NDArray[np.float64]

MOST_VALUES = 2_000_000
NEEDED = 6
"""Values that a Series needs before anything is said of it."""
_MISSING = {"", "null", "none", "nan", "na", "n/a", "-"}
_UNIT_JUMP = (24.0, 60.0, 1000.0, 1024.0, 3600.0, 1e6, 1048576.0, 1e9)
"""Ratios of units that people confuse: hours, minutes, kilo, Ki, mega, Mi, giga."""


@dataclass(frozen=True)
class SeriesIn:
    """One Series of a file: its values, oldest first, NaN where a night is missing, and what was done to them."""

    name: str
    values: Floats
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Detected:
    """What was found in one Series; indices count the file's values, missing nights included."""

    name: str
    changes: tuple[Change, ...]
    noise: Json
    mde: dict[int, float]
    notes: tuple[str, ...] = ()
    values: Floats = field(default_factory=lambda: np.zeros(0))


def read_series(text: str, place: str) -> list[SeriesIn]:
    """The Series of a file's text; `place` is its name, for errors. Raises BadInputError with the line or the item."""
    if not text.strip():
        raise BadInputError(f"{place} is empty; a CSV file starts with a header such as time,value")
    text = text.removeprefix("\ufeff")
    as_json = text.lstrip()[0] in "{["
    most = text.count(",") + (0 if as_json else text.count(";") + text.count("\t"))
    if most > MOST_VALUES:
        raise BadInputError(f"{place} holds about {most} values, at most {MOST_VALUES} are read; split it by series or by year")
    return _from_json(text, place) if as_json else _from_csv(text, place)


def detect(series: Sequence[SeriesIn], *, online: bool = False) -> list[Detected]:
    """What changed in each Series.

    Every night is judged with only its past. `online` says whether that stands (True), or whether places move to where all nights
    put them, and a Series that wanders by itself keeps only the steps that hindsight sees (False).
    """
    return [_detect(one, online=online) for one in series]


def answer(found: Sequence[Detected]) -> dict[str, Json]:
    """The JSON answer of `perfd detect --json` (docs/design.md, section 4)."""
    return {"series": {one.name: _told(one) for one in found}}


def _told(one: Detected) -> dict[str, Json]:
    return {
        "changes": [_change(change) for change in one.changes],
        "noise": one.noise,
        "mde": {str(nights): _finite(effect) for nights, effect in one.mde.items()},
        "notes": list(one.notes),
    }


def _change(change: Change) -> dict[str, Json]:
    return {
        "index": change.index,
        "kind": change.kind.value,
        "status": change.status.value,
        "flagged_at": change.flagged_at,
        "before": change.before,
        "after": change.after,
        "effect": change.effect,
        "interval": None if change.interval is None else list(change.interval),
        "q": change.q,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _detect(one: SeriesIn, *, online: bool) -> Detected:
    there = np.flatnonzero(~np.isnan(one.values))
    values = one.values[there]
    notes = list(one.notes)
    if len(values) < len(one.values):
        notes.append(f"{len(one.values) - len(values)} of {len(one.values)} nights are missing and were left out")
    notes += _doubts(values)
    if len(values) < NEEDED:
        notes.append(f"unsure: {len(values)} values, {NEEDED} are needed before anything can be said")
        noise = {"relative": None, "absolute": None, "autocorrelation": None, "n": len(values)}
        return Detected(one.name, (), noise, {}, tuple(notes), one.values)
    found = replay(values[None, :], np.array([len(values)]), settle=not online)
    if not online:
        found.tracks[0].events = in_hindsight(values, found.tracks[0].events)
    changes = tuple(_placed(change, there) for change in changes_of(found, values))
    noise, mde = _noise(found, len(values))
    return Detected(one.name, changes, noise, mde, tuple(notes), one.values)


def _noise(found: Replay, n: int) -> tuple[Json, dict[int, float]]:
    level, scale, phi = (float(array[0, n - 1]) for array in (found.level, found.scale, found.phi))
    relative = scale / abs(level) if level else scale
    old = n - found.tracks[0].start
    noise = {
        "relative": _finite(relative),
        "absolute": scale,
        "autocorrelation": phi,
        "n": n,
        "level": level,
        "bar": _finite(bar_of(relative, phi, old)),
    }
    return noise, smallest_effects(relative, phi, old)


def _placed(change: Change, there: NDArray[np.intp]) -> Change:
    flagged = None if change.flagged_at is None else int(there[change.flagged_at])
    return Change(
        int(there[change.index]), change.kind, change.status, change.before, change.after, change.effect,
        change.interval, change.q, flagged,
    )  # fmt: skip


def _doubts(values: Floats) -> list[str]:
    """What a person should know before believing the answer."""
    notes = []
    if np.any(values < 0) and np.any(values > 0):
        notes.append("values change sign: effects are relative to the size of the level before, and mean little near zero")
    elif np.any(values == 0) and np.any(values != 0):
        notes.append(f"{int(np.count_nonzero(values == 0))} values are zero; from a zero level, effects are differences")
    jump = _unit_jump(values)
    if jump is not None:
        notes.append(jump)
    return notes


def _unit_jump(values: Floats) -> str | None:
    """Says so when the level jumps by the ratio of two units, as when seconds become milliseconds."""
    if len(values) < NEEDED or np.any(values <= 0):
        return None
    steps = np.log(values[1:] / values[:-1])
    place = int(np.argmax(np.abs(steps)))
    ratio = float(np.median(values[place + 1 :]) / np.median(values[: place + 1]))
    for unit in _UNIT_JUMP:
        if abs(math.log(max(ratio, 1 / ratio) / unit)) < 0.05:
            return f"the level changes by a factor of about {unit:g} at value {place + 1}: did the unit change there?"
    return None


def _from_json(text: str, place: str) -> list[SeriesIn]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{place}, line {error.lineno}: not JSON ({error.msg})") from None
    found = document.get("series") if isinstance(document, dict) else None
    if not isinstance(found, dict) or not found:
        raise BadInputError(f'{place}: expected {{"series": {{NAME: [numbers or null, …]}}}} with at least one series')
    return [_json_series(str(name), items, place) for name, items in found.items()]


def _json_series(name: str, items: Json, place: str) -> SeriesIn:
    if not isinstance(items, list):
        raise BadInputError(f"{place}: series {name!r} is no list of numbers")
    if not items:
        raise BadInputError(f"{place}: series {name!r} is empty; leave it out, or give null for missing nights")
    values = [_json_number(item, f"{place}: series {name!r}, item {index}") for index, item in enumerate(items)]
    return SeriesIn(name, np.array(values, dtype=np.float64))


def _json_number(item: Json, where: str) -> float:
    if item is None:
        return math.nan
    if isinstance(item, bool) or not isinstance(item, int | float):
        raise BadInputError(f"{where}: expected a number or null, saw {item!r:.60}")
    try:
        number = float(item)
    except OverflowError:
        number = math.inf
    return _no_infinity(number, where)


def _no_infinity(number: float, where: str) -> float:
    if math.isinf(number):
        raise BadInputError(f"{where}: infinite; write null (JSON) or nothing (CSV) for a night without a value")
    return number


def _from_csv(text: str, place: str) -> list[SeriesIn]:
    delimiter = _delimiter(text)
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(cell.strip() for cell in row)]
    header = [cell.strip() for cell in rows[0]]
    names = _csv_names(header, place)
    if len(rows) == 1:
        raise BadInputError(f"{place} has a header and no rows")
    times = [row[0].strip() for row in rows[1:]]
    columns = [_csv_column(rows[1:], column + 1, name, place) for column, name in enumerate(names)]
    order, notes = _order(times, place)
    return [_in_order(name, values, times, order, notes) for name, values in zip(names, columns, strict=True)]


def _delimiter(text: str) -> str:
    header = text.lstrip().splitlines()[0]
    return max(",;\t", key=header.count)


def _csv_names(header: list[str], place: str) -> list[str]:
    if len(header) < 2 or header[0].lower() not in {"time", "date", "timestamp", "night", "commit"}:
        raise BadInputError(f"{place}, line 1: expected a header such as time,value (time first, then a column a series)")
    names = header[1:]
    double = sorted({name for name in names if names.count(name) > 1 or not name})
    if double:
        raise BadInputError(f"{place}, line 1: every column needs a name of its own; {double[0]!r} is not")
    return names


def _csv_column(rows: list[list[str]], column: int, name: str, place: str) -> list[float]:
    return [_csv_number(row, column, f"{place}, line {line}, column {name!r}") for line, row in enumerate(rows, start=2)]


def _csv_number(row: list[str], column: int, where: str) -> float:
    cell = row[column].strip() if column < len(row) else ""
    if cell.lower() in _MISSING:
        return math.nan
    try:
        return _no_infinity(float(cell), where)
    except ValueError:
        raise BadInputError(f"{where}: expected a number, saw {cell!r:.60}; a unit belongs in the column's name") from None


def _order(times: list[str], place: str) -> tuple[list[int], list[str]]:
    """The rows' order by time, and what was done; times that are no times at all keep the file's order."""
    moments = [_moment(time) for time in times]
    known = [moment for moment in moments if moment is not None]
    if not known:
        return list(range(len(times))), []
    if len(known) < len(times):
        line = moments.index(None) + 2
        raise BadInputError(f"{place}, line {line}: {times[line - 2]!r:.40} is no time, though other rows have one")
    order = sorted(range(len(times)), key=lambda row: known[row])
    notes = [] if order == list(range(len(times))) else ["rows were not in order of time and were sorted"]
    return order, notes


def _moment(time: str) -> float | None:
    try:
        return float(time)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return None


def _in_order(name: str, values: list[float], times: list[str], order: list[int], notes: list[str]) -> SeriesIn:
    """The column sorted by time, several values of one time reduced to their median."""
    groups: dict[str, list[float]] = {}
    for row in order:
        groups.setdefault(times[row] or f"row {row}", []).append(values[row])
    if len(groups) == len(order) or not _timed(times):
        return SeriesIn(name, np.array([values[row] for row in order]), tuple(notes))
    reduced = [_median(night) for night in groups.values()]
    double = len(order) - len(groups)
    return SeriesIn(
        name, np.array(reduced), (*notes, f"{double} values share a time with another; each time counts as its median")
    )


def _timed(times: list[str]) -> bool:
    return all(_moment(time) is not None for time in times)


def _median(night: list[float]) -> float:
    there = [value for value in night if not math.isnan(value)]
    return float(np.median(there)) if there else math.nan
