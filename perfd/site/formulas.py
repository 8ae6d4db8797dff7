"""Formulas of the address over Series, day by day: each a line to be drawn, and its last value in words."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from fastapi import Request

from perfd.errors import BadInputError
from perfd.rules.formula import Column, Formula, parse
from perfd.site.numbers import effect_between, percent, scale_of
from perfd.site.parameters import MOST_CHARACTERS
from perfd.site.sentences import plural
from perfd.site.site import Site
from perfd.site.templates import short
from perfd.site.troubles import NotHereError
from perfd.store.pages import Daily
from perfd.store.records import SeriesInfo

MOST = 4
Values = list[tuple[date, float]]
"""Days on which a formula has a value, in order."""


def formulas_of(request: Request) -> list[Formula]:
    """What the address names as `f`, each once; raises BadInputError."""
    given = [one.strip() for one in request.query_params.getlist("f") if one.strip()]
    if len(given) > MOST:
        raise BadInputError(f"at most {MOST} formulas are drawn, and the address has {len(given)}")
    if any(len(one) > MOST_CHARACTERS for one in given):
        raise BadInputError(f"a formula of more than {MOST_CHARACTERS} characters is not read")
    return [parse(one) for one in dict.fromkeys(given)]


def drawn(site: Site, formulas: Sequence[Formula]) -> list[dict[str, Any]]:
    """Each formula as a line to be drawn; raises NotHereError for a Series that is none or has no Points."""
    return [_one(*one) for one in daily(site, formulas)]


def daily(site: Site, formulas: Sequence[Formula]) -> list[tuple[Formula, Values, dict[int, SeriesInfo]]]:
    """Each formula with its values by day and what its Series are; raises NotHereError as `drawn` does."""
    named = sorted({number for one in formulas for number in one.series})
    if not named:
        return []
    rows = {row.info.id: row.info for row in site.store.pages.series_lines(named)}
    missing = [f"s{number}" for number in named if number not in rows]
    if missing:
        raise NotHereError(f"A formula names {', '.join(missing)}, and there is no such Series with Points.")
    found = site.store.pages.daily(named)
    return [(formula, _values(formula, found), rows) for formula in formulas]


def _values(formula: Formula, found: Mapping[int, Daily]) -> Values:
    days = sorted({day for number in formula.series for day in found[number].days})
    at = {day: place for place, day in enumerate(days)}
    values = formula.over({number: _column(found[number], at) for number in formula.series})
    return [(day, float(value)) for day, value in zip(days, values, strict=True) if np.isfinite(value)]


def _one(formula: Formula, known: Values, rows: Mapping[int, SeriesInfo]) -> dict[str, Any]:
    scale = scale_of("", [value for _, value in known])
    seconds = [int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) for day, _ in known]
    line = {"id": 0, "label": formula.text, "size": 1.0, "unit": "", "decimals": scale.decimals}
    before = known[-2][1] if len(known) > 1 else None
    return {
        "text": formula.text,
        "sentence": _sentence(formula, known, before),
        "lines": json.dumps([line]),
        "columns": json.dumps([seconds, [value for _, value in known]]),
        "names": [(number, rows[number]) for number in sorted(formula.series)],
        "newest": [(day.isoformat(), scale.text(value)) for day, value in reversed(known[-30:])],
        "known": bool(known),
    }


def _column(one: Daily, at: Mapping[date, int]) -> Column:
    column = np.full(len(at), np.nan)
    column[[at[day] for day in one.days]] = one.values
    return column


def _sentence(formula: Formula, known: Values, before: float | None) -> str:
    if not known:
        return f"{short(formula.text, 120)}: no day on which all of its Series were measured and no divisor was zero."
    day, value = known[-1]
    effect = effect_between(before, value)
    moved = f", {percent(effect)} against the day before it" if effect is not None else ""
    text = scale_of("", [value]).text(value)
    return f"{short(formula.text, 120)} is {text} on {day.isoformat()}{moved}; {plural(len(known), 'day')}."
