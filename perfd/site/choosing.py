"""Which Series a list shows: parts of their keys, from the address; an empty part means all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fastapi import Request

from perfd.domain.verdict import Outcome
from perfd.errors import BadInputError
from perfd.site.parameters import text
from perfd.store import SeriesFilter
from perfd.store.pages import UNJUDGED

WORDS = {
    "class": "workload_class",
    "subject": "subject",
    "suite": "suite",
    "workload": "workload",
    "metric": "metric",
    "model": "model",
    "quantisation": "quantisation",
    "parallelism": "parallelism",
    "device": "device_class",
    "branch": "branch",
}
"""The query parameters, and the part of SeriesFilter that each means."""


@dataclass(frozen=True)
class Choice:
    """What was asked for."""

    series: SeriesFilter = field(default_factory=SeriesFilter)
    verdict: str = ""
    """The last Verdict's outcome, UNJUDGED, or "" for all."""


class Part(NamedTuple):
    """One choice of the filter form."""

    key: str
    word: str
    choices: tuple[str, ...]
    chosen: str


def chosen_of(request: Request) -> Choice:
    """What the address asks for; raises BadInputError."""
    verdict = text(request, "verdict")
    if verdict not in {"", UNJUDGED, *Outcome}:
        raise BadInputError(f"verdict is one of {', '.join(Outcome)} or {UNJUDGED}")
    parts = {part: text(request, word) or None for word, part in WORDS.items()}
    return Choice(SeriesFilter(**parts, outcome=verdict or None), verdict)


def parts_of(choices: Mapping[str, tuple[str, ...]], choice: Choice) -> list[Part]:
    """The form's choices; a part in which no two Series differ is left out, unless it was asked for."""
    parts = []
    for word, part in WORDS.items():
        chosen = getattr(choice.series, part) or ""
        values = sorted(({*choices.get(part, ()), chosen}) - {""})
        if len(values) > 1 or chosen:
            parts.append(Part(word, word.capitalize(), tuple(values), chosen))
    return [*parts, Part("verdict", "Verdict", (*Outcome, UNJUDGED), choice.verdict)]
