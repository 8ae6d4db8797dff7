"""hyperfine's JSON: the time of every run of every command."""

from perfd.domain.arrival import Arrival
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, Measured, once
from perfd.importers.source import Node, Source
from perfd.importers.units import quantity

NAME = "hyperfine"


def sniff(text: str) -> bool:
    """Whether it looks so."""
    return '"command"' in text and '"mean"' in text and '"results"' in text


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """Every command of the file."""
    maker = Maker(NAME, given, given.named(""), Machine(), source.key)
    return once(_arrival(maker, one) for one in source.json()["results"].each())


def _arrival(maker: Maker, told: Node) -> Arrival:
    parameters = {key: one.word() for key, one in told["parameters"].items()} if told["parameters"] else {}
    codes = [one.value for one in told["exit_codes"].each() if one.value not in {0, None}] if told["exit_codes"] else []
    failure = f"the command ended with exit code {codes[0]} in {len(codes)} of its runs" if codes else ""
    extra = {key: told[key].maybe_number() for key in ("user", "system", "mean", "stddev")}
    measured = (
        [Measured(quantity("s"), told["times"].numbers())]
        if told["times"]
        else [Measured(quantity("s"), (told["mean"].number(),), n=1)]
    )
    return maker.arrival(Commit("", None), told["command"].name(), measured, parameters=parameters, failure=failure, extra=extra)
