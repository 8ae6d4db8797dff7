"""Secrets never stand in perfd.toml: a file is committed, copied and shown."""

import math
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from perfd.config.lines import Place
from perfd.config.table import Mistakes, Table

_SECRET = re.compile(
    r"(?:^|[_-])(?:password|passwd|passphrase|token|secret|credentials?|api_?key|private_?key|access_?key)(?:$|[_-])"
)
_COUNTED = re.compile(r"(?:^|[_-])token[_-](?!.*(?:password|passwd|passphrase|secret|credential|key))")
"""A token that goes on is most often one of a model's: `FIRST_TOKEN_S`, `eos_token_id`. A number tells which it is."""
_LONGEST_NUMBER = 12
_INSTEAD = (
    ("database", "PERFD_DATABASE_URL"),
    ("postgres", "PERFD_DATABASE_URL"),
    ("webhook", "PERFD_GITHUB_WEBHOOK_SECRET"),
    ("private", "PERFD_GITHUB_PRIVATE_KEY_FILE"),
    ("github", "PERFD_GITHUB_PRIVATE_KEY_FILE"),
)


def refuse_secrets(mistakes: Mistakes, document: dict[str, Any]) -> None:
    """Every key that sounds like a secret is told, with the environment variable that takes its place."""
    for place, value in _entries(document):
        if _is_secret(str(place[-1]), value):
            mistakes.add(place, f'"{place[-1]}" looks like a secret, which perfd.toml never holds; {_instead(place)}')


def drop_secrets(value: Any) -> Any:
    """The document without those keys, so that they are not told a second time as unknown."""
    if isinstance(value, list):
        return [drop_secrets(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: drop_secrets(item) for key, item in value.items() if not _is_secret(key, item)}


def refuse_address_with_password(table: Table, key: str, address: str) -> None:
    """`https://user:password@host/…` is a secret too; a bare `git@host` is none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return
    if parts.password or (parts.scheme in {"http", "https"} and parts.username):
        table.wrong(
            key, "the address carries a user or password, which perfd.toml never holds; let git's credential helper keep it"
        )


def _is_secret(key: str, value: Any) -> bool:
    small = key.lower()
    if small == "database_url":
        return True
    counted = _COUNTED.search(small) is not None and _is_number(value)
    return _SECRET.search(small) is not None and not small.endswith("_file") and not counted


def _is_number(value: Any) -> bool:
    """Whether it is one that a person wrote, as text or not; longer ones may be anything."""
    if not isinstance(value, str | int | float) or len(str(value)) > _LONGEST_NUMBER:
        return False
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


def _entries(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every key of the document with its place and value."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*place, key), item
            yield from _entries(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _entries(item, (*place, index))


def _instead(place: Place) -> str:
    path = ".".join(str(part) for part in place).lower()
    if "environment." in path:
        return f"export {place[-1]} where perfd is started instead"
    variable = next((name for word, name in _INSTEAD if word in path), None)
    return f"set {variable} in the environment instead" if variable else "set it in the environment of perfd instead"
