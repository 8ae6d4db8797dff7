"""Where each key and table of a TOML document stands. The standard library's tomllib reads TOML but tells no lines.

The scanner trusts that tomllib has accepted the document, so it only needs to know where things begin and end.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Place: TypeAlias = tuple[str | int, ...]
"""Keys and positions from the root: ("engines", 0, "launch", "command")."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_TEXT = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''',
    re.DOTALL,
)
_BARE = re.compile(r"[^,\]}#\n]+")


def lines_of(text: str) -> Mapping[Place, int]:
    """The line, counted from 1, of every key, table and list item of a valid TOML document."""
    return _Scanner(text).scan()


@dataclass
class _Scanner:
    text: str
    at: int = 0
    found: dict[Place, int] = field(default_factory=dict)
    items: dict[Place, int] = field(default_factory=dict)
    """How many tables each array of tables has so far."""

    def __post_init__(self) -> None:
        self.starts = [0] + [match.end() for match in re.finditer("\n", self.text)]

    def scan(self) -> dict[Place, int]:
        table: Place = ()
        self._skip()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip()
        return self.found

    def _line(self) -> int:
        return bisect_right(self.starts, self.at)

    def _skip(self, pattern: re.Pattern[str] = _BLANK) -> str:
        """The text that `pattern` matches here; the scanner stands behind it."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match.group()

    def _keys(self) -> list[str]:
        keys = [_plain(self._skip(_KEY))]
        while self._skip(_DOT):
            keys.append(_plain(self._skip(_KEY)))
        return keys

    def _header(self) -> Place:
        line = self._line()
        double = self.text.startswith("[[", self.at)
        self.at += 2 if double else 1
        self._skip()
        place: Place = ()
        keys = self._keys()
        for key in keys[:-1]:
            place = self._newest((*place, key), line)
        place = (*place, keys[-1])
        if double:
            self.found.setdefault(place, line)
            self.items[place] = self.items.get(place, -1) + 1
            place = (*place, self.items[place])
        self.found.setdefault(place, line)
        self._skip()
        self.at += 2 if double else 1
        return place

    def _newest(self, place: Place, line: int) -> Place:
        """The table that a header's prefix means: the last one where it names an array of tables."""
        self.found.setdefault(place, line)
        return (*place, self.items[place]) if place in self.items else place

    def _pair(self, table: Place) -> None:
        line = self._line()
        place = table
        for key in self._keys():
            place = (*place, key)
            self.found.setdefault(place, line)
        self._skip()
        self.at += 1  # the equals sign
        self._skip()
        self._value(place)

    def _value(self, place: Place) -> None:
        opening = self.text[self.at]
        if opening == "[":
            self._list(place)
        elif opening == "{":
            self._inline(place)
        elif not self._skip(_TEXT):
            self._skip(_BARE)

    def _list(self, place: Place) -> None:
        self.at += 1
        index = 0
        self._skip()
        while self.text[self.at] != "]":
            self.found[(*place, index)] = self._line()
            self._value((*place, index))
            index += 1
            self._comma()
        self.at += 1

    def _inline(self, place: Place) -> None:
        self.at += 1
        self._skip()
        while self.text[self.at] != "}":
            self._pair(place)
            self._comma()
        self.at += 1

    def _comma(self) -> None:
        self._skip()
        if self.text[self.at] == ",":
            self.at += 1
            self._skip()


def _plain(key: str) -> str:
    """A key without its quotes; tomllib knows the escapes."""
    if key[:1] not in {'"', "'"}:
        return key
    document: dict[str, Any] = tomllib.loads(f"{key} = 0")
    return next(iter(document))
