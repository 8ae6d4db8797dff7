"""Dataclasses of the domain to JSON and back: one generic codec, so that no dataclass writes its own.

`to_json` and `from_json` know str, int, float, bool, None, Path, datetime, StrEnum, tuples, mappings and dataclasses, by their
annotations. `from_json` tells a mistake with its place ("samples[3].values[7]: expected a number, saw 'fast'").
"""

import dataclasses
import types
import typing
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from perfd.errors import BadInputError

T = TypeVar("T")
PLAIN = frozenset({float, int, str, bool, type(None)})
"""Types whose values are JSON as they are."""


def to_json(value: Any) -> Any:
    """Plain JSON values; datetimes become ISO 8601 in UTC."""
    if type(value) in PLAIN:  # first, for thousands of Samples are nothing else
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return list(value) if PLAIN.issuperset(map(type, value)) else [to_json(item) for item in value]
    return value


def from_json(kind: type[T], value: Any, place: str = "") -> T:
    """A `kind` made of JSON values, every field checked; raises BadInputError with the place of the first mistake."""
    return typing.cast("T", _read(kind, value, place))


def _refuse(place: str, expected: str, value: Any) -> typing.NoReturn:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    raise BadInputError(f"{place or 'the document'}: expected {expected}, saw {shown}")


def _read(kind: Any, value: Any, place: str) -> Any:
    origin = typing.get_origin(kind)
    if kind is Any or isinstance(kind, str | typing.ForwardRef) or kind is object:
        return value
    if origin in {typing.Union, types.UnionType}:
        return _read_union(kind, value, place)
    if origin is tuple:
        return _read_tuple(kind, value, place)
    if origin is not None and issubclass(origin, Mapping):
        return _read_mapping(kind, value, place)
    if dataclasses.is_dataclass(kind):
        return _read_dataclass(typing.cast("type", kind), value, place)
    return _read_scalar(kind, value, place)


def _read_scalar(kind: Any, value: Any, place: str) -> Any:
    if issubclass(kind, StrEnum):
        try:
            return kind(value)
        except ValueError:
            _refuse(place, "one of " + ", ".join(repr(member.value) for member in kind), value)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind is datetime and isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            _refuse(place, "a time in ISO 8601", value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if issubclass(kind, Path) and isinstance(value, str):
        return Path(value)
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    names = {
        str: "text",
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        datetime: "a time",
        Path: "a path",
    }
    _refuse(place, names.get(kind, kind.__name__), value)


def _read_union(kind: Any, value: Any, place: str) -> Any:
    choices = typing.get_args(kind)
    if value is None and type(None) in choices:
        return None
    real = [choice for choice in choices if choice is not type(None)]
    return _read(real[0], value, place) if len(real) == 1 else value


def _read_tuple(kind: Any, value: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        _refuse(place, "a list", value)
    inner = typing.get_args(kind)
    if len(inner) == 2 and inner[1] is Ellipsis:
        if inner[0] is float and {float, int}.issuperset(map(type, value)):  # Samples: ten times as fast as one by one
            return tuple(map(float, value))
        return tuple(_read(inner[0], item, f"{place}[{index}]") for index, item in enumerate(value))
    if len(inner) != len(value):
        _refuse(place, f"a list of {len(inner)}", value)
    return tuple(_read(kind_i, item, f"{place}[{index}]") for index, (kind_i, item) in enumerate(zip(inner, value, strict=True)))


def _read_mapping(kind: Any, value: Any, place: str) -> dict[Any, Any]:
    if not isinstance(value, dict):
        _refuse(place, "an object", value)
    key_kind, item_kind = typing.get_args(kind)
    return {(int(key) if key_kind is int else key): _read(item_kind, item, f"{place}.{key}") for key, item in value.items()}


def _read_dataclass(kind: type, value: Any, place: str) -> Any:
    if not isinstance(value, dict):
        _refuse(place, "an object", value)
    hints = typing.get_type_hints(kind)
    known = {field.name: field for field in dataclasses.fields(kind)}
    unknown = sorted(set(value) - set(known))
    if unknown:
        _refuse(place, "only the fields " + ", ".join(known), unknown[0])
    made: dict[str, Any] = {}
    for name, field in known.items():
        inner = f"{place}.{name}" if place else name
        if name in value:
            made[name] = _read(hints[name], value[name], inner)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            _refuse(inner, "a value", "nothing")
    try:
        return kind(**made)
    except ValueError as error:
        raise BadInputError(f"{place or 'the document'}: {error}") from None
