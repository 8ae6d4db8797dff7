"""A Regression becomes a test: the text of a suite whose Workloads would have caught it, with levels between good and lost."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from perfd.domain.identity import Json
from perfd.domain.limit import Limit
from perfd.domain.suite import Workload


@dataclass(frozen=True)
class Lost:
    """One Series of a Regression: what it was, and what it became."""

    workload: Workload
    metric: str
    unit: str
    engine: str
    model: str
    device_class: str
    before: float
    after: float


@dataclass(frozen=True)
class Pinned:
    """A Workload with all the limits that it is held to."""

    workload: Workload
    limits: tuple[Limit, ...] = field(default=())
    units: Mapping[str, str] = field(default_factory=dict)
    """By Metric."""


def level_between(before: float, after: float) -> float:
    """The middle between the two levels, in ratio where both are above zero."""
    return math.sqrt(before * after) if before > 0 and after > 0 else (before + after) / 2


def pinned(lost: Sequence[Lost]) -> tuple[Pinned, ...]:
    """Each Workload once, with a limit for every Series that was lost in it; of two Changes in one Series, the first."""
    made: dict[str, Pinned] = {}
    for one in lost:
        before = made.get(one.workload.identity, Pinned(_named(one.workload, made.values())))
        level = level_between(one.before, one.after)
        limit = Limit(one.metric, level, one.device_class, one.engine, one.model)
        same = [each for each in before.limits if replace(each, worst=level) == limit]
        units = {**before.units, one.metric: one.unit}
        made[one.workload.identity] = before if same else Pinned(before.workload, (*before.limits, limit), units)
    return tuple(made.values())


def _named(workload: Workload, others: Iterable[Pinned]) -> Workload:
    """Workloads of two suites may have one name; in one suite they may not."""
    taken = {each.workload.name for each in others}
    return replace(workload, name=f"{workload.suite}_{workload.name}") if workload.name in taken else workload


def suite_text(question: str, engines: Sequence[str], workloads: Sequence[Pinned]) -> str:
    """The file's text, as `perfd.suites` reads it."""
    head = [f"question = {_value(question)}", f"engines = {_value(list(engines))}"]
    return "\n\n".join(["\n".join(head), *map(_workload, workloads)]) + "\n"


def _workload(one: Pinned) -> str:
    workload = one.workload
    facts: dict[str, Json] = {
        "name": workload.name,
        "class": workload.workload_class.value,
        "question": workload.question,
        "seed": workload.seed,
        "time_limit_s": workload.time_limit_s,
    }
    blocks = [_block("[[workloads]]", facts), _block("[workloads.parameters]", workload.parameters)]
    return "\n\n".join([*blocks, *(_block("[[workloads.limits]]", _limit(limit, one.units)) for limit in one.limits)])


def _limit(limit: Limit, units: Mapping[str, str]) -> dict[str, Json]:
    return {
        "metric": limit.metric,
        "unit": units[limit.metric],
        "worst": float(f"{limit.worst:.6g}"),
        "engine": limit.engine,
        **({"model": limit.model} if limit.model else {}),
        "device_class": limit.device_class,
    }


def _block(title: str, facts: Mapping[str, Json]) -> str:
    return "\n".join([title, *(f"{name} = {_value(value)}" for name, value in facts.items())])


def _value(value: Json) -> str:
    """JSON's texts, numbers, flags and lists are TOML's too."""
    return json.dumps(value, ensure_ascii=True)
