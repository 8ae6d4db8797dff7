"""What the tables of the pages hold, as rows of a dataclass each: the API answers with them, and files are written from them."""

import types
import typing
from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from perfd.domain.table import Kind, Table, table

KINDS = {str: Kind.TEXT, int: Kind.WHOLE, float: Kind.NUMBER, datetime: Kind.TIME}


def sheet(name: str, kind: type, rows: Iterable[Any]) -> Table:
    """The rows, which are of that dataclass, as a table with a column a field."""
    hints = typing.get_type_hints(kind)
    columns = {field.name: _kind(hints[field.name]) for field in fields(kind)}
    return table(name, columns, ([_cell(getattr(row, column)) for column in columns] for row in rows))


def _kind(hint: Any) -> Kind:
    (plain,) = (one for one in _parts(hint) if one is not type(None))
    return Kind.TEXT if issubclass(plain, StrEnum) else KINDS[plain]


def _parts(hint: Any) -> Iterator[Any]:
    yield from typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)


def _cell(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value
