"""github-action-benchmark's data.js: a history of commits, each with a value and a range a benchmark."""

import re

from perfd.domain.arrival import Arrival
from perfd.domain.metric import Better
from perfd.domain.results import MOST_NAME_CHARACTERS
from perfd.errors import BadInputError
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, Measured, once
from perfd.importers.source import Node, Source, parse
from perfd.importers.units import quantity

NAME = "github-action-benchmark"
HEAD = re.compile(r"\s*window\.BENCHMARK_DATA\s*=\s*")
WAYS = {"customBiggerIsBetter": Better.HIGHER, "customSmallerIsBetter": Better.LOWER}
RANGE = re.compile(
    r"(?P<stddev>stddev:)?\s*(?:±|\+/-)?\s*(?P<number>[0-9][0-9_,]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)\s*(?P<share>%)?"
)


def sniff(text: str) -> bool:
    """Whether it looks so."""
    return HEAD.match(text) is not None


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """Every benchmark of every entry."""
    text = source.text()
    head = HEAD.match(text)
    if head is None:
        raise BadInputError("line 1: expected window.BENCHMARK_DATA = {…}, as github-action-benchmark writes it")
    document = parse(text[head.end() :].rstrip().removesuffix(";"), line=text.count("\n", 0, head.end()) + 1)
    maker = Maker(NAME, given, given.named(document["repoUrl"].text().rstrip("/").rpartition("/")[2]), Machine(), source.key)
    return once(
        arrival
        for suite, entries in document["entries"].items()
        for entry in entries.each()
        for arrival in _entry(maker, suite, entry)
    )


def _entry(maker: Maker, suite: str, entry: Node) -> list[Arrival]:
    told = entry["commit"]
    moment = entry["date"].moment()
    if moment is None:
        raise entry["date"].refuse("when it was measured")
    commit = Commit(told["id"].name(), moment, told["timestamp"].moment(), told["message"].text())
    better = WAYS.get(entry["tool"].text())
    benches: dict[str, list[Node]] = {}
    for bench in entry["benches"].each():
        benches.setdefault(bench["name"].name(), []).append(bench)
    return [
        maker.arrival(
            commit,
            name,
            [_measured(bench, better) for bench in same],
            suite=suite,
            extra={"range": same[0]["range"].word(), "extra": same[0]["extra"].word()},
        )
        for name, same in benches.items()
    ]


def _measured(bench: Node, better: Better | None) -> Measured:
    value = bench["value"].number() if not isinstance(bench["value"].value, str) else _number(bench["value"])
    return Measured(quantity(bench["unit"].text(), better), (value,), _interval(bench["range"].word(), value))


def _number(node: Node) -> float:
    try:
        return Node(float(node.text().replace(",", "")), node.path).number()
    except ValueError:
        raise node.refuse("a number") from None


def _interval(told: str, value: float) -> tuple[float, float] | None:
    """The range as the tool gave it, around the value; absent where it says something else."""
    found = RANGE.fullmatch(told.strip()) if 0 < len(told.strip()) <= MOST_NAME_CHARACTERS else None
    if found is None:
        return None
    size = float(re.sub("[_,]", "", found["number"])) * (abs(value) / 100 if found["share"] else 1.0)
    return value - size, value + size
