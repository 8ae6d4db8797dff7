"""The text of a CSV or JSON file becomes Series, for `perfd detect`.

Treatments that are no errors are told in `notes`: missing nights (empty, null, NaN) stay as NaN; nights that are out of order are
sorted by their time; several values of one night become their median; infinities are refused with their place.
"""

import csv
import io
import json
import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from perfd.domain.identity import Json
from perfd.errors import BadInputError

Floats = NDArray[np.float64]

MOST_VALUES = 2_000_000
LARGEST = 1e100
"""Beyond it, squares overflow."""
_SHAPE = '{"series": {NAME: [numbers or null, …]}}'
_MISSING = {"", "null", "none", "nan", "na", "n/a", "-"}


@dataclass(frozen=True)
class SeriesIn:
    """One Series of a file: its values, oldest first, NaN where a night is missing, and what was done to them."""

    name: str
    values: Floats
    notes: tuple[str, ...] = ()


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


def _from_json(text: str, place: str) -> list[SeriesIn]:
    try:
        document = json.loads(text, object_pairs_hook=lambda pairs: _once(pairs, place))
    except json.JSONDecodeError as error:
        raise BadInputError(f"{place}, line {error.lineno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise BadInputError(f"{place}: lists in lists without end; expected {_SHAPE}") from None
    found = document.get("series") if isinstance(document, dict) else None
    if not isinstance(found, dict) or not found:
        raise BadInputError(f"{place}: expected {_SHAPE} with at least one series")
    return [_json_series(str(name), items, place) for name, items in found.items()]


def _once(pairs: list[tuple[str, Json]], place: str) -> dict[str, Json]:
    """The object; of two series with one name JSON would silently keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise BadInputError(f"{place}: the name {double!r} stands there twice; every series needs a name of its own")
    return found


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
    return _bounded(number, where)


def _bounded(number: float, where: str) -> float:
    if math.isinf(number):
        raise BadInputError(f"{where}: infinite; write null (JSON) or nothing (CSV) for a night without a value")
    if abs(number) > LARGEST:
        raise BadInputError(f"{where}: {number:g} is beyond {LARGEST:g}; give the values in a larger unit")
    return number


def _from_csv(text: str, place: str) -> list[SeriesIn]:
    delimiter = _delimiter(text)
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(cell.strip() for cell in row)]
    header = [cell.strip() for cell in rows[0]]
    names = _csv_names(header, place)
    long = next((line for line, row in enumerate(rows, start=1) if any(cell.strip() for cell in row[len(header) :])), None)
    if long is not None:
        raise BadInputError(
            f"{place}, line {long}: {len(rows[long - 1])} cells under a header of {len(header)} columns; name every column, "
            "and quote numbers that hold the separator"
        )
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
        return _bounded(float(cell), where)
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
