"""Reading a table of TOML key by key: every mistake is written down with its line, and reading goes on."""

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from perfd.config.lines import Place

_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "a whole number": (int,),
    "a number": (int, float),
    "true or false": (bool,),
    "a list": (list,),
    "a table": (dict,),
    "a time": (datetime, str),
}


@dataclass
class Mistakes:
    """What is wrong with one file, each with its line; nothing is raised before all of it is known."""

    file: str
    lines: Mapping[Place, int]
    told: list[tuple[int, str]] = field(default_factory=list)

    def add(self, place: Place, sentence: str) -> None:
        """`sentence` is told with the line of `place`, or of the nearest thing around it."""
        while place and place not in self.lines:
            place = place[:-1]
        self.told.append((self.lines.get(place, 1), sentence))

    def __str__(self) -> str:
        """One mistake a line, in the order of the file."""
        return "\n".join(f"{self.file}:{line}: {sentence}" for line, sentence in sorted(self.told))


def meant(name: str, choices: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: what was meant where something like it exists, else the choices."""
    known = sorted(choices)
    close = [one for one in known if name and one.startswith(name)] or difflib.get_close_matches(name, known, n=1)
    if close:
        return f'; did you mean "{close[0]}"?'
    return f"; there is {', '.join(known)}" if known else "; there is none"


class Table:
    """One table of the file. Reading a key marks it as known; `close` tells the ones that nobody asked for."""

    def __init__(self, mistakes: Mistakes, place: Place, values: Mapping[str, Any], *, there: bool = True) -> None:
        self.mistakes = mistakes
        self.place = place
        self.values = values
        self.there = there
        """False for a table that is missing or no table, which was told already: its keys are not missed one by one."""
        self._known: set[str] = set()

    def wrong(self, key: str, sentence: str) -> None:
        """Tell a mistake at `key`."""
        self.mistakes.add((*self.place, key), sentence)

    def text(self, key: str, default: str | None = None) -> str:
        """Text; without a default the key must be there and say something."""
        value = self._read(key, "text", default, "")
        if default is None and value == "" and key in self.values and isinstance(self.values[key], str):
            self.wrong(key, f"{self.name_of(key)} is empty")
        return str(value)

    def choice(self, key: str, choices: Iterable[str], default: str | None = None) -> str:
        """One of a few words."""
        value = self.text(key, default)
        if value and value not in set(choices):
            self.wrong(key, f'{self.name_of(key)} cannot be "{value}"{meant(value, choices)}')
        return value

    def whole(self, key: str, default: int, least: int) -> int:
        """A whole number of at least `least`."""
        value = int(self._read(key, "a whole number", default, default))
        return value if self._at_least(key, value, least) else default

    def number(self, key: str, default: float, least: float) -> float:
        """A number of at least `least`."""
        value = float(self._read(key, "a number", default, default))
        return value if self._at_least(key, value, least) else default

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        return bool(self._read(key, "true or false", default, default))

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of texts; without a default it must be there and hold one or more."""
        value = self._read(key, "a list", default, ())
        for index, item in enumerate(value):
            if not isinstance(item, str):
                self.mistakes.add((*self.place, key, index), f"{self.name_of(key)}[{index}] must be text, not {_shown(item)}")
        if default is None and isinstance(self.values.get(key), list) and not value:
            self.wrong(key, f"{self.name_of(key)} is empty; name at least one")
        return tuple(item for item in value if isinstance(item, str))

    def wholes(self, key: str, default: tuple[int, ...]) -> tuple[int, ...] | None:
        """A list of whole numbers; absent where some are none, which is told."""
        value = self._read(key, "a list", default, ())
        if all(isinstance(item, int) and not isinstance(item, bool) for item in value):
            return tuple(value)
        self.wrong(key, f"{self.name_of(key)} must hold whole numbers, not {_shown(value)}")
        return None

    def moment(self, key: str) -> datetime | None:
        """A time in TOML's own form, or as text in ISO 8601; absent where it is none, which is told."""
        value = self._read(key, "a time", None, None)
        if value is None or isinstance(value, datetime):
            return value
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            self.wrong(key, f"{self.name_of(key)} must be a time such as 2026-12-01T09:00:00Z, not {_shown(value)}")
            return None

    def mapping(self, key: str) -> dict[str, str]:
        """A table of texts; numbers and flags are taken as text, since they end in an environment or an option."""
        table = self.table(key, needed=False)
        made: dict[str, str] = {}
        for name, value in table.values.items():
            if isinstance(value, str | int | float):
                made[name] = str(value).lower() if isinstance(value, bool) else str(value)
            else:
                table.wrong(name, f"{table.name_of(name)} must be text, not {_shown(value)}")
        return made

    def table(self, key: str, *, needed: bool) -> "Table":
        """The table at `key`; an empty one where it is absent."""
        value = self._read(key, "a table", None if needed else {}, None)
        return Table(self.mistakes, (*self.place, key), value or {}, there=value is not None)

    def tables(self, key: str) -> tuple["Table", ...]:
        """The array of tables at `key`: `[[key]]` in the file."""
        self._known.add(key)
        values = self.values.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            self.wrong(key, f"{self.name_of(key)} must be tables, each under a line [[{key}]]")
            return ()
        return tuple(Table(self.mistakes, (*self.place, key, index), value) for index, value in enumerate(values))

    def close(self) -> None:
        """Every key that nothing has read is unknown, and told."""
        for key in self.values:
            if key not in self._known:
                self.wrong(key, f'unknown key "{key}" in {self._title()}{meant(key, self._known)}')

    def _read(self, key: str, kind: str, default: Any, fallback: Any) -> Any:
        self._known.add(key)
        if key not in self.values:
            if default is None and self.there:
                self.wrong(key, f'{self._title()} needs "{key}" ({kind})')
            return fallback if default is None else default
        value = self.values[key]
        if not isinstance(value, _KINDS[kind]) or (isinstance(value, bool) and kind != "true or false"):
            self.wrong(key, f"{self.name_of(key)} must be {kind}, not {_shown(value)}")
            return fallback
        return value

    def _at_least(self, key: str, value: float, least: float) -> bool:
        # A NaN is not below anything, so the question is asked the other way round.
        enough = value >= least and value != math.inf
        if not enough:
            self.wrong(key, f"{self.name_of(key)} must be at least {least:g} and finite, not {value}")
        return enough

    def _title(self) -> str:
        path = ".".join(str(part) for part in self.place if not isinstance(part, int))
        label = self.values.get("name")
        named = f' "{label}"' if isinstance(label, str) else ""
        return f"[{path}]{named}" if path else "the file"

    def name_of(self, key: str) -> str:
        """What a sentence calls the key: engines.launch.command."""
        return ".".join([*(str(part) for part in self.place if not isinstance(part, int)), key])


def _shown(value: Any) -> str:
    told = {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None
    text = told or (f'"{value}"' if isinstance(value, str) else str(value))
    return text if len(text) <= 60 else text[:57] + "..."
