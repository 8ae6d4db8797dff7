"""asv's results folder: benchmarks.json, and by machine machine.json and a file a commit and environment."""

import itertools
from collections.abc import Iterator
from typing import Any

from perfd.domain.arrival import Arrival
from perfd.domain.metric import Better
from perfd.errors import BadInputError
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, Measured, once
from perfd.importers.source import Node, Source, decoded, parse
from perfd.importers.units import Quantity, quantity, slug

NAME = "asv"
MEMORY = {"memory": "object_bytes", "peakmemory": "peakmem_bytes"}
APART = {"machine.json", "benchmarks.json"}
PREFIXES = (("peakmem_", "peakmemory"), ("mem_", "memory"), ("track_", "track"))


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """Every benchmark of every commit in the folder."""
    if "benchmarks.json" not in source.inside:
        raise BadInputError("expected asv's folder of results with benchmarks.json in it")
    known = {key: one for key, one in _json(source, "benchmarks.json").items() if key != "version"}
    results = [path for path in source.inside if path.endswith(".json") and path.rpartition("/")[2] not in APART and "/" in path]
    return once(arrival for path in sorted(results) for arrival in _commit(source, path, known, given))


def _json(source: Source, path: str) -> Node:
    try:
        return parse(decoded(source.inside[path]), nan=True)  # asv writes NaN for a benchmark that was skipped
    except BadInputError as error:
        raise BadInputError(f"{path}: {error.message}") from None


def _commit(source: Source, path: str, known: dict[str, Node], given: Given) -> list[Arrival]:
    document = _json(source, path)
    if not document["results"] and not document["commit_hash"]:
        return []  # asv itself passes over a file of something else
    beside = f"{path.rpartition('/')[0]}/machine.json"
    try:
        commit = Commit(document["commit_hash"].name(), document["date"].moment(), document["date"].moment())
        machine = _machine(_json(source, beside) if beside in source.inside else document["params"], document)
        maker = Maker(NAME, given, given.named(""), machine, source.key)
        columns = [one.text() for one in document["result_columns"].each()] if document["result_columns"] else []
        return [
            arrival
            for name, one in document["results"].items()
            for arrival in _benchmark(maker, commit, known.get(name), name, _fields(one, columns))
        ]
    except BadInputError as error:
        raise error if error.message.startswith(beside) else BadInputError(f"{path}: {error.message}") from None


def _machine(told: Node, document: Node) -> Machine:
    cpu, python = told["cpu"].word(), document["python"].word()
    needs = {key: one.word() or "any" for key, one in document["requirements"].items()} if document["requirements"] else {}
    return Machine(
        host=told["machine"].word(),
        device_class=f"cpu:{cpu}" if cpu else "",
        hardware={"cpu": cpu, "cores": told["num_cpu"].word(), "memory": told["ram"].word(), "arch": told["arch"].word()},
        software={"os": told["os"].word(), "python": python, **needs},
    )


def _fields(one: Node, columns: list[str]) -> dict[str, Node]:
    """What is told of a benchmark, whichever of asv's three forms it has."""
    if columns and isinstance(one.value, list):
        return dict(zip(columns, one.each(), strict=False))
    if isinstance(one.value, dict):
        told = dict(one.items())
        for key in ("result", "stats"):  # older files hold a single one without a list around it
            if key in told and not isinstance(told[key].value, list):
                told[key] = Node([told[key].value], told[key].path)
        return told
    return {"result": one if isinstance(one.value, list) else Node([one.value], one.path)}


def _benchmark(maker: Maker, commit: Commit, known: Node | None, name: str, told: dict[str, Node]) -> Iterator[Arrival]:
    """One Arrival a combination of parameters; one without a result is a failed Run."""
    null = Node(None, name)
    kind = _quantity(known, name)
    params = told.get("params") or (known["params"] if known else null)
    combinations = list(itertools.product(*([one.word() for one in axis.each()] for axis in params.each()))) if params else [()]
    names = [one.word() for one in known["param_names"].each()] if known and known["param_names"] else []
    values = list(told["result"].each()) if told.get("result") else [null] * len(combinations)
    if len(values) != len(combinations):
        raise BadInputError(f"{told['result'].path}: {len(values)} results for {len(combinations)} combinations of parameters")
    for place, (value, words) in enumerate(zip(values, combinations, strict=True)):
        labels = [names[axis] if axis < len(names) else f"param{axis}" for axis in range(len(words))]
        failure = "" if value else "asv has no result: the benchmark failed, or was skipped"
        measured = [_measured(kind, value, told, place)] if value else []
        yield maker.arrival(
            commit, name, measured, parameters=dict(zip(labels, words, strict=True)), failure=failure, extra=_extra(told, place)
        )


def _quantity(known: Node | None, name: str) -> Quantity:
    last = name.rpartition(".")[2]
    kind = known["type"].text() if known else next((word for key, word in PREFIXES if last.startswith(key)), "time")
    if kind in MEMORY:
        return Quantity(MEMORY[kind], "bytes", Better.LOWER)
    unit = known["unit"].text() if known else "seconds"
    if kind == "track":
        return Quantity(f"{slug(unit) or 'value'}_lower_is_better", unit, Better.LOWER)
    return quantity(unit)


def _measured(kind: Quantity, value: Node, told: dict[str, Node], place: int) -> Measured:
    samples = _at(told.get("samples"), place)
    if samples and isinstance(samples.value, list) and samples.value:
        return Measured(kind, samples.numbers())
    stats = _at(told.get("stats"), place)
    if stats and stats["ci_99"]:
        low, high = stats["ci_99"].numbers()[:2]
        return Measured(kind, (value.number(),), (low, high), stats["repeat"].count())
    low_end, high_end = _at(told.get("stats_ci_99_a"), place), _at(told.get("stats_ci_99_b"), place)
    ends = (low_end.number(), high_end.number()) if low_end and high_end else None
    repeat = _at(told.get("stats_repeat"), place)
    return Measured(kind, (value.number(),), ends, repeat.count() if repeat else 1)


def _at(column: Node | None, place: int) -> Node | None:
    if column is None or not isinstance(column.value, list) or place >= len(column.value):
        return None
    return Node(column.value[place], f"{column.path}[{place}]")


def _extra(told: dict[str, Node], place: int) -> dict[str, Any]:
    stats = _at(told.get("stats"), place)
    return {"stats": stats.value} if stats else {}
