"""pytest-benchmark's JSON: raw rounds where --benchmark-save-data kept them, or their median with its interval."""

import math

from perfd.domain.arrival import Arrival
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, Measured, once
from perfd.importers.source import Node, Source
from perfd.importers.units import quantity

NAME = "pytest-benchmark"


def sniff(text: str) -> bool:
    """Whether it looks so."""
    return '"machine_info"' in text and '"benchmarks"' in text


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """Every benchmark of the file."""
    document = source.json()
    commit = document["commit_info"]
    known = Commit(
        commit["id"].text() if commit else "",
        document["datetime"].moment(),
        (commit["time"].moment() or commit["author_time"].moment()) if commit else None,
        branch=commit["branch"].text() if commit else "",
    )
    subject = given.named(commit["project"].text() if commit else "")
    maker = Maker(NAME, given, subject, _machine(document["machine_info"]), source.key)
    return once(_arrival(maker, known, one) for one in document["benchmarks"].each())


def _machine(told: Node) -> Machine:
    cpu = told["cpu"]
    brand = (cpu["brand_raw"].text() or cpu["brand"].text()) if isinstance(cpu.value, dict) else cpu.text()
    return Machine(
        host=told["node"].text(),
        device_class=f"cpu:{brand}" if brand else "",
        hardware={"cpu": brand, "arch": told["machine"].text()},
        software={
            "system": f"{told['system'].text()} {told['release'].text()}".strip(),
            "python": f"{told['python_implementation'].text()} {told['python_version'].text()}".strip(),
        },
    )


def _arrival(maker: Maker, commit: Commit, told: Node) -> Arrival:
    name = told["fullname"].text() or told["name"].name()
    parameters = {key: one.value for key, one in told["params"].items()} if told["params"] else {}
    extra = {"stats": {key: one.value for key, one in told["stats"].items() if key != "data"}, "group": told["group"].text()}
    return maker.arrival(commit, name, [_measured(told["stats"])], parameters=parameters, extra=extra)


def _measured(stats: Node) -> Measured:
    seconds = quantity("s")
    data = stats["data"].value
    if isinstance(data, list) and data and all(isinstance(one, int | float) for one in data):
        return Measured(seconds, stats["data"].numbers())
    median, rounds = stats["median"].number(), stats["rounds"].count()
    iqr = stats["iqr"].maybe_number()
    # The notch of a box plot (McGill, Tukey and Larsen 1978): a 95 % interval of a median from the quartiles alone.
    half = None if iqr is None else 1.57 * iqr / math.sqrt(rounds)
    return Measured(seconds, (median,), None if half is None else (median - half, median + half), rounds)
