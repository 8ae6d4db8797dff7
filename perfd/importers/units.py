"""Units of other tools in perfd's base units: seconds, bytes, and things per second."""

import re
from dataclasses import dataclass

from perfd.domain.metric import Better
from perfd.domain.results import MOST_NAME_CHARACTERS
from perfd.errors import BadInputError

TIMES = {
    "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0,
    "second": 1.0, "seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9, "min": 60.0,
}  # fmt: skip
SIZES = {
    "b": 1.0, "bytes": 1.0, "byte": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2.0**10, "mib": 2.0**20,
    "gib": 2.0**30,
}  # fmt: skip
ONE = r"(?:/(?:op|ops|iter|iteration))?"
RATE = re.compile(r"(?P<what>[^/]+)/(?:s|sec|second)$")
PREFIXED = re.compile(r"(?:(?P<name>.+)-)?(?P<unit>[^-/]+)" + ONE + "$")
TOKENS = {"t", "tok", "token", "tokens"}
REQUESTS = {"req", "request", "requests"}
OPERATIONS = {"iter", "ops", "op", "iterations"}


@dataclass(frozen=True)
class Quantity:
    """What a number of another tool is here: multiply it by `factor`."""

    metric: str
    unit: str
    better: Better
    factor: float = 1.0


def quantity(unit: str, better: Better | None = None) -> Quantity:
    """The quantity of a unit; an unknown one is kept as it is, and lower is better unless `better` says otherwise."""
    if len(unit) > MOST_NAME_CHARACTERS:
        raise BadInputError(f"a unit of {len(unit):,} characters, and at most {MOST_NAME_CHARACTERS} are stored")
    rate = RATE.fullmatch(unit.strip())
    if rate is not None:
        return _rate(rate["what"].strip(), unit.strip(), better or Better.HIGHER)
    split = PREFIXED.fullmatch(unit.strip())
    if split is not None:
        word, name = split["unit"], f"{slug(split['name'])}_" if split["name"] else ""
        way = better or Better.LOWER
        if word.lower() in TIMES and way is Better.LOWER:
            return Quantity(f"{name}time_s", "s", way, TIMES[word.lower()])
        if word.lower() in SIZES and way is Better.LOWER:
            return Quantity(f"{name}bytes" if name else "size_bytes", "bytes", way, SIZES[word.lower()])
    return _other(unit.strip(), better or Better.LOWER)


def _rate(what: str, unit: str, better: Better) -> Quantity:
    if better is Better.LOWER:
        return _other(unit, better)
    if what.lower() in SIZES:
        return Quantity("bytes_per_s", "bytes/s", better, SIZES[what.lower()])
    for words, metric, base in (
        (TOKENS, "tokens_per_s", "tokens/s"),
        (REQUESTS, "requests_per_s", "requests/s"),
        (OPERATIONS, "operations_per_s", "operations/s"),
    ):
        if what.lower() in words:
            return Quantity(metric, base, better)
    return _other(unit, better)


def _other(unit: str, better: Better) -> Quantity:
    """The way that is better stands in the name, because a Metric has only one."""
    return Quantity(f"{slug(unit) or 'value'}_{better.value}_is_better", unit, better)


def slug(text: str) -> str:
    """The text as part of a Metric's name."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower().replace("%", " percent ")).strip("_")[:100]
