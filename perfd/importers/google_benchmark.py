"""google-benchmark's JSON, and its table: repetitions are raw values, aggregates are left out where these are there."""

import re
from datetime import datetime

from perfd.domain.arrival import Arrival
from perfd.domain.metric import Better
from perfd.errors import BadInputError
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, Measured, once
from perfd.importers.source import HEAD, Node, Source
from perfd.importers.units import Quantity, quantity

NAME = "google-benchmark"
AGGREGATES = ("mean", "median", "stddev", "cv", "BigO", "RMS", "min", "max")
ROW = re.compile(
    r"(?P<name>\S.*?)\s+(?P<real>[0-9.e+]+) (?P<unit>ns|us|ms|s)\s+(?P<cpu>[0-9.e+]+) (?:ns|us|ms|s)\s+[0-9]+(?:\s.*)?"
)
RATES = {
    "bytes_per_second": Quantity("bytes_per_s", "bytes/s", Better.HIGHER),
    "items_per_second": Quantity("items_per_s", "items/s", Better.HIGHER),
}


def sniff(text: str) -> bool:
    """Whether it looks so."""
    return ('"benchmarks"' in text and '"time_unit"' in text) or re.search(
        r"^Benchmark +Time +CPU +Iterations", text[:HEAD], re.MULTILINE
    ) is not None


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """Every benchmark of the file."""
    if not source.text().lstrip().startswith("{"):
        return _table(source, given)
    document = source.json()
    context = document["context"]
    commit = Commit("", _moment(context))
    runs: dict[str, list[Node]] = {}
    for one in document["benchmarks"].each():
        runs.setdefault(one["run_name"].text() or one["name"].name(), []).append(one)
    maker = Maker(NAME, given, given.named(""), _machine(context), source.key)
    return once(_arrival(maker, commit, name, rows) for name, rows in runs.items())


def _moment(context: Node) -> datetime | None:
    return None if not context else context["date"].moment()


def _machine(context: Node) -> Machine:
    if not context:
        return Machine()
    cpus, mhz = context["num_cpus"].word(), context["mhz_per_cpu"].word()
    caches = context["caches"]
    sizes = (
        {f"l{one['level'].word()}_{one['type'].text().lower()}": one["size"].word() for one in caches.each()} if caches else {}
    )
    return Machine(
        host=context["host_name"].text(),
        device_class=f"cpu:{cpus}x{mhz}MHz" if cpus else "",
        hardware={"cores": cpus, "mhz": mhz, **sizes},
        software={"library": context["library_version"].text(), "build": context["library_build_type"].text()},
    )


def _arrival(maker: Maker, commit: Commit, name: str, rows: list[Node]) -> Arrival:
    raw = [one for one in rows if one["run_type"].text() != "aggregate"]
    failed = next(
        (one["error_message"].text() or "the benchmark failed" for one in rows if one["error_occurred"].value is True), ""
    )
    used = raw or [one for one in rows if one["aggregate_name"].text() == "median"]
    if not used and not failed:
        raise BadInputError(f"{rows[0].path}: only aggregates without a median of {name[:60]!r}")
    n = 0 if raw else (used[0]["repetitions"].count() if used else 0)
    measured = [] if failed else [part for one in used for part in _measured(one, n)]
    return maker.arrival(commit, name, measured, parameters=_parameters(rows[0]), failure=failed, extra=_counters(rows[0]))


def _measured(one: Node, n: int) -> list[Measured]:
    unit = one["time_unit"].text() or "ns"
    wall, cpu = quantity(unit), quantity(f"cpu-{unit}")
    if wall.unit != "s":
        raise one["time_unit"].refuse("ns, us, ms or s")
    found = [Measured(wall, (one["real_time"].number(),), n=n)]
    if one["cpu_time"]:
        found.append(Measured(cpu, (one["cpu_time"].number(),), n=n))
    return found + [Measured(kind, (one[key].number(),), n=n) for key, kind in RATES.items() if one[key]]


def _parameters(one: Node) -> dict[str, object]:
    return {"threads": one["threads"].count()} if one["threads"] and one["threads"].count() > 1 else {}


KNOWN = {
    "name",
    "run_name",
    "run_type",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
}


def _counters(one: Node) -> dict[str, object]:
    """Counters of the benchmark's own: nobody says which way is better, so they are kept for a reader."""
    return {"counters": {key: value.value for key, value in one.items() if key not in KNOWN and key not in RATES}}


def _table(source: Source, given: Given) -> tuple[Arrival, ...]:
    runs: dict[str, list[Measured]] = {}
    begun = False
    for number, line in source.short_lines():
        if re.match(r"Benchmark +Time +CPU +Iterations", line):
            begun = True
        elif begun and line.strip() and not line.startswith("-"):
            row = ROW.fullmatch(line.strip())
            if row is None:
                raise BadInputError(f"line {number}: expected NAME TIME UNIT CPU UNIT ITERATIONS, saw {line.strip()[:60]!r}")
            if row["name"].rpartition("_")[2] not in AGGREGATES:
                values = [Measured(quantity(row["unit"]), (_number(number, row["real"]),))]
                values.append(Measured(quantity(f"cpu-{row['unit']}"), (_number(number, row["cpu"]),)))
                runs.setdefault(row["name"], []).extend(values)
    maker = Maker(NAME, given, given.named(""), Machine(), source.key)
    return once(maker.arrival(Commit("", None), name, values) for name, values in runs.items())


def _number(line: int, text: str) -> float:
    try:
        return Node(float(text), f"line {line}").number()
    except ValueError:
        raise BadInputError(f"line {line}: expected a time, saw {text!r}") from None
