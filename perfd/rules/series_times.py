"""Which rows of a CSV file are one night, and how nights follow each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from perfd.errors import BadInputError

Moment = int | float | datetime
"""A count of nights or seconds, whatever the file counts, or a moment with its zone."""


@dataclass(frozen=True)
class Nights:
    """The rows of each night, oldest night first, and what was done to bring them there."""

    rows: tuple[tuple[int, ...], ...]
    notes: tuple[str, ...] = ()


def nights_of(times: Sequence[tuple[int, str]], header: str, place: str) -> Nights:
    """The nights of rows whose first cells are given with their lines.

    A commit is no time: its rows stand in the order of the file, and two rows of one commit are two nights of it. So do rows of
    which no cell is a time that can be read, and this is told. Raises BadInputError where only some are, and where numbers and
    dates mix.
    """
    as_they_are = tuple((row,) for row in range(len(times)))
    if header == "commit":
        return Nights(as_they_are)
    read = [_moment(cell) for _, cell in times]
    known = [moment for moment in read if moment is not None]
    if not known:
        told = f"no {header} is a number or an ISO date such as 2026-01-31, so the rows are taken in the order of the file"
        return Nights(as_they_are, (told,))
    _check(times, read, known[0], place)
    return _in_order(known, _zones(times, known))


def _moment(cell: str) -> Moment | None:
    """The moment that a cell names; dates without a zone are in UTC, so that no machine's own zone changes an answer."""
    for read in (int, float, datetime.fromisoformat):
        try:
            found: Moment = read(cell)
        except ValueError:
            continue
        if isinstance(found, datetime):
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        return found if math.isfinite(found) else None
    return None


def _check(times: Sequence[tuple[int, str]], read: Sequence[Moment | None], first: Moment, place: str) -> None:
    dates = isinstance(first, datetime)
    for (line, cell), moment in zip(times, read, strict=True):
        if moment is None:
            raise BadInputError(f"{place}, line {line}: {cell!r:.40} is no time, though other rows have one")
        if isinstance(moment, datetime) is not dates:
            other = "dates" if dates else "numbers"
            raise BadInputError(f"{place}, line {line}: {cell!r:.40} stands among {other}; write all times alike")


def _zones(times: Sequence[tuple[int, str]], known: Sequence[Moment]) -> tuple[str, ...]:
    """Says so where only some times name their zone."""
    if not isinstance(known[0], datetime):
        return ()
    bare = sum(1 for _, cell in times if datetime.fromisoformat(cell).tzinfo is None)
    return (f"{bare} of {len(times)} times name no zone and are read as UTC",) if 0 < bare < len(times) else ()


def _in_order(known: Sequence[Moment], notes: tuple[str, ...]) -> Nights:
    order = sorted(range(len(known)), key=known.__getitem__)  # all numbers or all dates, says _check
    nights: dict[Moment, list[int]] = {}
    for row in order:
        nights.setdefault(known[row], []).append(row)
    if order != list(range(len(known))):
        notes = (*notes, "rows were not in order of time and were sorted")
    double = len(known) - len(nights)
    if double:
        notes = (*notes, f"{double} values share a time with another; each time counts as its median")
    return Nights(tuple(map(tuple, nights.values())), notes)
