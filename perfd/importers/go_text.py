"""Go benchmark text (`go test -bench`, golang.org/design/14313-benchmark-format): repeated lines are raw values."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from perfd.domain.arrival import Arrival
from perfd.errors import BadInputError
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, Measured, once
from perfd.importers.source import HEAD, Node, Source
from perfd.importers.units import quantity

NAME = "go"
SETTING = re.compile(r"(?P<key>[a-z][^\s:A-Z]*):[ \t]*(?P<value>.*)")
LINE = re.compile(r"(?P<name>Benchmark\S*)\s+(?P<n>[0-9]+)\s+(?P<rest>.*\S)\s*")
SPLIT = re.compile(r"(?P<name>.*?)-(?P<procs>[0-9]+)")


def sniff(text: str) -> bool:
    """Whether it looks so."""
    return (
        re.search(r"^Benchmark\S{1,500}[ \t]{1,200}[0-9]{1,20}[ \t]{1,200}[0-9.e+]{1,40} \S", text[:HEAD], re.MULTILINE)
        is not None
    )


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """Every benchmark of the text, by package."""
    settings: dict[str, str] = {}
    runs: dict[tuple[str, str], list[Measured]] = {}
    for number, line in source.short_lines():
        found, setting = LINE.fullmatch(line), SETTING.fullmatch(line)
        if found is not None:
            runs.setdefault((settings.get("pkg", ""), found["name"]), []).extend(_values(number, found["rest"]))
        elif setting is not None:
            settings[setting["key"]] = setting["value"].strip()
        elif line.startswith("Benchmark") and len(line.split()) > 1 and not line.rstrip().endswith("--- FAIL"):
            raise BadInputError(f"line {number}: expected NAME ITERATIONS VALUE UNIT …, saw {line[:60]!r}")
    subject = given.named(settings.get("suite", "") or settings.get("pkg", ""))
    maker = Maker(NAME, given, subject, _machine(settings), source.key)
    commit = _commit(settings)
    return once(_arrival(maker, commit, settings, key, values) for key, values in runs.items())


def _values(number: int, rest: str) -> list[Measured]:
    words = rest.split()
    if len(words) % 2:
        raise BadInputError(f"line {number}: expected pairs of VALUE UNIT, saw {rest[:60]!r}")
    return [Measured(quantity(unit), (_number(number, value),)) for value, unit in zip(words[::2], words[1::2], strict=True)]


def _number(number: int, text: str) -> float:
    try:
        return Node(float(text), f"line {number}").number()
    except ValueError:
        raise BadInputError(f"line {number}: expected a number, saw {text[:40]!r}") from None


def _machine(settings: Mapping[str, str]) -> Machine:
    kind = settings.get("cpu", "") or settings.get("builder_type", "")
    return Machine(
        host=settings.get("builder_id", ""),
        device_class=f"cpu:{kind}" if kind else "",
        hardware={"cpu": kind, "arch": settings.get("goarch", "")},
        software={"os": settings.get("goos", ""), "go": settings.get("go", "")},
    )


def _commit(settings: Mapping[str, str]) -> Commit:
    """The commit as the text's settings name it; Go's own dashboard runs two toolchains and names them by side."""
    base = settings.get("toolchain") == "Base"
    revision = settings.get("commit") or settings.get("denominator_hash" if base else "numerator_hash", "")
    branch = settings.get("branch") or settings.get("denominator_branch" if base else "numerator_branch", "")
    stamp = "" if base else settings.get("numerator_stamp", "")
    return Commit(
        revision, _moment(settings.get("runstamp", "")), _moment(settings.get("commit-time", "") or stamp), branch=branch
    )


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)


def _arrival(maker: Maker, commit: Commit, settings: Mapping[str, str], key: tuple[str, str], values: list[Measured]) -> Arrival:
    package, whole = key
    split = SPLIT.fullmatch(whole)
    name, parameters = (split["name"], {"gomaxprocs": int(split["procs"])}) if split and len(split["procs"]) < 7 else (whole, {})
    label = f"{package}.{name}" if package and package != maker.subject else name
    return maker.arrival(commit, label, values, parameters=parameters, extra={"settings": dict(settings)})
