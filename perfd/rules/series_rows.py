"""The text of a CSV file becomes Series: a header, then one row a night."""

import csv
import io
import math
from collections.abc import Iterator, Sequence

import numpy as np

from perfd.errors import BadInputError
from perfd.rules.series_in import LARGEST, SeriesIn, bounded, named
from perfd.rules.series_times import Nights, nights_of

_FIRST = {"time", "date", "timestamp", "night", "commit"}
_MISSING = {"", "null", "none", "nan", "na", "n/a", "-"}

Row = tuple[int, list[str]]
"""The line that a row begins on, and its cells."""


def from_csv(text: str, place: str) -> list[SeriesIn]:
    """The Series of a CSV file's text; raises BadInputError with the line."""
    found = _rows(text, place)
    line, header = next(found)
    names = _names(header, f"{place}, line {line}")
    rows = list(_as_wide(found, len(header), place))
    if not rows:
        raise BadInputError(f"{place} has a header and no rows")
    nights = nights_of([(line, cells[0]) for line, cells in rows], header[0].lower(), place)
    return [_series(name, _column(rows, column + 1, name, place), nights) for column, name in enumerate(names)]


def _rows(text: str, place: str) -> Iterator[Row]:
    """The rows that hold anything, their cells without the space around them."""
    reader = csv.reader(io.StringIO(text), delimiter=_delimiter(text), strict=True)
    begin = 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield begin, cells
            begin = reader.line_num + 1
    except csv.Error as error:
        most = f"keep a cell below {csv.field_size_limit():,} characters"
        raise BadInputError(f"{place}, line {begin}: cannot be read as CSV ({error}); close every quote, and {most}") from None


def _delimiter(text: str) -> str:
    header = text.lstrip().splitlines()[0]
    return max(",;\t", key=header.count)


def _names(header: list[str], where: str) -> list[str]:
    if len(header) < 2 or header[0].lower() not in _FIRST:
        raise BadInputError(f"{where}: expected a header such as time,value (time first, then a column a series)")
    names = header[1:]
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            raise BadInputError(f"{where}: every column needs a name of its own; {name!r:.60} is not")
        seen.add(named(name, where))
    return names


def _as_wide(rows: Iterator[Row], columns: int, place: str) -> Iterator[Row]:
    """The rows, none wider than the header; the cells that a row lacks are missing."""
    for line, cells in rows:
        if any(cells[columns:]):
            raise BadInputError(
                f"{place}, line {line}: {len(cells)} cells under a header of {columns} columns; name every column, quote a cell "
                "that holds the separator, and write decimals with a point"
            )
        yield line, cells


def _column(rows: Sequence[Row], column: int, name: str, place: str) -> list[float]:
    return [_number(cells[column] if column < len(cells) else "", line, name, place) for line, cells in rows]


def _number(cell: str, line: int, name: str, place: str) -> float:
    if cell.lower() in _MISSING:
        return math.nan
    try:
        number = float(cell)
    except ValueError:
        hint = "write decimals with a point and thousands together" if "," in cell else "a unit belongs in the column's name"
        raise BadInputError(f"{_where(line, name, place)}: expected a number, saw {cell!r:.60}; {hint}") from None
    return number if abs(number) <= LARGEST else bounded(number, _where(line, name, place))


def _where(line: int, name: str, place: str) -> str:
    return f"{place}, line {line}, column {name!r:.60}"


def _series(name: str, values: Sequence[float], nights: Nights) -> SeriesIn:
    """The column by night; of several values of one night their median."""
    return SeriesIn(name, np.array([_median([values[row] for row in rows]) for rows in nights.rows]), nights.notes)


def _median(night: list[float]) -> float:
    if len(night) == 1:
        return night[0]
    there = [value for value in night if not math.isnan(value)]
    return float(np.median(there)) if there else math.nan
