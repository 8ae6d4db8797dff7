"""Prometheus text as servers write it, read as hostile data: a line that cannot be read is left out, never taken as zero."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

_LINE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?\s*$")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"')
MOST_LINES = 200_000


@dataclass(frozen=True)
class Scrape:
    """One answer of a server's metrics endpoint."""

    values: Mapping[str, tuple[float, ...]]
    """Every series of a name."""
    labels: Mapping[str, Mapping[str, str]]
    """Labels of the first series of a name."""

    def total(self, *names: str) -> float | None:
        """The sum over all series of the first of these names that is there; absent where none is."""
        for name in names:
            if name in self.values:
                return math.fsum(self.values[name])
        return None

    def highest(self, *names: str) -> float | None:
        """For shares and sizes, which must not be added over the engines of one server."""
        return next((max(self.values[name]) for name in names if name in self.values), None)


def parse(text: str) -> Scrape:
    """Every finite number of the text by its name."""
    values: dict[str, list[float]] = defaultdict(list)
    labels: dict[str, dict[str, str]] = {}
    for line in text.splitlines()[:MOST_LINES]:
        found = _LINE.match(line)
        if found is None:
            continue
        value = _finite(found[3])
        if value is not None:
            values[found[1]].append(value)
            labels.setdefault(found[1], dict(_LABEL.findall(found[2] or "")))
    return Scrape({name: tuple(series) for name, series in values.items()}, labels)


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
