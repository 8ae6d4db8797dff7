"""What changed between two days of a Launch: source, dependencies, tools, flags, weights, kernels, and what Changes brought."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from perfd.domain.launch import Effect, LaunchFacts
from perfd.domain.subject import Revision, brief

MOST_COMMITS = 30
_ABSENT = "absent"


def changed(facts: LaunchFacts, days: Sequence[int]) -> list[dict[str, Any]]:
    """For every two neighbours of `days` that were both reported: what differs, with the commits in between."""
    known = [day for day in days if facts.reports.get(day, {}).get("spec")]
    return [_between(facts, before, after) for before, after in pairwise(known)]


def _between(facts: LaunchFacts, before: int, after: int) -> dict[str, Any]:
    old, new = facts.reports[before], facts.reports[after]
    commits = [one for one in facts.revisions if old["ordinal"] < one.ordinal <= new["ordinal"]]
    return {
        "from": before,
        "to": after,
        "items": [{"what": what, "before": was, "after": now} for what, was, now in _items(old, new)],
        "commits": [_commit(one) for one in reversed(commits[-MOST_COMMITS:])],
        "commits_total": len(commits),
    }


def _commit(one: Revision) -> dict[str, str]:
    return {"revision": one.name, "title": one.title}


def _items(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    before, after = old["spec"], new["spec"]
    yield from _differs("engine", brief(before["revision"]), brief(after["revision"]))
    yield from _differs("recipe", before["recipe"], after["recipe"])
    yield from _differs("recipe's text or options", before["recipe_hash"][:12], after["recipe_hash"][:12])
    for part, word in (("dependencies", "dependency"), ("toolchain", "tool")):
        yield from _each(word, before[part], after[part])
    was, now = old.get("launched_with") or {}, new.get("launched_with") or {}
    yield from _differs("flags", " ".join(was.get("command", ())), " ".join(now.get("command", ())))
    yield from _each("environment", was.get("environment", {}), now.get("environment", {}))
    yield from _each("model", _shortened(was.get("model", {})), _shortened(now.get("model", {})))
    yield from _each("kernel", _shortened(was.get("kernels", {})), _shortened(now.get("kernels", {})))


def _differs(what: str, before: str, after: str) -> Iterator[tuple[str, str, str]]:
    if before != after:
        yield what, before, after


def _each(word: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name in sorted({*before, *after}):
        yield from _differs(f"{word} {name}", before.get(name, _ABSENT), after.get(name, _ABSENT))


def _shortened(values: Mapping[str, str]) -> dict[str, str]:
    return {name: value[:12] for name, value in values.items()}


def brought(facts: LaunchFacts, days: Sequence[int]) -> list[dict[str, Any]]:
    """Every Change between the first and the last reported day, the largest first, with the two days that it lies between."""
    known = [(day, facts.reports[day]["ordinal"]) for day in days if facts.reports.get(day, {}).get("spec")]
    found = [(one, between) for one in facts.effects if (between := _place(one, known)) is not None]
    return [_effect(one, between) for one, between in sorted(found, key=lambda pair: (pair[1], -abs(pair[0].effect)))]


def _place(one: Effect, known: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The two days whose Builds it lies between; `known` holds days with the ordinals of their Builds."""
    return next(((before, after) for (before, low), (after, high) in pairwise(known) if low < one.ordinal <= high), None)


def _effect(one: Effect, between: tuple[int, int]) -> dict[str, Any]:
    return {
        "change": one.change,
        "series": one.series,
        "workload": one.workload,
        "class": one.workload_class,
        "metric": one.metric,
        "effect": one.effect,
        "interval": one.interval,
        "worse": one.worse,
        "status": one.status,
        "build": one.build,
        "revision": one.revision,
        "title": one.title,
        "regression": one.regression,
        "between": list(between),
    }
