"""Bencher Metric Format: by benchmark and measure a value with its ends."""

from perfd.domain.arrival import Arrival
from perfd.domain.metric import Better
from perfd.errors import BadInputError
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, Measured, once
from perfd.importers.source import Node, Source
from perfd.importers.units import Quantity, quantity, slug

NAME = "bencher"
UNITS = {
    "latency": "ns", "build-time": "s", "file-size": "bytes", "throughput": "ops/s",
}  # fmt: skip
"""Measures that Bencher itself defines, in its units."""
LOWER = {
    "instructions", "cycles", "l1-hits", "l2-hits", "l1-accesses", "l2-accesses", "ram-hits", "ram-accesses", "total-accesses",
    "total-read-write", "estimated-cycles", "l1-misses", "l2-misses", "allocations", "peak-memory",
}  # fmt: skip


def sniff(text: str) -> bool:
    """Whether it looks so."""
    return text.lstrip().startswith("{") and '"value"' in text and ('"lower_value"' in text or '"upper_value"' in text)


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """Every benchmark of the report."""
    maker = Maker(NAME, given, given.named(""), Machine(), source.key)
    commit = Commit("", None)
    return once(
        maker.arrival(
            commit, name, [_measured(measure, one, given) for measure, one in told.items()], extra={"measures": told.value}
        )
        for name, told in source.json().items()
    )


def _measured(measure: str, told: Node, given: Given) -> Measured:
    value = told["value"].number()
    low, high = told["lower_value"].maybe_number(), told["upper_value"].maybe_number()
    ends = (low if low is not None else value, high if high is not None else value)
    # Some of Bencher's adapters write a deviation where its format says an end: such ends do not hold the value.
    holds = (low is not None or high is not None) and ends[0] <= value <= ends[1]
    return Measured(_quantity(measure, told, given), (value,), ends if holds else None)


def _quantity(measure: str, told: Node, given: Given) -> Quantity:
    way = given.better.get(measure)
    if measure in UNITS and way is None:
        return quantity(UNITS[measure])
    if way is None and measure not in LOWER:
        raise BadInputError(
            f"{told.path}: which way is better is not known of {measure!r}; say --better {measure[:60]}=lower (or higher)"
        )
    return Quantity(f"{slug(measure)}_{way or Better.LOWER}_is_better" if way else slug(measure), "", way or Better.LOWER)
