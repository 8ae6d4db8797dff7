"""A table that leaves perfd: named columns of one kind each, as CSV or JSON; perfd/parquet.py writes the same as Parquet."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


class Kind(StrEnum):
    """What a column holds; any cell may be empty."""

    TEXT = "text"
    NUMBER = "number"
    WHOLE = "whole"
    TIME = "time"


@dataclass(frozen=True)
class Table:
    """Columns in order, and rows that have a cell for each."""

    name: str
    columns: Mapping[str, Kind]
    rows: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of the table {self.name} has another number of cells than it has columns")

    def csv(self) -> str:
        """The table with a header line; text that a spreadsheet would run as a formula begins with an apostrophe."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow(self.columns)
        kinds = tuple(self.columns.values())
        writer.writerows([_cell(kind, value) for kind, value in zip(kinds, row, strict=True)] for row in self.rows)
        return out.getvalue()

    def json(self) -> str:
        """The table as one document: its columns with their kinds, and its rows as objects."""
        names = tuple(self.columns)
        rows = [dict(zip(names, map(_plain, row), strict=True)) for row in self.rows]
        return json.dumps({"table": self.name, "columns": dict(self.columns), "rows": rows}, ensure_ascii=False)


def table(name: str, columns: Mapping[str, Kind], rows: Iterable[Sequence[Any]]) -> Table:
    """The table, its rows read now."""
    return Table(name, columns, [tuple(row) for row in rows])


def _cell(kind: Kind, value: Any) -> Any:
    plain = _plain(value)
    if kind is Kind.TEXT and isinstance(plain, str) and plain.lstrip(" ").startswith(FORMULA):
        return f"'{plain}"
    return "" if plain is None else repr(plain) if isinstance(plain, float) else plain


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
