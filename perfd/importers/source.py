"""What is read: the bytes of a file, or of a folder's files; and JSON in it as hostile data whose every mistake has a place."""

import csv
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from perfd.domain.results import FARTHEST, MOST_CHARACTERS, MOST_DEPTH, check_text
from perfd.errors import BadInputError

YEARS = range(2000, 2200)
MOST_OF_A_LINE = 5_000
MOST_LINES = 500_000
HEAD = 100_000
"""Characters in which a text format shows itself."""


@dataclass(frozen=True)
class Source:
    """A file that is imported, or a folder with all that lies in it."""

    name: str
    data: bytes
    inside: Mapping[str, bytes] = field(default_factory=dict)
    """Of a folder: its files by their path in it."""

    @property
    def key(self) -> str:
        """sha256 of what it holds."""
        return sha256(self.data).hexdigest()

    def text(self) -> str:
        """Its text; raises BadInputError where it is not UTF-8."""
        return decoded(self.data)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Its lines with their numbers from 1."""
        return enumerate(lines_of(self.text()), 1)

    def short_lines(self) -> Iterator[tuple[int, str]]:
        """The same for formats whose lines people read; BadInputError for a long one, over which patterns are slow."""
        for number, line in self.lines():
            if len(line) > MOST_OF_A_LINE:
                raise BadInputError(f"line {number}: {len(line):,} characters, and at most {MOST_OF_A_LINE:,} are read")
            yield number, line

    def json(self) -> "Node":
        """Its JSON document."""
        return parse(self.text())


def lines_of(text: str, *, keepends: bool = False) -> list[str]:
    """The lines; raises BadInputError where there are too many."""
    many = text.count("\n")
    if many > MOST_LINES:
        raise BadInputError(f"{many:,} lines, and at most {MOST_LINES:,} are read")
    return text.splitlines(keepends)


def csv_rows(text: str) -> list[list[str]]:
    """The rows of a CSV text; raises BadInputError with the line."""
    reader = csv.reader(lines_of(text.lstrip("\ufeff"), keepends=True))
    try:
        return list(reader)
    except csv.Error as error:
        raise BadInputError(f"line {reader.line_num}: not CSV ({error})") from None


def decoded(data: bytes) -> str:
    """The text; raises BadInputError where it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(f"is not UTF-8 at byte {error.start}") from None


def parse(text: str, *, nan: bool = False, line: int = 1, root: str = "$") -> "Node":
    """The document in `text`, which begins on that line; raises BadInputError. `nan` reads NaN, which JSON has not, as null."""
    check_text(text)
    try:
        value = json.loads(text, parse_constant=(lambda _: None) if nan else _refuse)
    except json.JSONDecodeError as error:
        raise BadInputError(f"line {line + error.lineno - 1}: not JSON ({error.msg})") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits
        raise BadInputError(f"line {line}: a number in the document is too long") from None
    except RecursionError:
        raise BadInputError(f"line {line}: the document is nested too deeply") from None
    _check_depth(value)
    return Node(value, root)


def _refuse(name: str) -> float:
    raise BadInputError(f"{name} is not a number in JSON")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            item for one in level for item in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
        ]
        if not level:
            return
    raise BadInputError(f"the document is nested more than {MOST_DEPTH} levels deep")


@dataclass(frozen=True)
class Node:
    """A value in a document, and where it stands there."""

    value: Any
    path: str

    def refuse(self, expected: str) -> BadInputError:
        """What to raise where the value is not what was expected."""
        shown = repr(self.value)
        return BadInputError(f"{self.path}: expected {expected}, saw {shown if len(shown) <= 60 else shown[:57] + '...'}")

    def __getitem__(self, name: str) -> "Node":
        """The field of an object, or null where it is absent."""
        if not isinstance(self.value, dict):
            raise self.refuse("an object")
        return Node(self.value.get(name), f"{self.path}.{name[:60]}")

    def __bool__(self) -> bool:
        """Whether it is there."""
        return self.value is not None

    def items(self) -> Iterator[tuple[str, "Node"]]:
        """The fields of an object."""
        if not isinstance(self.value, dict):
            raise self.refuse("an object")
        for name in self.value:
            yield name, self[name]

    def each(self) -> Iterator["Node"]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.refuse("a list")
        for place, value in enumerate(self.value):
            yield Node(value, f"{self.path}[{place}]")

    def number(self) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.refuse("a number")
        try:
            found = float(self.value)
        except OverflowError:
            found = math.inf
        if not abs(found) <= FARTHEST:
            raise self.refuse(f"a finite number up to {FARTHEST:g}")
        return found

    def maybe_number(self) -> float | None:
        """A finite number; absent where the field is."""
        return self.number() if self else None

    def count(self) -> int:
        """A whole number, 1 where the field is absent."""
        found = self.number() if self else 1.0
        if found != int(found) or not 0 <= found < 2**31:
            raise self.refuse("a count")
        return max(1, int(found))

    def numbers(self) -> tuple[float, ...]:
        """A list of finite numbers."""
        return tuple(one.number() for one in self.each())

    def text(self) -> str:
        """A text, "" where the field is absent."""
        if self and not isinstance(self.value, str):
            raise self.refuse("a text")
        found: str = self.value or ""
        if len(found) > MOST_CHARACTERS:
            raise BadInputError(f"{self.path}: a text of {len(found):,} characters, and at most {MOST_CHARACTERS:,} are read")
        return found

    def word(self) -> str:
        """A text or a number as text, "" where the field is absent."""
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            return f"{self.number():.12g}"
        return self.text()

    def name(self) -> str:
        """A text that is not empty."""
        found = self.text().strip()
        if not found:
            raise self.refuse("a name")
        return found

    def moment(self) -> datetime | None:
        """A time in ISO 8601, or since 1970 in seconds or milliseconds; absent where the field is."""
        if not self:
            return None
        try:
            if isinstance(self.value, str):
                found = datetime.fromisoformat(self.value)
                moment = found if found.tzinfo else found.replace(tzinfo=UTC)
            else:
                seconds = self.number()
                moment = datetime.fromtimestamp(seconds / 1e3 if abs(seconds) > 1e11 else seconds, UTC)
        except (ValueError, OverflowError, OSError):
            raise self.refuse("a time") from None
        if moment.year not in YEARS:
            raise self.refuse(f"a time from {YEARS[0]} on")
        return moment
