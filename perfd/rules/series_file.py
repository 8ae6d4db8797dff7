"""The text of a CSV or JSON file becomes Series, for `perfd detect`; CSV is read by series_rows.py.

Treatments that are no errors are told in `notes`: missing nights (empty, null, NaN) stay as NaN; nights that are out of order are
sorted by their time; several values of one night become their median; infinities are refused with their place.
"""

import json
import math

import numpy as np

from perfd.domain.identity import Json
from perfd.errors import BadInputError
from perfd.rules.series_in import SeriesIn, bounded, named
from perfd.rules.series_rows import from_csv

MOST_VALUES = 2_000_000
_SHAPE = '{"series": {NAME: [numbers or null, …]}}'


def read_series(text: str, place: str) -> list[SeriesIn]:
    """The Series of a file's text; `place` is its name, for errors. Raises BadInputError with the line or the item."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise BadInputError(f"{place} is empty; a CSV file starts with a header such as time,value")
    as_json = text.lstrip()[0] in "{["
    most = text.count(",") if as_json else max(sum(map(text.count, ",;\t")), text.count("\n"))
    if most > MOST_VALUES:
        raise BadInputError(f"{place} holds about {most} values, at most {MOST_VALUES} are read; split it by series or by year")
    return _from_json(text, place) if as_json else from_csv(text, place)


def _from_json(text: str, place: str) -> list[SeriesIn]:
    try:
        # A number of 5,000 digits is infinite as a float; as an int Python refuses to read it, without saying where.
        document = json.loads(text, object_pairs_hook=lambda pairs: _once(pairs, place), parse_int=float)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{place}, line {error.lineno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise BadInputError(f"{place}: lists in lists without end; expected {_SHAPE}") from None
    found = document.get("series") if isinstance(document, dict) else None
    if not isinstance(found, dict) or not found:
        raise BadInputError(f"{place}: expected {_SHAPE} with at least one series")
    return [_json_series(named(str(name), place), items, place) for name, items in found.items()]


def _once(pairs: list[tuple[str, Json]], place: str) -> dict[str, Json]:
    """The object; of two series with one name JSON would silently keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise BadInputError(f"{place}: the name {double!r:.60} stands there twice; every series needs a name of its own")
    return found


def _json_series(name: str, items: Json, place: str) -> SeriesIn:
    where = f"{place}: series {name!r:.60}"
    if not isinstance(items, list):
        raise BadInputError(f"{where} is no list of numbers")
    if not items:
        raise BadInputError(f"{where} is empty; leave it out, or give null for missing nights")
    return SeriesIn(name, np.array([_json_number(item, f"{where}, item {index}") for index, item in enumerate(items)]))


def _json_number(item: Json, where: str) -> float:
    if item is None:
        return math.nan
    if not isinstance(item, float):
        raise BadInputError(f"{where}: expected a number or null, saw {item!r:.60}")
    return bounded(item, where)
